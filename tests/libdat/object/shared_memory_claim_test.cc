// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/shared_memory_claim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
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
  return "/dev/shm/softdat-lmr-" + std::to_string(::geteuid()) + "/" + name;
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

// The signal would end the child.
TEST(SharedMemoryClaim, IsGrantedWhereFilesMayNotGrow) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    ::_exit(SharedMemoryClaim::make(cookie_of('f'), {}) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// As a process of this user holds it that was stopped while it wrote.
TEST(SharedMemoryClaim, ALockThatNobodyGivesBackHangsNobody) {
  const auto keeps_the_directory = SharedMemoryClaim::make(cookie_of('d'), {});
  const SharedCookie cookie = cookie_of('e');
  const base::UniqueFd file(::open(file_of(cookie).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(file.get(), F_OFD_SETLK, &whole), 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(SharedMemoryClaim::make(cookie, {}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  std::filesystem::remove(file_of(cookie));
}

// The kernel makes the directory in the name of the effective user, so it bears the number of that one.
TEST(SharedMemoryClaim, OfAProgramThatChangesItsUserIsTheEffectiveUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  constexpr uid_t kReal = 54324, kEffective = 54325;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(kReal, kEffective, kEffective) != 0) ::_exit(2);
    const SharedCookie cookie = cookie_of('g');
    const auto claim = SharedMemoryClaim::make(cookie, {});
    ::_exit(claim && std::filesystem::exists(file_of(cookie)) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const uid_t user : {kReal, kEffective}) {
    std::filesystem::remove_all("/dev/shm/softdat-lmr-" + std::to_string(user));
  }
}

}  // namespace
}  // namespace softdat::object
