// SPDX-License-Identifier: BSD-2-Clause
#include "base/words.h"

#include <errno.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <new>

#include "base/log.h"

namespace softdat::base {
namespace {

// More different lines are not counted, only said.
constexpr std::size_t kMostLines = 4096;

bool is_told(std::uint64_t times) {
  if (times <= 2) return true;
  while (times % 10 == 0) times /= 10;
  return times == 1;
}

// How often the sentence has been said, this time included.
std::uint64_t count(const std::string& sentence) {
  static std::mutex mutex;
  static std::map<std::string, std::uint64_t> times;
  const std::lock_guard lock(mutex);
  if (times.size() >= kMostLines && !times.contains(sentence)) return 1;
  return ++times[sentence];
}

}  // namespace

bool are_words_wanted() {
  return is_logged(LogLevel::kNotice);
}

void say(const std::string& sentence) try {
  if (!are_words_wanted()) return;
  const int error = errno;
  const std::uint64_t times = count(sentence);
  if (!is_told(times)) return;
  std::string line = "softdat[" + std::to_string(::getpid()) + "]: " + sentence;
  if (times > 1) line += " (" + std::to_string(times) + " times so far)";
  line += '\n';
  write_line(line);
  errno = error;
} catch (const std::bad_alloc&) {
}

std::string process_text() {
  utsname host{};
  ::uname(&host);
  return std::string(program_invocation_short_name) + " (process " + std::to_string(::getpid()) + " on " +
         host.nodename + ')';
}

}  // namespace softdat::base
