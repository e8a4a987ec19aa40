// SPDX-License-Identifier: BSD-2-Clause
// WithheldEvent: the ESTABLISHED of a connection while the consumer must not hear of it yet. Some devices lose what is
// sent right behind the reply of a handshake (Traits), so the consumer learns of the connection when the peer has sent
// something, or after a pause.
//
// Threads: has_heard_peer() and on_message() run on the thread that takes the completion of a receive. All else
// REQUIRES the connection's mutex. Never allocates.
#pragma once

#include <atomic>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "hca/connection.h"
#include "verbs/withheld_established.h"

namespace softdat::verbs {

class WithheldEvent {
 public:
  explicit WithheldEvent(WithheldEstablished& all) : all_(all) {}
  ~WithheldEvent() { all_.remove(entry_); }
  WithheldEvent(const WithheldEvent&) = delete;
  WithheldEvent& operator=(const WithheldEvent&) = delete;

  // Must run before the connection's state changes: a thread that sees it connected finds the event here.
  void hold(hca::ConnectionEvent event, base::Time until) {
    event_ = std::move(event);
    until_ = until;
    all_.remove(entry_);  // of an earlier connection whose event was never told
    all_.add(entry_);
    is_held_.store(true, std::memory_order_seq_cst);
  }
  bool is_held() const { return event_.has_value(); }
  bool is_due(base::Time now) const { return has_heard_.load(std::memory_order_seq_cst) || now >= until_; }
  base::Time until() const { return until_; }
  // REQUIRES: is_held().
  hca::ConnectionEvent take() {
    hca::ConnectionEvent result = std::move(*event_);
    event_.reset();
    all_.remove(entry_);
    is_held_.store(false, std::memory_order_seq_cst);
    return result;
  }
  // Lets the events of others go first; may be repeated.
  void abandon() { all_.remove(entry_); }

  bool has_heard_peer() const { return has_heard_.load(std::memory_order_relaxed); }
  // The peer has sent something. True: take() is due.
  bool on_message() {
    has_heard_.store(true, std::memory_order_seq_cst);
    return is_held_.load(std::memory_order_seq_cst);
  }
  // For the next connection.
  void forget_peer() { has_heard_.store(false, std::memory_order_seq_cst); }

 private:
  WithheldEstablished& all_;
  std::atomic<bool> has_heard_{false};
  std::atomic<bool> is_held_{false};  // as event_, for on_message()
  std::optional<hca::ConnectionEvent> event_;
  base::Time until_{};
  WithheldEntry entry_;  // in all_ while the event is held
};

}  // namespace softdat::verbs
