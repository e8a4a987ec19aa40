// SPDX-License-Identifier: BSD-2-Clause
// One allocation of a whole session fails, each in its turn: the session ends in order, with what it wanted or with a
// refusal. (What a lasting shortage does, tests/conformance/memory_shortage*.cc ask call by call.)
//
// SOFTDAT_TEST_ROUNDS=N lets N allocations fail, evenly spread (30 otherwise).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/chaos/session_marks.h"

namespace softdat::chaos {
namespace {

constexpr int kRounds = 30;

int rounds() {
  const char* text = std::getenv("SOFTDAT_TEST_ROUNDS");
  return text == nullptr ? kRounds : std::atoi(text);
}

std::string path_of_session() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string whole(path, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return whole.substr(0, whole.rfind('/') + 1) + "chaos_session";
}

struct Outcome {
  int status = 0;
  int asked = 0;  // allocations
};

Outcome run_session(const std::string& failing_allocation) {
  Outcome outcome;
  FILE* const out = ::popen(("exec " + path_of_session() + " " + failing_allocation + " 2>/dev/null").c_str(), "r");
  if (out == nullptr || std::fscanf(out, "%d", &outcome.asked) != 1) outcome.asked = 0;
  outcome.status = out == nullptr ? -1 : ::pclose(out);
  return outcome;
}

TEST(FailingAllocations, EndASessionInOrder) {
  const Outcome whole = run_session("");
  ASSERT_TRUE(WIFEXITED(whole.status) && WEXITSTATUS(whole.status) == 0) << "undisturbed, it succeeds";
  ASSERT_GT(whole.asked, 100) << "the session's allocations are counted";
  const int step = std::max(1, whole.asked / rounds());
  int failed = 0;
  for (int number = 0; number < whole.asked; number += step, ++failed) {
    const Outcome outcome = run_session(std::to_string(number));
    const bool is_in_order = WIFEXITED(outcome.status) &&
                             (WEXITSTATUS(outcome.status) == 0 || WEXITSTATUS(outcome.status) == kSessionRefused);
    EXPECT_TRUE(is_in_order) << "allocation " << number << ": status " << outcome.status;
  }
  std::printf("%d of %d allocations failed\n", failed, whole.asked);
}

}  // namespace
}  // namespace softdat::chaos
