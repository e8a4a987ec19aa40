// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/shared_memory_claim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace softdat::object {
namespace {

// Of this process alone, so that nothing else that runs now is disturbed or in the way.
SharedCookie cookie_of(char which) {
  SharedCookie cookie{};
  const std::string text = "claim test " + std::to_string(::getpid()) + which;
  text.copy(cookie.data(), cookie.size());
  return cookie;
}

std::filesystem::path file_of(const SharedCookie& cookie) {
  std::string name;
  for (const char byte : cookie) {
    constexpr char kDigits[] = "0123456789abcdef";
    name += kDigits[static_cast<unsigned char>(byte) >> 4];
    name += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return "/dev/shm/softdat-lmr-" + std::to_string(::getuid()) + "/" + name;
}

// Nothing that would clean up runs there; another process may do it at any time.
void claim_and_be_killed(const SharedCookie& cookie) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto claim = SharedMemoryClaim::make(cookie, {});
    if (std::filesystem::exists(file_of(cookie))) ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(SharedMemoryClaim, LeavesNoFileBehind) {
  const SharedCookie cookie = cookie_of('a');
  auto claim = SharedMemoryClaim::make(cookie, {});
  ASSERT_TRUE(claim);
  EXPECT_TRUE(std::filesystem::exists(file_of(cookie)));
  claim.reset();
  EXPECT_FALSE(std::filesystem::exists(file_of(cookie)));
}

TEST(SharedMemoryClaim, OfAKilledProcessIsCleanedUpAndALivingOneKept) {
  const SharedCookie living = cookie_of('b');
  const SharedCookie killed = cookie_of('c');
  const auto claim = SharedMemoryClaim::make(living, {});
  ASSERT_TRUE(claim);
  claim_and_be_killed(killed);
  SharedMemoryClaim::remove_abandoned();
  EXPECT_FALSE(std::filesystem::exists(file_of(killed)));
  EXPECT_TRUE(std::filesystem::exists(file_of(living)));
}

}  // namespace
}  // namespace softdat::object
