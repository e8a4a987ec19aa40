// SPDX-License-Identifier: BSD-2-Clause
// The thread of wait agents, with as little memory as the test wants.
#include "libdat/object/upcall_thread.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace {

// Whether this thread gets no more memory.
thread_local bool is_memory_short = false;

void* allocate(std::size_t size) {
  if (!is_memory_short) {
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

// Not inline: GCC would take what they call for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return allocate(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace softdat::object {
namespace {

// Remembers its calls, and holds the first one until it is let go on.
class Agent {
 public:
  WaitAgent agent() { return {this, run}; }
  void let_go() {
    const std::lock_guard lock(mutex_);
    may_go_ = true;
    changed_.notify_all();
  }
  std::vector<Handle> await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(240), [&] { return calls_.size() >= count; });
    return calls_;
  }

 private:
  static void run(void* instance, Handle evd) {
    auto* const self = static_cast<Agent*>(instance);
    std::unique_lock lock(self->mutex_);
    self->changed_.wait(lock, [&] { return self->may_go_; });
    self->calls_.push_back(evd);
    self->changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Handle> calls_;
  bool may_go_ = false;
};

constexpr std::size_t kCalls = 2000;

Handle handle_of(std::size_t number) {
  return reinterpret_cast<Handle>(16 * (number + 1));
}

TEST(UpcallThreadTest, MakesEveryReservedCallInOrderThoughMemoryIsShort) {
  Agent agent;
  UpcallThread thread;
  for (std::size_t i = 0; i < kCalls; ++i) thread.reserve();
  is_memory_short = true;
  for (std::size_t i = 0; i < kCalls; ++i) thread.post(agent.agent(), handle_of(i));
  is_memory_short = false;
  agent.let_go();
  const auto calls = agent.await(kCalls);
  ASSERT_EQ(calls.size(), kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) EXPECT_EQ(calls[i], handle_of(i));
}

// Associations come and go for as long as a program runs.
TEST(UpcallThreadTest, UsesItsRoomAgain) {
  Agent agent;
  UpcallThread thread;
  agent.let_go();
  thread.reserve();
  thread.release();
  for (std::size_t i = 0; i < kCalls; ++i) {
    thread.reserve();
    is_memory_short = true;
    thread.post(agent.agent(), handle_of(i));
    is_memory_short = false;
  }
  EXPECT_EQ(agent.await(kCalls).size(), kCalls);
}

TEST(UpcallThreadTest, ItsEndMakesTheCallsThatWait) {
  Agent agent;
  {
    UpcallThread thread;
    for (std::size_t i = 0; i < kCalls; ++i) {
      thread.reserve();
      thread.post(agent.agent(), handle_of(i));
    }
    agent.let_go();
  }
  EXPECT_EQ(agent.await(0).size(), kCalls);
}

}  // namespace
}  // namespace softdat::object
