// SPDX-License-Identifier: BSD-2-Clause
// Runs a fuzz target without libFuzzer:
//   TARGET [--inputs N] [--seconds S] [--seed S] [--most-bytes B] [--artifact PREFIX] [DIRECTORY|FILE...]
// First every file as it is, then N mutations of them, or as many as S seconds allow. If an input breaks the target or
// takes a minute, its number and the seed are printed, and it is written to the file PREFIXinput.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_rooms.h"
#include "tests/fuzz/mutate.h"

extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());
extern "C" __attribute__((weak)) void __sanitizer_print_stack_trace();

namespace {

using namespace softdat::fuzz;
using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;
constexpr unsigned kSecondsToHang = 240;

// The input that runs, for the signals, which any thread of the target may get.
std::atomic<std::uint64_t> current{0};
ByteSpan current_bytes;
std::uint64_t seed = 1;
std::string artifact;  // a file; empty: none is written

void report_death() {
  char text[96];
  const int length =
      std::snprintf(text, sizeof text, "\nthe input was number %llu of seed %llu\n",
                    static_cast<unsigned long long>(current.load()), static_cast<unsigned long long>(seed));
  static_cast<void>(!::write(STDOUT_FILENO, text, static_cast<std::size_t>(length)));
  if (artifact.empty() || current == 0) return;
  const int file = ::open(artifact.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  static_cast<void>(!::write(file, current_bytes.data(), current_bytes.size()));
}

void on_signal(int signal) {
  report_death();
  // Whatever state the process is in, it ends.
  constexpr unsigned kSecondsToReport = 10;
  ::signal(SIGALRM, SIG_DFL);
  ::alarm(kSecondsToReport);
  if (__sanitizer_print_stack_trace != nullptr) __sanitizer_print_stack_trace();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// An input that is still the same after so long hangs.
void on_alarm(int) {
  static std::atomic<std::uint64_t> last{0};
  const int error = errno;
  const std::uint64_t now = current.load();
  if (last.exchange(now) == now) {
    constexpr char kText[] = "no end within four minutes\n";
    static_cast<void>(!::write(STDERR_FILENO, kText, sizeof kText - 1));
    std::abort();
  }
  ::alarm(kSecondsToHang);
  errno = error;
}

void run(InputRooms& rooms, ByteSpan bytes) {
  ++current;
  current_bytes = rooms.enter(bytes);
  LLVMFuzzerTestOneInput(current_bytes.data(), current_bytes.size());
  rooms.leave();
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

std::vector<Bytes> read_corpus(const std::vector<std::string>& places) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& place : places) {
    if (!std::filesystem::is_directory(place)) {
      paths.emplace_back(place);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(place)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> corpus;
  for (const auto& path : paths) corpus.push_back(read_file(path));
  if (corpus.empty()) corpus.push_back({0});
  return corpus;
}

struct Plan {
  std::uint64_t inputs = 0;
  std::uint64_t seconds = 0;  // 0: no limit
  std::uint64_t most_bytes = 4096;
  std::vector<std::string> places;
};

Plan read_plan(int count, char** words) {
  Plan plan;
  const std::pair<const char*, std::uint64_t*> numbers[] = {
      {"--inputs", &plan.inputs}, {"--seconds", &plan.seconds}, {"--seed", &seed}, {"--most-bytes", &plan.most_bytes}};
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto* const number =
        std::find_if(std::begin(numbers), std::end(numbers), [&](const auto& entry) { return word == entry.first; });
    if (word == "--artifact" && i + 1 < count) {
      artifact = std::string(words[++i]) + "input";
    } else if (number == std::end(numbers)) {
      plan.places.push_back(word);
    } else if (i + 1 < count) {
      *number->second = std::stoull(words[++i]);
    }
  }
  return plan;
}

// Whether the time of the plan is over. The clock is asked for one input in 16.
bool is_late(const Plan& plan, std::uint64_t inputs) {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point deadline = Clock::now() + std::chrono::seconds(plan.seconds);
  return plan.seconds != 0 && inputs % 16 == 0 && Clock::now() >= deadline;
}

std::size_t longest_of(const std::vector<Bytes>& corpus) {
  std::size_t longest = 0;
  for (const Bytes& bytes : corpus) longest = std::max(longest, bytes.size());
  return longest;
}

void run_mutations(const Plan& plan, const std::vector<Bytes>& corpus, InputRooms& rooms) {
  Random random(seed);
  Bytes room(std::max<std::size_t>(plan.most_bytes, longest_of(corpus)));
  const auto any = [&]() -> const Bytes& { return corpus[random.below(corpus.size())]; };
  for (std::uint64_t i = 0; i < plan.inputs && !is_late(plan, i); ++i) {
    const Bytes& begin = any();
    std::copy(begin.begin(), begin.end(), room.begin());
    Draft draft{room, begin.size()};
    for (std::size_t n = 1 + random.below(6); n > 0; --n) mutate_once(draft, any(), random);
    run(rooms, ByteSpan(room).first(std::min<std::size_t>(draft.size, plan.most_bytes)));
  }
}

}  // namespace

// Some targets name it; only libFuzzer has them mutate.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size, std::size_t) {
  return size;
}

int main(int count, char** words) {
  const Plan plan = read_plan(count, words);
  LLVMFuzzerInitialize(&count, &words);
  // A sanitizer has more to say of a bad access than we do.
  const bool is_sanitized = __sanitizer_set_death_callback != nullptr;
  if (is_sanitized) __sanitizer_set_death_callback(report_death);
  ::signal(SIGABRT, on_signal);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    if (!is_sanitized) ::signal(signal, on_signal);
  }
  ::signal(SIGALRM, on_alarm);
  ::alarm(kSecondsToHang);
  const std::vector<Bytes> corpus = read_corpus(plan.places);
  InputRooms rooms(std::max<std::size_t>(plan.most_bytes, longest_of(corpus)));
  for (const Bytes& bytes : corpus) run(rooms, bytes);
  run_mutations(plan, corpus, rooms);
  current = 0;
  return 0;
}
