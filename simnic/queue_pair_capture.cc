// SPDX-License-Identifier: BSD-2-Clause
// A queue pair in a process that is captured while it runs. All with the baton.
#include "simnic/engine.h"
#include "simnic/queue_pair.h"

namespace softdat::simnic {

capture::SharedPlace QueuePair::capture_place() const {
  const capture::LiveNic* const live = nic_.engine.live();
  return live == nullptr ? nullptr : live->place();
}

// With each try of a connect.
void QueuePair::capture_ask() {
  leave_capture();
  if (const auto place = capture_place()) {
    join_capture(place);
    tap_->connection.ask(attempt_->remote(), attempt_->request());
  }
}

void QueuePair::capture_answer(const transport::Offer& request, const transport::Offer& reply) {
  leave_capture();
  if (const auto place = capture_place()) {
    join_capture(place);
    tap_->connection.answer(request, reply);
  }
}

// Posters find the connection not plain, and direct access shut, so that every message comes by here.
void QueuePair::join_capture(const capture::SharedPlace& place) {
  tap_ = std::make_unique<Tap>(place);
  const std::lock_guard lock(send_mutex_);
  direct_.suspend();
}

void QueuePair::leave_capture() {
  if (!tap_) return;
  tap_->connection.on_close();
  tap_.reset();
  const std::lock_guard lock(send_mutex_);
  direct_.resume();
}

// A handshake that is under way is not seen; the connection that comes of it shows one without private data.
bool QueuePair::begin_capture(const capture::SharedPlace& place) {
  const bool is_beginning = state() == hca::QueuePairState::kConnecting && channel_ && attempt_;
  if (!is_open() && !is_beginning) return false;
  const Entry entry(*this);
  if (is_beginning) {
    capture_ask();
    return false;
  }
  join_capture(place);
  transport::Offer own, peer;
  own.address = nic_.address;
  peer.address = remote_address();
  transport::Offer& request = is_connector_ ? own : peer;
  transport::Offer& reply = is_connector_ ? peer : own;
  request.service_id = reply.service_id = service_asked_;
  request.features = reply.features = channel_->features();
  if (is_connector_) {
    tap_->connection.ask(peer.address, request);
  } else {
    tap_->connection.answer(request, reply);
  }
  tap_->connection.on_established(peer, channel_->features(),
                                  std::string(channel_->carrier_name()) + ", since before the capture began");
  return true;
}

// The connection goes on, and the capture shows no end of it.
void QueuePair::end_capture() {
  if (!tap_) return;
  const Entry entry(*this);
  tap_.reset();
  const std::lock_guard lock(send_mutex_);
  direct_.resume();
}

}  // namespace softdat::simnic
