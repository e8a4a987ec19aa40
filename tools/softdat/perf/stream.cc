// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/stream.h"

#include <algorithm>
#include <utility>

namespace softdat::tools::perf {

Stream::Stream(Lanes& lanes, const Case& what, bool sends, bool receives, LivenessCheck check)
    : lanes_(lanes),
      checker_(lanes),
      what_(what),
      check_(std::move(check)),
      window_(std::min(what.window, lanes.largest_window())),
      // Half a window at most completes at once, so that the pipe does not run empty.
      signal_every_(std::min(what.signal_every, std::max(window_ / 2, 1u))),
      to_send_(sends ? what.iterations : 0),
      to_receive_(receives && consumes_receive(what.operation) ? what.iterations : 0),
      takes_receives_(to_receive_ != 0),
      in_flight_(lanes.setup().active),
      silent_(lanes.setup().active),
      arrivals_(lanes.setup().active),
      fetched_(lanes.setup().active) {}

void Stream::prepare() {
  checker_.write_all_outgoing(what_.size);
  for (std::uint32_t lane = 0; lane < lanes_.setup().active; ++lane) lanes_.places().word(lane) = 0;
  const std::uint64_t first = std::min(to_receive_, receives_each() * lanes_.setup().active);
  while (receives_posted_ < first) post_receive();
}

// Twice the window, so that new ones are there before the last is taken.
std::uint64_t Stream::receives_each() const {
  return std::min(2 * window_, lanes_.largest_receives());
}

void Stream::look_at_last() {
  const std::uint64_t last = std::min(what_.iterations, lanes_.places().count());
  for (std::uint64_t i = what_.iterations - last; i < what_.iterations; ++i) {
    checker_.look_at_incoming(i, what_.size);
  }
}

void Stream::post_receive() {
  lanes_.post_receive(receives_posted_, what_.size);
  ++receives_posted_;
}

// Posts, reaps and receives in turns; a turn that moved nothing waits.
void Stream::run() {
  while (!is_done()) {
    bool moved = post_some();
    if (completed_ < posted_) moved |= reap_some();
    if (takes_receives_) moved |= receive_some();
    if (!moved) wait();
  }
}

bool Stream::post_some() {
  const std::uint64_t before = posted_;
  while (posted_ < to_send_ && post_next()) {
  }
  return posted_ != before;
}

bool Stream::post_next() {
  const std::uint32_t lane = lanes_.places().lane_of(posted_);
  if (in_flight_[lane] == window_) return false;
  if (!fetches(what_.operation)) checker_.write_outgoing(posted_, what_.size);
  lanes_.post(what_.operation, posted_, what_.size, take_credits(posted_, lane));
  ++in_flight_[lane];
  ++posted_;
  return true;
}

// Every `signal_every`-th message of an endpoint, and its last, completes for itself and those before it.
std::uint32_t Stream::take_credits(std::uint64_t number, std::uint32_t lane) {
  const bool is_last = number + lanes_.setup().active >= to_send_;
  if (++silent_[lane] < signal_every_ && !is_last) return 0;
  return std::exchange(silent_[lane], 0);
}

// Stops as soon as there is room to post, because posting keeps the wire busy.
bool Stream::reap_some() {
  DAT_EVENT event;
  bool any = false;
  while (completed_ < posted_ && lanes_.requests().try_take(event)) {
    on_request(event);
    any = true;
    // A slow peer's window opens one by one; a fast one's never closes.
    if (posted_ < to_send_ && in_flight_[lanes_.places().lane_of(posted_)] < window_) break;
  }
  return any;
}

void Stream::on_request(const DAT_EVENT& event) {
  const Credit credit = Lanes::credit_of(completion_of(event));
  in_flight_[credit.lane] -= credit.requests;
  completed_ += credit.requests;
  if (!checker_.verify() || !fetches(what_.operation)) return;
  for (std::uint32_t i = 0; i < credit.requests; ++i) {
    const std::uint64_t turn = fetched_[credit.lane]++;
    checker_.look_at_fetched(what_.operation, turn * lanes_.setup().active + credit.lane, what_.size);
  }
}

bool Stream::receive_some() {
  DAT_EVENT event;
  bool any = false;
  while (arrived_ < to_receive_ && lanes_.receives().try_take(event)) {
    on_receive(event);
    any = true;
    if (posted_ < to_send_) break;
  }
  return any;
}

void Stream::on_receive(const DAT_EVENT& event) {
  const std::uint32_t lane = Lanes::credit_of(completion_of(event)).lane;
  const std::uint64_t turn = arrivals_[lane]++;
  ++arrived_;
  checker_.look_at_received(what_.operation, event, turn * lanes_.setup().active + lane, what_.size);
  // The place that became free is that endpoint's.
  const std::uint64_t next = (turn + receives_each()) * lanes_.setup().active + lane;
  if (next < to_receive_) lanes_.post_receive(next, what_.size);
}

void Stream::wait() {
  constexpr std::uint64_t kTurnsBetweenChecks = 1u << 20;
  if (lanes_.setup().waiting == Waiting::kPoll) {
    if (++vain_turns_ % kTurnsBetweenChecks == 0) check_();
    return;
  }
  // Blocking is one way only, so there is one queue to wait for.
  DAT_EVENT event;
  if (to_send_ != 0) {
    lanes_.requests().take(Waiting::kBlock, check_, event);
    on_request(event);
  } else {
    lanes_.receives().take(Waiting::kBlock, check_, event);
    on_receive(event);
  }
}

}  // namespace softdat::tools::perf
