// SPDX-License-Identifier: BSD-2-Clause
// Stops a thread at any instruction, so that others may do there what seldom happens in just that moment.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace softdat {

// A signal stops a thread wherever it is, until it is told to go on. A thread that has a lock would wait for ever, so
// it waits for a moment only.
class StandStill {
 public:
  StandStill() {
    struct sigaction action {};
    action.sa_handler = stand;
    action.sa_flags = SA_RESTART;
    EXPECT_EQ(::sigaction(SIGUSR1, &action, &before_), 0);
  }
  ~StandStill() { EXPECT_EQ(::sigaction(SIGUSR1, &before_, nullptr), 0); }
  StandStill(const StandStill&) = delete;
  StandStill& operator=(const StandStill&) = delete;

  // Calls `act` while `thread` stands.
  template <typename Act>
  void during(std::thread& thread, Act act) {
    const int round = ++rounds_;
    ASSERT_EQ(::pthread_kill(thread.native_handle(), SIGUSR1), 0);
    while (began_.load() < round) std::this_thread::yield();
    act();
    told_.store(round);
    while (ended_.load() < round) std::this_thread::yield();
  }

 private:
  static void stand(int) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    const int round = ++began_;
    while (told_.load() < round && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    ++ended_;
  }

  static inline int rounds_ = 0;
  static inline std::atomic<int> began_{0};
  static inline std::atomic<int> ended_{0};
  static inline std::atomic<int> told_{0};
  struct sigaction before_ {};
};

}  // namespace softdat
