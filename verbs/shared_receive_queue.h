// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "hca/device.h"
#include "verbs/event_thread.h"
#include "verbs/lock_places.h"
#include "verbs/memory_table.h"
#include "verbs/work_ring.h"

namespace softdat::verbs {

class CompletionQueue;

// The books of a queue outlive it in completions that nobody has polled: they are found by number.
class SharedReceiveQueue final : public hca::SharedReceiveQueue, private EventTarget {
 public:
  static hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> create(EventThread& events, Adapter& adapter,
                                                                      const MemoryTable& memory, ibv_pd* pd,
                                                                      std::uint32_t domain,
                                                                      const hca::SharedReceiveQueueConfig& config);
  ~SharedReceiveQueue() override;

  std::uint32_t capacity() const override;
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  hca::Outcome resize(std::uint32_t capacity) override;
  void arm(std::uint32_t limit) override;
  hca::SharedReceiveCounts counts() const override;

  // --- For queue pairs and completion queues ---
  ibv_srq* srq() const { return srq_; }
  std::uint32_t max_sge() const { return max_sge_; }
  // Receives come back by this queue, which counts() has to look into.
  void attach(CompletionQueue& queue);
  void detach(CompletionQueue& queue);
  // A queue pair has taken that receive: its entry is free again. What to put into the completion.
  std::uint16_t on_taken(const WorkEntry& entry);
  // These completions have been polled, or will never be.
  static void settle(std::span<const hca::Completion> completions) {
    for (const hca::Completion& completion : completions) {
      if (completion.srq_account != 0) [[unlikely]]
        settle_one(completion.srq_account);
    }
  }

 private:
  static void settle_one(std::uint16_t account);
  void check_entries_locked() const;
  SharedReceiveQueue(EventThread& events, Adapter& adapter, const MemoryTable& memory, std::uint32_t domain,
                     const hca::SharedReceiveQueueConfig& config);
  void on_async_event(ibv_event_type type) override;
  void on_wake() override;
  void drain_queues() const;
  void arm_device(std::uint32_t limit);

  // Fixed after create().
  EventThread& events_;
  Adapter& adapter_;
  const MemoryTable& memory_;
  const std::uint32_t domain_;
  const std::uint32_t max_sge_;
  hca::SharedReceiveQueueSink& sink_;
  std::uint16_t account_ = 0;
  ibv_srq* srq_ = nullptr;

  // Who reaps: every completion queue once for each queue pair. Taken before mutex_ and the queues' locks.
  mutable base::Mutex<locks::kVerbsSharedQueues> queues_mutex_;
  std::vector<CompletionQueue*> queues_;

  mutable base::Mutex<locks::kVerbsSharedReceiveQueue> mutex_;
  // Guarded by mutex_.
  std::uint32_t capacity_;
  std::uint32_t available_ = 0;  // posted and not known to be taken
  std::uint32_t limit_ = 0;      // 0: told, or none
  LastGrant last_;
  std::deque<WorkEntry> entries_;
  std::vector<WorkEntry*> free_;
};

}  // namespace softdat::verbs
