// SPDX-License-Identifier: BSD-2-Clause
#include "base/words.h"

#include <errno.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <new>

#include "base/guarded.h"
#include "base/lock_places.h"
#include "base/log.h"
#include "base/runner.h"

namespace softdat::base {
namespace {

// More different lines are not counted, only said.
constexpr std::size_t kMostLines = 4096;

struct Times {
  std::uint64_t said = 0;
  std::uint64_t told = 0;  // the last number that was printed
};

// The sentences of one process. Never destroyed: threads may speak while it ends.
struct Speech {
  const pid_t process = ::getpid();
  const Speech* const parents;  // of the process that forked; its lock may be held for ever here
  Guarded<std::map<std::string, Times>, locks::kSpeech> times{};
};

constinit std::atomic<Speech*> g_speech{nullptr};

// Null: nothing yet.
Speech* own_speech() {
  Speech* const speech = g_speech.load(std::memory_order_acquire);
  return speech != nullptr && speech->process == ::getpid() ? speech : nullptr;
}

Speech& begin_speech() {
  if (Speech* const speech = own_speech()) return *speech;
  Speech* current = g_speech.load(std::memory_order_acquire);
  std::unique_ptr<Speech> fresh(new Speech{.parents = current});
  // Another thread was first: use its speech. In a child the parent's is left as it is.
  if (!g_speech.compare_exchange_strong(current, fresh.get(), std::memory_order_acq_rel)) return *current;
  return *fresh.release();
}

// How often the sentence has been said, this time included, if that is to be printed; else 0.
std::uint64_t count(const std::string& sentence) {
  const auto all = begin_speech().times.lock();
  if (all->size() >= kMostLines && !all->contains(sentence)) return 1;
  Times& times = (*all)[sentence];
  ++times.said;
  if (!is_told(times.said)) return 0;
  times.told = times.said;
  return times.said;
}

void print_counted(const std::string& sentence, std::uint64_t times) {
  if (times > 0) print_sentence(times > 1 ? sentence + " (" + std::to_string(times) + " times so far)" : sentence);
}

// At the end of the process: what was said more often than the last line about it tells.
[[gnu::destructor]] void print_totals() try {
  Speech* const speech = own_speech();
  if (speech == nullptr) return;
  const auto all = speech->times.lock();
  for (const auto& [sentence, times] : *all) {
    if (times.said != times.told) print_sentence(sentence + " (" + std::to_string(times.said) + " times in all)");
  }
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace

bool is_told(std::uint64_t times) {
  if (times <= 2) return true;
  // The first two times, then the tenth, the hundredth and so on.
  while (times % 10 == 0) times /= 10;
  return times == 1;
}

bool are_words_wanted() {
  return is_logged(LogLevel::kNotice);
}

void say(const std::string& sentence) try {
  if (!are_words_wanted()) return;
  const std::uint64_t times = count(sentence);
  if (times == 1 && has_runner()) {
    tell_runner("said\t" + std::to_string(::getpid()) + '\t' + runner_word(sentence) + '\n');
  }
  print_counted(sentence, times);
} catch (const std::bad_alloc&) {
}

void say_counted(const std::string& sentence) {
  print_counted(sentence, count(sentence));
}

void print_sentence(const std::string& sentence) {
  const int error = errno;
  write_line("softdat[" + std::to_string(::getpid()) + "]: " + sentence + '\n');
  errno = error;
}

std::string process_text() {
  utsname host{};
  ::uname(&host);
  return std::string(program_invocation_short_name) + " (process " + std::to_string(::getpid()) + " on " +
         host.nodename + ')';
}

}  // namespace softdat::base
