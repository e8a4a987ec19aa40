// SPDX-License-Identifier: BSD-2-Clause
// How connections go. end_locked() is the one way into kError: the device is told to flush, and the
// event thread sees to it that everything is flushed before it tells the consumer.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "verbs/completion_queue.h"
#include "verbs/queue_pair.h"

namespace softdat::verbs {

using hca::ConnectionEventType;
using hca::QueuePairState;

namespace {

// A device that has not flushed by then will not.
constexpr base::Duration kPatience = std::chrono::milliseconds(200);
constexpr base::Duration kLook = std::chrono::milliseconds(1);
constexpr base::Duration kLookForBeginnings = std::chrono::milliseconds(10);
constexpr base::Duration kLongestDrainPause = std::chrono::milliseconds(16);

}  // namespace

hca::Outcome QueuePair::disconnect(bool graceful) {
  const std::lock_guard lock(mutex_);
  switch (state()) {
    case QueuePairState::kIdle:
      return hca::fail(hca::Error::kInvalidState);
    case QueuePairState::kError:
      return hca::Done{};
    case QueuePairState::kDisconnecting:
      if (graceful) return hca::Done{};
      break;
    case QueuePairState::kConnected: {
      if (!graceful) break;
      const std::lock_guard posters(send_mutex_);  // what is being posted now still goes out
      advance_locked(QueuePairEvent::kDrain);
      drain_pause_ = kLook;
      device_.events.post(*this);
      return hca::Done{};
    }
    case QueuePairState::kConnecting:
    case QueuePairState::kAccepting:
      break;
  }
  end_locked(QueuePairEvent::kCut, ConnectionEventType::kDisconnected);
  return hca::Done{};
}

void QueuePair::end_locked(QueuePairEvent event, ConnectionEventType news, hca::Bytes private_data,
                           bool is_peers_fault) {
  base::require_lock(locks::kVerbsQueuePair);
  const QueuePairState before = state();
  {
    // Whoever is posting has done so before the state changes, or sees that it has.
    const std::scoped_lock posters(send_mutex_, recv_mutex_);
    if (!advance_locked(event)) return;
    if (event == QueuePairEvent::kCut) was_cut_.store(true, std::memory_order_seq_cst);
    is_flushed_ = false;
  }
  base::check(state() == QueuePairState::kError, "a connection ends in kError", static_cast<std::uint64_t>(state()),
              static_cast<std::uint64_t>(event));
  tell_ended_locked(news);
  const bool was_up = before == QueuePairState::kConnected || before == QueuePairState::kDisconnecting ||
                      before == QueuePairState::kAccepting;
  ending_ = Ending{.news = {news, std::move(private_data), std::nullopt, is_peers_fault},
                   .patience = base::Clock::now() + kPatience,
                   .beginnings = was_up ? device_.withheld.last() : 0};
  if (was_up) library().disconnect(id_);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  if (qp_ != nullptr) library().modify_qp(qp_, &attributes, IBV_QP_STATE);
  device_.events.bury(std::exchange(id_, nullptr));
  device_.events.post(*this);
}

void QueuePair::on_async_event(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      was_peers_fault_.store(true, std::memory_order_seq_cst);
      [[fallthrough]];
    case IBV_EVENT_QP_FATAL:
      has_failed_.store(true, std::memory_order_seq_cst);
      return on_wake();
    case IBV_EVENT_COMM_EST: {
      // The peer's data is here before its confirmation.
      const std::lock_guard lock(mutex_);
      if (id_ != nullptr) library().notify(id_, type);
      return;
    }
    default:
      return;
  }
}

// Each way out calls a sink at most once, as the last it does: it may be our end.
void QueuePair::on_wake() {
  if (is_dying_.load(std::memory_order_seq_cst)) return;
  if (const auto news = take_held()) {
    if (sink_ != nullptr) sink_->on_connection_event(*news);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    const bool is_up = state() == QueuePairState::kConnected || state() == QueuePairState::kDisconnecting;
    if (is_up && has_failed_.load(std::memory_order_seq_cst)) {
      end_locked(QueuePairEvent::kEnd, ConnectionEventType::kBroken, {},
                 was_peers_fault_.load(std::memory_order_seq_cst));
    } else if (state() == QueuePairState::kConnecting && base::Clock::now() >= deadline_) {
      end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kTimedOut);
    } else if (state() == QueuePairState::kDisconnecting) {
      go_on_draining();
    }
    const bool is_over =
        state() == QueuePairState::kConnected && recvs_outstanding() > hard_limit_.load(std::memory_order_seq_cst);
    if (is_over) end_locked(QueuePairEvent::kEnd, ConnectionEventType::kBroken);
  }
  const std::uint32_t soft = soft_limit_.load(std::memory_order_seq_cst);
  if (soft != hca::kNoRecvLimit && recvs_outstanding() > soft) {
    soft_limit_.store(hca::kNoRecvLimit, std::memory_order_seq_cst);
    device_.events.post(*this);
    if (sink_ != nullptr) sink_->on_recv_limit();
    return;
  }
  finish_end();
}

