// SPDX-License-Identifier: BSD-2-Clause
// A child of fork() opens IAs, whatever another thread of its parent was doing in the registry at that moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "tests/asleep.h"
#include "tests/registry/scratch_world.h"

namespace softdat::registry {
namespace {

using ::testing::Contains;

// Whether `claim` holds in a child. One that waits for ever is killed.
bool holds_in_child(const std::function<bool()>& claim) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120);
    ::_exit(claim() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_open_and_close(const char* name) {
  const Opened opened = open_ia(name);
  return opened.status == DAT_SUCCESS && dat_ia_close(opened.ia, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS;
}

class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override { take_notes(); }
};

TEST_F(ForkTest, ChildOpensWhatItsParentWasLoading) {
  std::thread opener;
  {
    NoteHold hold("foreign init foreign " + kVersion + " 0 data one");
    opener = std::thread([] { EXPECT_TRUE(can_open_and_close("foreign")); });
    hold.await();
    EXPECT_TRUE(holds_in_child([] { return can_open_and_close("foreign") && can_open_and_close("owner"); }));
  }
  opener.join();
  EXPECT_EQ(take_notes().back(), "foreign unload");
}

TEST_F(ForkTest, ChildOpensWhatItsParentWasUnloading) {
  std::thread closer;
  {
    NoteHold hold("foreign fini foreign");
    closer = std::thread([] { EXPECT_TRUE(can_open_and_close("foreign")); });
    hold.await();
    EXPECT_TRUE(holds_in_child([] {
      take_notes();
      const bool can_open = can_open_and_close("foreign");
      return can_open && !std::ranges::count(take_notes(), "foreign was refused");
    }));
  }
  closer.join();
  EXPECT_EQ(take_notes().back(), "foreign unload");
}

class ForkInLoaderTest : public ForkTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // Forks, and opens in the child what another thread is loading or unloading.
  static void expect_usable_library_in_child(std::atomic<int>& thread) {
    thread.store(::gettid());
    EXPECT_TRUE(holds_in_child([] { return is_loader_left.load() && can_open_and_close("foreign"); }));
  }

  // Lets the thread that holds still in the loader go on when the forks of both threads wait, or have not waited.
  static void end_during_forks(NoteHold& hold, const std::atomic<int>& first, const std::atomic<int>& second) {
    while (forks_begun.load() < 2) std::this_thread::yield();
    await_asleep(first.load());
    await_asleep(second.load());
    is_loader_left.store(true);
    hold.end();
  }

  static inline std::atomic<int> forks_begun{0};
  static inline std::atomic<bool> is_loader_left{false};
};

// A child that was made earlier would have half a library for ever.
TEST_P(ForkInLoaderTest, ForksWaitUntilItIsLeft) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "ASan's allocator does not know fork(): the child may wait for ever for a lock of its own";
#endif
  // Registered after the registry's handler, so it runs before that.
  static const int registered = ::pthread_atfork([] { forks_begun.fetch_add(1); }, nullptr, nullptr);
  ASSERT_EQ(registered, 0);
  NoteHold hold(GetParam());
  std::thread user([] { EXPECT_TRUE(can_open_and_close("foreign")); });
  hold.await();
  forks_begun.store(0);
  is_loader_left.store(false);
  std::atomic<int> first{0};
  std::atomic<int> second{0};
  std::thread guide([&] { end_during_forks(hold, first, second); });
  std::thread other([&] { expect_usable_library_in_child(second); });
  expect_usable_library_in_child(first);
  other.join();
  guide.join();
  user.join();
}

INSTANTIATE_TEST_SUITE_P(Loader, ForkInLoaderTest, ::testing::Values("foreign load", "foreign unload"));

// The C library runs no handlers that are registered after a fork has begun, so the registry runs those of our library.
TEST_F(ForkTest, LibraryThatIsLoadedDuringAForkFollowsIt) {
  static std::atomic<bool> is_armed{true};
  static const int registered = ::pthread_atfork(
      [] {
        if (!is_armed.exchange(false)) return;
        EXPECT_TRUE(can_open_and_close("owner"));
      },
      nullptr, nullptr);
  ASSERT_EQ(registered, 0);
  EXPECT_TRUE(holds_in_child([] { return last_two(fork_stages.load()) == ('p' << 8 | 'c'); }));
  EXPECT_EQ(last_two(fork_stages.load()), 'p' << 8 | 'f');
}

// The thread that forks goes on in the child with what it was loading.
TEST_F(ForkTest, ProviderForksWhileItIsLoaded) {
  const ScratchIa ia("fork");
  EXPECT_THAT(take_notes(), Contains("foreign child opened"));
}

// The other thread holds one lock of the registry or another most of the time.
TEST_F(ForkTest, ChildFindsNoLockHeld) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "ASan's allocator does not know fork(): the child waits for ever for a lock of its own";
#endif
  constexpr int kForks = 100;
  std::atomic<bool> is_over{false};
  const ScratchIa ia("foreign");
  std::thread user([&] {
    const auto bad = reinterpret_cast<DAT_IA_HANDLE>(0x5000);
    DAT_PROVIDER_INFO info{};
    DAT_PROVIDER_INFO* infos[] = {&info};
    DAT_COUNT count = 0;
    while (!is_over.load()) {
      dat_ia_query(bad, nullptr, 0, nullptr, 0, nullptr);
      dat_registry_list_providers(1, &count, infos);
    }
  });
  bool holds = true;
  for (int i = 0; i < kForks && holds; ++i) holds = holds_in_child([] { return can_open_and_close("foreign"); });
  EXPECT_TRUE(holds);
  is_over.store(true);
  user.join();
}

}  // namespace
}  // namespace softdat::registry
