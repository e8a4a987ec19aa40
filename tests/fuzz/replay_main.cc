// SPDX-License-Identifier: BSD-2-Clause
// Runs a fuzz target without libFuzzer:
//   TARGET [--inputs N] [--seconds S] [--seed S] [--most-bytes B] [--artifact PREFIX] [DIRECTORY...]
// First every file of the directories as it is, then N mutations of them, or as many as S seconds allow. If an input
// breaks the target or takes a minute, its number is printed, and it is written to the file PREFIXinput.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr unsigned kSecondsToHang = 60;

std::mt19937_64 engine;
std::uint64_t current = 0;
const Bytes* current_bytes = nullptr;
std::string artifact;  // a file; empty: none is written

std::size_t below(std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(engine() % limit);
}

void report_death() {
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "\nthe input was number %llu\n", static_cast<unsigned long long>(current));
  static_cast<void>(!::write(STDOUT_FILENO, text, static_cast<std::size_t>(length)));
  if (artifact.empty() || current_bytes == nullptr) return;
  const int file = ::open(artifact.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  static_cast<void>(!::write(file, current_bytes->data(), current_bytes->size()));
}

void on_signal(int signal) {
  report_death();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// An input that is still the same after so long hangs.
void on_alarm(int) {
  static std::uint64_t last = 0;
  if (std::exchange(last, current) == current) std::abort();
  ::alarm(kSecondsToHang);
}

void run(const Bytes& bytes) {
  ++current;
  current_bytes = &bytes;
  // A copy of just that size, so that a sanitizer sees reads beyond it.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

std::vector<Bytes> read_corpus(const std::vector<std::string>& directories) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& directory : directories) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> corpus;
  for (const auto& path : paths) corpus.push_back(read_file(path));
  if (corpus.empty()) corpus.push_back({0});
  return corpus;
}

void insert_from(Bytes& bytes, const Bytes& other) {
  if (other.empty()) return;
  const std::size_t from = below(other.size());
  const std::size_t length = std::min(1 + below(32), other.size() - from);
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1));
  bytes.insert(at, other.begin() + static_cast<std::ptrdiff_t>(from),
               other.begin() + static_cast<std::ptrdiff_t>(from + length));
}

void erase_some(Bytes& bytes) {
  const std::size_t from = below(bytes.size());
  const std::size_t length = std::min(1 + below(16), bytes.size() - from);
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(from);
  bytes.erase(at, at + static_cast<std::ptrdiff_t>(length));
}

void mutate_once(Bytes& bytes, const std::vector<Bytes>& corpus) {
  static constexpr std::uint8_t kTelling[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0xfe, 4, 8, 0x40};
  switch (bytes.empty() ? 4 : below(7)) {
    case 0:
      bytes[below(bytes.size())] ^= static_cast<std::uint8_t>(1u << below(8));
      return;
    case 1:
      bytes[below(bytes.size())] = kTelling[below(std::size(kTelling))];
      return;
    case 2:
      bytes[below(bytes.size())] = static_cast<std::uint8_t>(engine());
      return;
    case 3:
      return erase_some(bytes);
    case 4:
      return insert_from(bytes, corpus[below(corpus.size())]);
    case 5:
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1)),
                   static_cast<std::uint8_t>(engine()));
      return;
    default:
      bytes.resize(below(bytes.size() + 1));
  }
}

struct Plan {
  std::uint64_t inputs = 0;
  std::uint64_t seconds = 0;  // 0: no limit
  std::uint64_t seed = 1;
  std::uint64_t most_bytes = 4096;
  std::vector<std::string> directories;
};

Plan read_plan(int count, char** words) {
  Plan plan;
  const std::pair<const char*, std::uint64_t*> numbers[] = {{"--inputs", &plan.inputs},
                                                            {"--seconds", &plan.seconds},
                                                            {"--seed", &plan.seed},
                                                            {"--most-bytes", &plan.most_bytes}};
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto* const number =
        std::find_if(std::begin(numbers), std::end(numbers), [&](const auto& entry) { return word == entry.first; });
    if (word == "--artifact" && i + 1 < count) {
      artifact = std::string(words[++i]) + "input";
    } else if (number == std::end(numbers)) {
      plan.directories.push_back(word);
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

void run_mutations(const Plan& plan, const std::vector<Bytes>& corpus) {
  for (std::uint64_t i = 0; i < plan.inputs && !is_late(plan, i); ++i) {
    Bytes bytes = corpus[below(corpus.size())];
    for (std::size_t n = 1 + below(6); n > 0; --n) mutate_once(bytes, corpus);
    bytes.resize(std::min<std::uint64_t>(bytes.size(), plan.most_bytes));
    run(bytes);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  Bytes bytes(data, data + size);
  mutate_once(bytes, {bytes});
  bytes.resize(std::min(bytes.size(), most));
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

int main(int count, char** words) {
  const Plan plan = read_plan(count, words);
  LLVMFuzzerInitialize(&count, &words);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(report_death);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::signal(signal, on_signal);
  ::signal(SIGALRM, on_alarm);
  ::alarm(kSecondsToHang);
  engine.seed(plan.seed);
  const std::vector<Bytes> corpus = read_corpus(plan.directories);
  for (const Bytes& bytes : corpus) run(bytes);
  run_mutations(plan, corpus);
  current_bytes = nullptr;
  return 0;
}
