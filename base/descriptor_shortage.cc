// SPDX-License-Identifier: BSD-2-Clause
#include "base/descriptor_shortage.h"

#include <sys/resource.h>

#include <atomic>
#include <cstring>

namespace softdat::base {
namespace {

// Two shortages at once may mix their words, which tells of one of them all the same.
constinit std::atomic<Time::rep> g_noted_at{0};
constinit std::atomic<int> g_error{0};

}  // namespace

void note_descriptor_shortage(int error) {
  g_error.store(error, std::memory_order_relaxed);
  g_noted_at.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

bool was_short_of_descriptors(Duration ago) {
  const Time::rep noted_at = g_noted_at.load(std::memory_order_relaxed);
  return noted_at != 0 && Clock::now() - Time(Duration(noted_at)) <= ago;
}

std::string shortage_text() {
  const int error = g_error.load(std::memory_order_relaxed);
  const std::string reason = std::strerror(error);
  if (error != EMFILE) return "the system gives this process no more file descriptors (" + reason + ')';
  rlimit limit = {};
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &limit));
  return "this process has too few file descriptors (" + reason + "; its limit is " + std::to_string(limit.rlim_cur) +
         "): raise the limit (ulimit -n)";
}

}  // namespace softdat::base
