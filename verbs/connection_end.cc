// SPDX-License-Identifier: BSD-2-Clause
// How a connection ends, and how its queue pair gets ready for the next.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "verbs/connection.h"

namespace softdat::verbs {

using hca::ConnectionEventType;
using hca::QueuePairState;

namespace {

// A device that has not flushed by then will not.
constexpr base::Duration kFlushTime = std::chrono::milliseconds(200);
constexpr base::Duration kFlushPoll = std::chrono::milliseconds(1);
constexpr base::Duration kEstablishedPoll = std::chrono::milliseconds(10);
constexpr base::Duration kLongestDrainPause = std::chrono::milliseconds(16);

bool is_up(QueuePairState state) {
  return state == QueuePairState::kConnected || state == QueuePairState::kDisconnecting;
}

}  // namespace

hca::Outcome Connection::disconnect(bool graceful) {
  const std::lock_guard lock(mutex_);
  switch (hca::disconnect_step(state(), graceful)) {
    case hca::DisconnectStep::kRefuse:
      return hca::fail(hca::Error::kInvalidState);
    case hca::DisconnectStep::kNothing:
      break;
    case hca::DisconnectStep::kDrain: {
      const std::lock_guard posters(work_.sends().mutex());  // what is being posted now still goes out
      // The event thread looks from now on whether the sends have drained: end_if_due_locked().
      advance_locked(QueuePairEvent::kDrain);
      drain_pause_ = kFlushPoll;
      wake();
      break;
    }
    case hca::DisconnectStep::kCut:
      end_locked(QueuePairEvent::kCut, ConnectionEventType::kDisconnected);
      break;
  }
  return hca::Done{};
}

void Connection::end_locked(QueuePairEvent event, ConnectionEventType type, hca::Bytes private_data,
                            bool is_peers_fault) {
  base::require_lock(locks::kVerbsConnection);
  const QueuePairState before = state();
  {
    // A post that has begun reaches the device before the state changes; a later one sees kError.
    const auto posters = work_.lock();
    if (!advance_locked(event)) return;
    if (event == QueuePairEvent::kCut) failures_.set_cut();
  }
  base::check(state() == QueuePairState::kError, "a connection ends in kError", static_cast<std::uint64_t>(state()),
              static_cast<std::uint64_t>(event));
  failures_.report_end(type, id_.remote(), id_.service_id());
  // Only the end of a connection waits for the ESTABLISHED of others. A refusal may overtake them.
  const bool must_disconnect = is_up(before) || before == QueuePairState::kAccepting;
  final_ = FinalEvent{.event = {type, std::move(private_data), std::nullopt, is_peers_fault},
                      .flush_deadline = base::Clock::now() + kFlushTime,
                      .last_established = must_disconnect ? device_.withheld.last() : 0};
  // The id must live for this; release() gives it to the event thread, and its events reach nobody.
  if (must_disconnect) id_.disconnect();
  work_.device_pair().move_to_error();
  id_.release();
  wake();
}

// A request of ours that the peer has refused breaks the connection on both sides. The peer's disconnect may come
// before any thread has seen the failure of the request. On InfiniBand a peer's disconnect leaves the ibv_qp as it is:
// one that is in error has refused a request of the peer's, and not every device reports that by an event.
void Connection::on_disconnected(const CmEvent& event) {
  work_.sends().drain();
  work_.recvs().drain();
  const std::lock_guard lock(mutex_);
  if (!id_.is(event.id)) return;
  if (!is_up(state())) return refuse_locked(ConnectionEventType::kNonPeerRejected);
  if (!failures_.has_failed() && !device_.traits.is_iwarp && work_.device_pair().is_in_error()) {
    failures_.set_peers_fault();
    failures_.set_failed();
  }
  const bool is_orderly = event.type == RDMA_CM_EVENT_DISCONNECTED && !failures_.has_failed();
  end_locked(QueuePairEvent::kEnd, is_orderly ? ConnectionEventType::kDisconnected : ConnectionEventType::kBroken, {},
             failures_.is_peers_fault());
}

void Connection::on_async_event(ibv_event_type type) {
  switch (type) {
    // The device has refused a request of the peer's: malformed, or without the right.
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      failures_.set_peers_fault();
      [[fallthrough]];
    case IBV_EVENT_QP_FATAL:
      failures_.set_failed();
      return on_wake();
    case IBV_EVENT_COMM_EST: {
      const std::lock_guard lock(mutex_);
      return id_.notify(type);
    }
    default:
      return;
  }
}

// Calls the sink at most once, and last: the sink may destroy us.
void Connection::on_wake() {
  if (is_dying_.load(std::memory_order_seq_cst)) return;
  std::optional<hca::ConnectionEvent> event;
  bool is_over_soft_limit = false;
  {
    const std::lock_guard lock(mutex_);
    event = take_withheld_locked();
    if (!event) {
      end_if_due_locked();
      is_over_soft_limit = work_.recvs().take_soft_limit();
      if (is_over_soft_limit) {
        wake();
      } else {
        event = take_final_locked();
      }
    }
  }
  if (sink_ == nullptr) return;
  if (event) return sink_->on_connection_event(*event);
  if (is_over_soft_limit) sink_->on_recv_limit();
}

void Connection::end_if_due_locked() {
  base::require_lock(locks::kVerbsConnection);
  if (is_up(state()) && failures_.has_failed()) {
    return end_locked(QueuePairEvent::kEnd, ConnectionEventType::kBroken, {}, failures_.is_peers_fault());
  }
  if (state() == QueuePairState::kConnecting && base::Clock::now() >= id_.deadline()) {
    return end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kTimedOut);
  }
  // dat_ep_set_watermark(3DAT): exceeding the hard high watermark breaks the connection.
  if (state() == QueuePairState::kConnected && work_.recvs().is_over_hard_limit()) {
    return end_locked(QueuePairEvent::kEnd, ConnectionEventType::kBroken);
  }
  if (state() != QueuePairState::kDisconnecting) return;
  // The device reports completions, but not that none is left.
  const bool is_drained = [&] {
    const std::lock_guard posters(work_.sends().mutex());
    return work_.sends().is_device_done();
  }();
  if (is_drained) return end_locked(QueuePairEvent::kCut, ConnectionEventType::kDisconnected);
  device_.events.wake_at(*this, base::Clock::now() + drain_pause_);
  drain_pause_ = std::min(drain_pause_ * 2, kLongestDrainPause);
}

