// SPDX-License-Identifier: BSD-2-Clause
// NotificationState: whether the consumer of a completion queue must be told of completions: its sink, which was armed,
// and its waiting threads. It also tells the sink once of an overflow.
//
// Owned by its CompletionQueue. All calls REQUIRE that queue's lock.
#pragma once

#include <utility>

#include "hca/types.h"
#include "verbs/device_completion_queue.h"

namespace softdat::verbs {

class NotificationState {
 public:
  // A completion has come; is_quiet: it wakes nobody. Counts even if the consumer has polled it already, because this
  // completion may be the one that fired the channel.
  void on_completion(const hca::Completion& completion, bool is_quiet) {
    if (completion.status != hca::CompletionStatus::kSuccess) has_failure_ = true;
    if (!is_quiet) on_waking();
  }
  // The same for a success that is not quiet.
  void on_waking() { has_news_ = is_unheard_ = true; }

  // Completions that came before do not count.
  void arm_sink(Armed how) {
    has_news_ = has_failure_ = false;
    sink_armed_ = preferred_ = how;
  }
  Armed sink_armed() const { return sink_armed_; }
  // What the consumer has armed last.
  Armed preferred() const { return preferred_; }

  // True once after arm_sink(): the sink must be called. Only an event of the channel tells that a completion was
  // solicited.
  bool takes_sink(bool has_fired) {
    const bool is_due = sink_armed_ == Armed::kAny
                            ? has_news_
                            : sink_armed_ == Armed::kSolicited && (has_failure_ || (has_fired && has_news_));
    if (!is_due) return false;
    sink_armed_ = Armed::kOff;
    has_news_ = has_failure_ = false;
    return true;
  }
  // True once after waking completions: waiting threads must be notified.
  bool takes_waiters() { return std::exchange(is_unheard_, false); }
  // Whether waiting threads, or the sink without an event of the channel, must be told.
  bool is_due() const { return is_unheard_ || (sink_armed_ == Armed::kAny && has_news_); }

  // Completions were lost. True: for the first time since on_resize(); the caller tells the sink now or later.
  bool on_overflow() { return !std::exchange(has_overflowed_, true); }
  void on_resize() { has_overflowed_ = false; }
  void tell_overflow_later() { owes_overflow_ = true; }
  // True once after tell_overflow_later().
  bool takes_overflow() { return std::exchange(owes_overflow_, false); }

  void on_poll() { was_polled_ = true; }
  // Whether the consumer has polled since the last call.
  bool takes_polled() { return std::exchange(was_polled_, false); }

 private:
  Armed sink_armed_ = Armed::kOff;
  Armed preferred_ = Armed::kAny;
  bool was_polled_ = false;
  bool has_news_ = false;     // since arm_sink(): a waking completion
  bool has_failure_ = false;  // since arm_sink(): one that counts as solicited
  bool is_unheard_ = false;   // a waking completion, since waiting threads were last notified
  bool has_overflowed_ = false;
  bool owes_overflow_ = false;  // to the sink
};

}  // namespace softdat::verbs
