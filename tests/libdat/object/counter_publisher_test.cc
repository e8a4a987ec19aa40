// SPDX-License-Identifier: BSD-2-Clause
// The publisher beside threads that create, use and free objects. A process of its own: its counters are shown.
#include "libdat/object/counter_publisher.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/libdat/object/world.h"
#include "tools/softdat/observe/scan.h"

namespace softdat::object {
namespace {

// Before anything asks.
[[maybe_unused]] const int g_environment = ::setenv("SOFTDAT_COUNTERS", "on", 1);

using tools::observe::Scanner;
using tools::observe::Snapshot;

std::optional<Snapshot> shown() {
  auto found = Scanner().scan(::getpid());
  return found.empty() ? std::nullopt : std::optional(std::move(found.front().snapshot));
}

template <typename Condition>
bool is_shown_at_last(Condition condition) {
  return eventually([&] {
    const auto now = shown();
    return now && condition(*now);
  });
}

int count_files() {
  int count = 0;
  for (int fd = 3; fd < 256; ++fd) {
    char target[64];
    const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target);
    if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == base::kCounterFileLink) ++count;
  }
  return count;
}

TEST(CounterPublisher, ShowsWhatIsOpenUntilItIsClosed) {
  {
    World world;
    const Handle pz = world.make_pz();
    const Handle evd = world.make_evd(kDtoStream | kConnectionStream);
    const Handle ep = world.make_ep(pz, evd, evd, evd);
    ASSERT_TRUE(is_shown_at_last([](const Snapshot& now) { return now.eps.size() == 1 && now.evds.size() == 2; }));
    const auto now = shown();
    ASSERT_TRUE(now);
    EXPECT_EQ(now->ias.size(), 1u);
    EXPECT_EQ(now->eps[0].id, reinterpret_cast<std::uintptr_t>(ep));
    EXPECT_EQ(now->eps[0].ia, reinterpret_cast<std::uintptr_t>(world.ia));
    EXPECT_EQ(now->eps[0].request_evd, reinterpret_cast<std::uintptr_t>(evd));
    EXPECT_EQ(now->head.left_out, 0u);
    EXPECT_EQ(now->head.period_ns, 200'000'000u);
  }
  EXPECT_TRUE(is_shown_at_last([](const Snapshot& now) { return now.ias.empty() && now.eps.empty(); }));
}

TEST(CounterPublisher, IsInNobodysWay) {
  constexpr std::uint64_t kSnapshots = 6;
  World world;
  const Handle pz = world.make_pz();
  const Handle software = world.make_evd(kSoftwareStream);
  const Handle kept = world.make_ep(pz, nullptr, nullptr, nullptr);
  ASSERT_TRUE(is_shown_at_last([](const Snapshot&) { return true; }));
  const std::uint64_t first = shown()->head.generation;
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  // One creates: the fake device knows no threads.
  threads.emplace_back([&] {
    while (!is_over) {
      const Handle evd = world.make_evd(kDtoStream | kConnectionStream);
      const Handle ep = world.make_ep(pz, evd, evd, evd);
      EXPECT_EQ(Endpoint::free(ep_of(ep)), kOk);
      EXPECT_EQ(EventDispatcher::free(evd_of(evd)), kOk);
    }
  });
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!is_over) {
        EXPECT_EQ(ep_of(kept)->query().pz, pz);
        EXPECT_EQ(evd_of(software)->post_software(nullptr), kOk);
        Event event;
        EXPECT_EQ(evd_of(software)->dequeue(event), kOk);
      }
    });
  }
  EXPECT_TRUE(is_shown_at_last([&](const Snapshot& now) { return now.head.generation >= first + kSnapshots; }));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

// A program may close every descriptor. The publisher then looks at a number that may be another file's, which
// ThreadSanitizer takes for a race.
TEST(CounterPublisher, MakesAnotherFileForTheOneThatIsClosed) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP();
#endif
  const World world;
  ASSERT_TRUE(is_shown_at_last([](const Snapshot& now) { return now.ias.size() == 1; }));
  for (int fd = 3; fd < 256; ++fd) {
    char target[64];
    const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target);
    if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == base::kCounterFileLink) ::close(fd);
  }
  EXPECT_TRUE(is_shown_at_last([](const Snapshot& now) { return now.ias.size() == 1; }));
  EXPECT_EQ(count_files(), 1);
}

// ThreadSanitizer allows a child of a process with threads none of its own.
TEST(CounterPublisher, AChildHasNoneAndMayShowItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP();
#endif
  const World world;
  ASSERT_TRUE(is_shown_at_last([](const Snapshot& now) { return now.ias.size() == 1; }));
  const pid_t child = ::fork();
  if (child == 0) {
    if (count_files() != 0 || shown()) ::_exit(1);
    const World own;
    ::_exit(is_shown_at_last([](const Snapshot& now) { return now.ias.size() == 1; }) ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace softdat::object
