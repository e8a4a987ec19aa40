// SPDX-License-Identifier: BSD-2-Clause
// DeviceQueuePair: the ibv_qp behind a queue pair. Neither InfiniBand nor iWARP can undo the end of a connection, so
// each connection has an ibv_qp of its own.
//
// Ownership: owns the ibv_qp. While there is one, the completion queues, the SRQ and the event thread know it.
// Threads: make(), destroy() and discard() change get(): they REQUIRE the mutexes of the connection and of both work
// queues, or that no other thread knows the queue pair. get() requires one of these mutexes; number() and
// is_discarding() run on any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "hca/device.h"
#include "verbs/device_view.h"

namespace softdat::verbs {

class CompletionQueue;
class ProtectionDomain;
class QueuePair;
class SharedReceiveQueue;

class DeviceQueuePair {
 public:
  DeviceQueuePair(const DeviceView& device, const hca::QueuePairConfig& config, QueuePair& owner);

  // Its events go to the target. Fails with kLimitReached or the device's error; then there is none.
  hca::Outcome make(EventTarget& target);
  // If there is one. What it has completed is in the completion queues afterwards, and it completes no more.
  void destroy();
  // The same; nobody gets the completions that are still there.
  void discard();
  bool is_discarding() const { return is_discarding_.load(std::memory_order_seq_cst); }

  ibv_qp* get() const { return qp_; }  // null: destroyed
  // The number of the ibv_qp; once that is destroyed, the number that it had.
  std::uint32_t number() const { return number_.load(std::memory_order_seq_cst); }
  // So many bytes the device copies while they are posted.
  std::uint32_t max_inline() const { return max_inline_; }

  // False: the device refuses, or there is none.
  bool modify(ibv_qp_attr& attributes, int mask);
  // The device flushes what was posted.
  void move_to_error();
  bool is_in_error() const;

 private:
  bool move_to_init();
  void remove(const QueuePair* dying);

  const DeviceView device_;
  const hca::QueuePairLimits limits_;
  QueuePair& owner_;
  ProtectionDomain& domain_;
  CompletionQueue& send_queue_;
  CompletionQueue& recv_queue_;
  SharedReceiveQueue* const shared_;  // null: receives are posted to the queue pair
  ibv_qp* qp_ = nullptr;
  std::uint32_t max_inline_ = 0;
  std::atomic<std::uint32_t> number_{0};
  std::atomic<bool> is_discarding_{false};
};

}  // namespace softdat::verbs
