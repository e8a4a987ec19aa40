// SPDX-License-Identifier: BSD-2-Clause
// Runs a fuzz target without libFuzzer:  TARGET [--inputs N] [--seed S] [DIRECTORY...]
// First every file of the directories as it is, then N mutations of them. Prints how many inputs it ran. If an input
// breaks the target, its number is printed; the same seed and corpus give it again.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"

extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int*, char***);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kMostBytes = 4096;

std::mt19937_64 engine;
std::uint64_t current = 0;

std::size_t below(std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(engine() % limit);
}

void report_death() {
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "\nthe input was number %llu\n", static_cast<unsigned long long>(current));
  static_cast<void>(!::write(STDOUT_FILENO, text, static_cast<std::size_t>(length)));
}

void on_signal(int signal) {
  report_death();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void run(const Bytes& bytes) {
  ++current;
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
  std::uint64_t seed = 1;
  std::vector<std::string> directories;
};

Plan read_plan(int count, char** words) {
  Plan plan;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--inputs" && has_value) {
      plan.inputs = std::stoull(words[++i]);
    } else if (word == "--seed" && has_value) {
      plan.seed = std::stoull(words[++i]);
    } else {
      plan.directories.push_back(word);
    }
  }
  return plan;
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
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&count, &words);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(report_death);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) ::signal(signal, on_signal);
  engine.seed(plan.seed);
  const std::vector<Bytes> corpus = read_corpus(plan.directories);
  for (const Bytes& bytes : corpus) run(bytes);
  for (std::uint64_t i = 0; i < plan.inputs; ++i) {
    Bytes bytes = corpus[below(corpus.size())];
    for (std::size_t n = 1 + below(6); n > 0; --n) mutate_once(bytes, corpus);
    bytes.resize(std::min(bytes.size(), kMostBytes));
    run(bytes);
  }
  std::printf("%llu inputs, seed %llu\n", static_cast<unsigned long long>(current),
              static_cast<unsigned long long>(plan.seed));
  return 0;
}
