// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/upcall_thread.h"

#include <atomic>
#include <boost/lockfree/queue.hpp>

#include "base/assert.h"
#include "base/event_count.h"
#include "base/lock_order.h"
#include "base/own_threads.h"

namespace softdat::object {

// One thread at a time pushes and one pops. With more, the queue's list of free nodes would not be safe: its tags have
// 16 bits (docs/decisions/0021-lockfree-and-asio.md).
struct UpcallThread::Queue {
  struct Call {
    WaitAgent agent;
    Handle evd;
  };
  boost::lockfree::queue<Call> calls{0};  // reserve() gives it nodes
  // The number of calls that are reserved or posted and have not been taken. reserve() adds; release() subtracts, and
  // so does the thread when the node is free again.
  std::atomic<std::size_t> promised{0};
  // What the thread waits for; changed after the push (seq_cst, as EventCount asks) and by the thread after the pop.
  std::atomic<std::size_t> posted{0};
  std::atomic<bool> is_ending{false};
  base::EventCount news;
};

UpcallThread::UpcallThread()
    : queue_(std::make_shared<Queue>()), thread_(base::start_own_thread([queue = queue_] { run(*queue); })) {}

UpcallThread::~UpcallThread() {
  base::require_no_lock();  // an agent that is being called may want it
  queue_->is_ending.store(true, std::memory_order_seq_cst);
  queue_->news.notify();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

// The IA's lock is held here, in release() and in post(): the queue takes one pusher at a time.
void UpcallThread::reserve() {
  SOFTDAT_DEBUG_CHECK(queue_->promised.load(std::memory_order_relaxed) <= room_, "each reserved call has room",
                      queue_->promised.load(std::memory_order_relaxed), room_);
  if (queue_->promised.load(std::memory_order_acquire) == room_) {
    queue_->calls.reserve(1);
    ++room_;
  }
  queue_->promised.fetch_add(1, std::memory_order_relaxed);
}

void UpcallThread::release() {
  [[maybe_unused]] const std::size_t promised = queue_->promised.fetch_sub(1, std::memory_order_release);
  SOFTDAT_DEBUG_CHECK(promised > 0, "a call that is released was reserved");
}

void UpcallThread::post(WaitAgent agent, Handle evd) {
  SOFTDAT_DEBUG_CHECK(agent.function != nullptr, "a call is posted for an agent");
  base::check(queue_->calls.bounded_push({agent, evd}), "an agent's call has been reserved");
  queue_->posted.fetch_add(1, std::memory_order_seq_cst);
  queue_->news.notify();
}

void UpcallThread::run(Queue& queue) {
  for (;;) {
    const auto ticket = queue.news.prepare();
    const bool is_ending = queue.is_ending.load(std::memory_order_seq_cst);
    if (queue.posted.load(std::memory_order_seq_cst) == 0 && !is_ending) {
      queue.news.wait(ticket, base::kNever);
      continue;
    }
    queue.news.cancel();
    Queue::Call call;
    // Empty only once the IA ends: calls that were posted are made before.
    if (!queue.calls.pop(call)) return;
    [[maybe_unused]] const std::size_t posted = queue.posted.fetch_sub(1, std::memory_order_relaxed);
    SOFTDAT_DEBUG_CHECK(posted > 0, "a call is taken after it was posted");
    [[maybe_unused]] const std::size_t promised = queue.promised.fetch_sub(1, std::memory_order_release);
    SOFTDAT_DEBUG_CHECK(promised > 0, "a call that is taken was reserved");
    // Marks that the consumer's code runs: an agent may call every function of the API.
    const base::ConsumersTurn turn;
    base::require_no_lock();
    call.agent.function(call.agent.instance_data, call.evd);
  }
}

}  // namespace softdat::object