// The device tells when requests complete; only that nothing is left it does not.
void QueuePair::go_on_draining() {
  send_queue_.drain();
  const bool is_drained = [&] {
    const std::lock_guard posters(send_mutex_);
    return sends_.is_empty() || !sends_.front().is_with_device;
  }();
  if (is_drained) return end_locked(QueuePairEvent::kCut, ConnectionEventType::kDisconnected);
  device_.events.wake_at(*this, base::Clock::now() + drain_pause_);
  drain_pause_ = std::min(drain_pause_ * 2, kLongestDrainPause);
}

bool QueuePair::is_flushed_by_device() {
  const std::scoped_lock posters(send_mutex_, recv_mutex_);
  send_queue_.drain();
  recv_queue_.drain();
  const bool are_sends_back = sends_.is_empty() || !sends_.front().is_with_device;
  const bool are_recvs_back = recvs_.is_empty() || !recvs_.front().is_with_device;
  return are_sends_back && are_recvs_back;
}

void QueuePair::flush_ring_locked(WorkRing& ring, CompletionQueue& queue) {
  while (!ring.is_empty()) {
    WorkEntry& oldest = ring.front();
    const WorkEntry entry = oldest;
    on_complete(oldest, hca::CompletionStatus::kFlushed);
    queue.push({.wr_id = entry.cookie,
                .qp_context = entry.window == nullptr ? context_ : entry.window->context(),
                .length = 0,
                .status = hca::CompletionStatus::kFlushed,
                .opcode = entry.opcode,
                .solicited = false},
               (entry.flags & hca::kQuiet) != 0);
  }
}

// After it nothing is with the device. What it has not flushed cannot come back any more: its queue
// pair is gone.
void QueuePair::flush() {
  const bool is_back = is_flushed_by_device();
  const std::scoped_lock posters(send_mutex_, recv_mutex_);
  if (!is_back) destroy_device_queue_pair(nullptr);
  flush_ring_locked(sends_, send_queue_);
  flush_ring_locked(recvs_, recv_queue_);
  base::check(sends_.is_empty() && recvs_.is_empty(), "a flush leaves nothing outstanding", sends_.outstanding(),
              recvs_.outstanding());
  is_flushed_ = true;
}

void QueuePair::finish_end() {
  std::optional<hca::ConnectionEvent> news;
  {
    const std::lock_guard lock(mutex_);
    if (!ending_ || held_) return;  // the beginning comes first; take_held() calls again
    if (!ending_->is_flushed) {
      if (!is_flushed_by_device() && base::Clock::now() < ending_->patience) {
        return device_.events.wake_at(*this, base::Clock::now() + kLook);
      }
      flush();
      ending_->is_flushed = true;
    }
    if (device_.withheld.has_any_until(ending_->beginnings)) {
      return device_.events.wake_at(*this, base::Clock::now() + kLookForBeginnings);
    }
    news = std::move(ending_->news);
    ending_.reset();
  }
  if (sink_ != nullptr) sink_->on_connection_event(*news);
}

// A connection's end cannot be undone on either kind of transport: the new life has a queue pair of
// its own.
hca::Outcome QueuePair::reset() {
  const std::lock_guard lock(mutex_);
  if (is_retired() || !next_state(state(), QueuePairEvent::kReset)) return hca::fail(hca::Error::kInvalidState);
  if (state() == QueuePairState::kIdle) return hca::Done{};
  if (ending_ && !ending_->is_flushed) {
    flush();
    ending_->is_flushed = true;
  }
  if (ending_) ending_->beginnings = 0;  // the new life's beginning must not come before it
  const std::scoped_lock posters(send_mutex_, recv_mutex_);
  base::check(state() == QueuePairState::kError && id_ == nullptr, "only an ended connection gets a new life",
              static_cast<std::uint64_t>(state()));
  destroy_device_queue_pair(nullptr);
  if (const hca::Outcome made = make_device_queue_pair(); !made) return made;
  advance_locked(QueuePairEvent::kReset);
  is_flushed_ = false;
  has_failed_.store(false, std::memory_order_seq_cst);
  was_peers_fault_.store(false, std::memory_order_seq_cst);
  is_failure_told_.store(false, std::memory_order_seq_cst);
  was_cut_.store(false, std::memory_order_seq_cst);
  has_heard_.store(false, std::memory_order_seq_cst);
  remote_ = {};
  port_ = 0;
  device_.events.post(*this);  // the old life's end may still have to be told
  return hca::Done{};
}

}  // namespace softdat::verbs