std::optional<hca::ConnectionEvent> Connection::take_final_locked() {
  base::require_lock(locks::kVerbsConnection);
  if (!final_ || withheld_.is_held()) return std::nullopt;
  if (!final_->is_flushed) {
    // Polled, because no event tells that the device has flushed. A device that is late loses its ibv_qp in flush().
    if (!work_.is_device_done() && base::Clock::now() < final_->flush_deadline) {
      device_.events.wake_at(*this, base::Clock::now() + kFlushPoll);
      return std::nullopt;
    }
    work_.flush();
    final_->is_flushed = true;
  }
  if (device_.withheld.has_any_until(final_->last_established)) {
    device_.events.wake_at(*this, base::Clock::now() + kEstablishedPoll);
    return std::nullopt;
  }
  hca::ConnectionEvent event = std::move(final_->event);
  final_.reset();
  return event;
}

bool Connection::has_told_all() const {
  const std::lock_guard lock(mutex_);
  return !final_ && !withheld_.is_held();
}

hca::Outcome Connection::reset() {
  const std::lock_guard lock(mutex_);
  const bool is_ready = !work_.recvs().is_retired() && next_state(state(), QueuePairEvent::kReset);
  if (!is_ready) return hca::fail(hca::Error::kInvalidState);
  if (state() == QueuePairState::kIdle) return hca::Done{};
  if (final_) {
    if (!final_->is_flushed) work_.flush();
    final_->is_flushed = true;
    final_->last_established = 0;  // the ESTABLISHED of the next connection must not come before it
  }
  const auto posters = work_.lock();
  base::check(state() == QueuePairState::kError && !id_.is_open(), "only an ended connection makes room for the next",
              static_cast<std::uint64_t>(state()));
  // Without memory the state stays kError, and the consumer may call reset() again.
  if (const hca::Outcome made = work_.renew_locked(*this); !made) return made;
  advance_locked(QueuePairEvent::kReset);
  failures_.clear();
  withheld_.forget_peer();
  id_.forget_peer();
  wake();  // the last event may still have to be told
  return hca::Done{};
}

}  // namespace softdat::verbs
