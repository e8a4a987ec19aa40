// SPDX-License-Identifier: BSD-2-Clause
// Each system call that a session makes fails once, the first time and at a later one: the session ends in order, with
// what it wanted or with a refusal, and never by a signal, a hang or an adapter that cannot be closed.
//
// SOFTDAT_TEST_ROUNDS=N denies the first N calls of each kind (2 otherwise: the first, and one chosen by
// SOFTDAT_TEST_SEED).
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>

#include "tests/chaos/session_marks.h"
#include "tests/chaos/tracer.h"

namespace softdat::chaos {
namespace {

unsigned number_from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

bool is_in_order(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kSessionRefused);
}

std::string text_of(const Denial& denial, int status) {
  std::string text = std::string(name_of_call(denial.number)) + " number " + std::to_string(denial.turn) +
                     " denied with " + std::strerror(denial.error) + ": ";
  if (WIFSIGNALED(status)) return text + "died of " + ::strsignal(WTERMSIG(status));
  return text + "exited with " + std::to_string(WEXITSTATUS(status));
}

// The first ones in full, or the first and another.
std::set<int> turns_of(int count, std::mt19937& random) {
  const auto rounds = static_cast<int>(number_from_environment("SOFTDAT_TEST_ROUNDS", 0));
  if (rounds == 0) return {1, std::uniform_int_distribution<>(1, count)(random)};
  std::set<int> turns;
  for (int turn = 1; turn <= std::min(rounds, count); ++turn) turns.insert(turn);
  return turns;
}

TEST(DeniedCalls, EndASessionInOrder) {
  const Outcome whole = run_session({});
  if (!whole.is_traced) GTEST_SKIP() << "this system does not let a process answer another's system calls";
  ASSERT_TRUE(WIFEXITED(whole.status) && WEXITSTATUS(whole.status) == 0) << "undisturbed, it succeeds";
  std::mt19937 random(number_from_environment("SOFTDAT_TEST_SEED", 4711));
  int denied = 0;
  for (const auto& [number, count] : whole.counts) {
    for (const int turn : turns_of(count, random)) {
      for (const int error : {EPERM, ENOMEM}) {
        const Denial denial{number, turn, error};
        const Outcome outcome = run_session(denial);
        EXPECT_TRUE(is_in_order(outcome.status)) << text_of(denial, outcome.status);
        denied += outcome.was_denied ? 1 : 0;
      }
    }
  }
  std::printf("%d denials of %zu different system calls\n", denied, whole.counts.size());
  EXPECT_GT(denied, 20);
}

}  // namespace
}  // namespace softdat::chaos
