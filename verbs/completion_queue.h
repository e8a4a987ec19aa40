// SPDX-License-Identifier: BSD-2-Clause
// A completion queue of the device, and what has been taken from it and not been polled yet.
//
// What is staged here others have taken from the device: posters who need room, the event thread. Pollers take that
// first, and then straight from the device. The channel is armed while somebody waits; otherwise too, so that a broken
// connection is heard of, but then it rests for kRest after each event, and longer while its consumer polls, so that
// polling programs are left alone.
//
// Every request is signaled to us, wanted or not, so the device's queue has places for those that nobody will ask for
// beside the consumer's: as many as the queue pairs that send into it can post, where the device lets it grow;
// otherwise no more are posted at a time than there are places.
#pragma once

#include <atomic>
#include <boost/circular_buffer.hpp>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/assert.h"
#include "base/brief_lock.h"
#include "hca/completion_queue.h"
#include "verbs/event_thread.h"
#include "verbs/lock_places.h"
#include "verbs/work_ring.h"

namespace softdat::verbs {

class CompletionQueue final : public hca::CompletionQueue, private EventTarget {
 public:
  static hca::Result<std::unique_ptr<hca::CompletionQueue>> create(EventThread& events, Adapter& adapter,
                                                                   std::size_t capacity, hca::CompletionSink& sink);
  ~CompletionQueue() override;

  std::size_t poll(std::span<hca::Completion> out) override;
  std::size_t size() const override;
  std::size_t capacity() const override;
  hca::Outcome resize(std::size_t capacity) override;
  base::EventCount& event_count() override { return event_count_; }
  void arm(bool solicited_only) override;

  // --- For queue pairs and shared receive queues ---
  ibv_cq* cq() const { return cq_; }
  // Takes what the device has.
  void drain();
  // A completion that the device did not make. May not be called with a queue pair's mutex that a
  // completion needs (none does).
  void push(const hca::Completion& completion, bool is_quiet);
  // Receives of a shared queue are found by the queue pair's number.
  void attach(std::uint32_t number, QueuePair& queue_pair);
  // Requires that the device's queue pair is gone: nothing of it is left in the device's queue then.
  // What `dying` has left there nobody will hear of.
  void detach(std::uint32_t number, const QueuePair* dying);
  // A queue pair that can have so many sends outstanding comes, or goes.
  void expect_sends(std::uint32_t count);
  void release_sends(std::uint32_t count);
  // For a request whose success nobody will ask for, until it has completed. False when the device's queue might
  // overflow.
  bool count_unwanted();
  void discount_unwanted() {
    [[maybe_unused]] const std::uint32_t before = unwanted_.fetch_sub(1, std::memory_order_release);
    SOFTDAT_DEBUG_CHECK(before != 0, "a request that is discounted was counted");
  }

 private:
  enum class Armed : std::uint8_t { kOff, kSolicited, kAny };
  // A completion of the device's as the consumer gets it.
  struct Taken {
    hca::Completion completion;
    QueuePair* queue_pair = nullptr;
    bool is_quiet = false;
  };
  static constexpr base::Duration kRest = std::chrono::milliseconds(10);
  static constexpr base::Duration kRestOfPolled = std::chrono::milliseconds(50);

  CompletionQueue(EventThread& events, Adapter& adapter, std::size_t capacity, hca::CompletionSink& sink);
  void on_channel() override { hear(true); }
  void on_wake() override { hear(false); }
  void on_async_event(ibv_event_type type) override;

  void hear(bool has_fired);
  bool takes_sink_locked(bool has_fired);
  void drain_locked(const QueuePair* dying = nullptr);
  std::size_t take_staged_locked(std::span<hca::Completion> out);
  std::size_t take_from_device_locked(std::span<hca::Completion> out);
  // False when it is none of the usual ones.
  bool take_usual_locked(const ibv_wc& wc, hca::Completion& out);
  // False when its consumer does not want to hear of it.
  bool take_any_locked(const ibv_wc& wc, hca::Completion& out);
  bool take_locked(const ibv_wc& wc, const QueuePair* dying, Taken& taken);
  void stage_locked(const Taken& taken);
  void note_locked(const Taken& taken);
  void arm_device_locked(Armed how);
  void rearm_locked(bool has_fired);
  int grow_device_queue_locked(std::size_t wanted);
  void note_spare_locked();

  // Fixed after create().
  EventThread& events_;
  Adapter& adapter_;
  hca::CompletionSink& sink_;
  ibv_cq* cq_ = nullptr;
  base::EventCount event_count_;

  mutable base::Ordered<base::BriefLock, locks::kCompletionQueue> mutex_;
  // Guarded by mutex_.
  std::size_t capacity_;
  boost::circular_buffer<hca::Completion> staged_;
  std::unordered_map<std::uint32_t, QueuePair*> queue_pairs_;
  Armed sink_armed_ = Armed::kOff;
  Armed device_armed_ = Armed::kOff;
  bool was_polled_ = false;         // since the channel was last thought of
  bool prefers_solicited_ = false;  // its consumer has asked for that last
  bool has_news_ = false;           // since arm(): a waking completion
  bool has_failure_ = false;        // since arm(): one that counts as solicited
  bool is_unheard_ = false;         // a waking completion, since waiters were last notified
  bool has_overflowed_ = false;
  bool must_tell_overflow_ = false;
  std::size_t expected_sends_ = 0;  // of all queue pairs that send into it

  std::atomic<std::uint32_t> unwanted_{0};       // added to by posters, subtracted from by whoever completes
  std::atomic<std::uint32_t> most_unwanted_{0};  // what the device's queue holds beyond capacity_; under mutex_
};

}  // namespace softdat::verbs
