// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline_messages.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace softdat::base {
namespace {

// The oldest completion is forgotten if the program dequeues none of so many.
constexpr std::size_t kMostReady = 65536;

std::size_t index_of(TimelineMessages::Kind kind) {
  return static_cast<std::size_t>(kind);
}

}  // namespace

void TimelineMessages::connect(std::uint32_t connection, bool is_initiator) {
  // Completions of the last connection may still be dequeued; all else begins anew.
  std::deque<Pending> ready = std::move(ready_);
  *this = {};
  connection_ = connection;
  is_initiator_ = is_initiator;
  ready_ = std::move(ready);
}

// The connection, the direction, the kind, and the number of the message.
std::uint64_t TimelineMessages::flow_of(bool is_own, Kind kind, std::uint32_t number) const {
  if (connection_ == 0) return 0;
  const std::uint32_t direction = is_initiator_ == is_own ? 1u << 31 : 0;
  const std::uint32_t kind_bits = static_cast<std::uint32_t>(kind) << 29;
  return std::uint64_t{connection_} << 32 | direction | kind_bits | (number & ((1u << 29) - 1));
}

// Numbers posts by kind, as the peer numbers messages by kind: neither side needs to be told.
std::uint64_t TimelineMessages::post(const Post& post) {
  const std::uint64_t flow = flow_of(true, post.kind, posted_[index_of(post.kind)]++);
  if (post.writes_first) ++posted_[index_of(Kind::kWrite)];
  await_message(post.kind);
  if (post.writes_first) await_message(Kind::kWrite);
  sends_.push_back({.cookie = post.cookie,
                    .flow = flow,
                    .is_silent = post.is_silent,
                    .kind = post.kind,
                    .writes_first = post.writes_first});
  if (sends_.size() > kMostReady) drop_sends(1);
  return flow;
}

// The message of the post that is added next.
void TimelineMessages::await_message(Kind kind) {
  auto& unsent = unsent_[index_of(kind)];
  // Numbers of posts that have completed without a message (direct access) are dropped here, so the queue stays short.
  while (!unsent.empty() && unsent.front() < first_send_) unsent.pop_front();
  unsent.push_back(first_send_ + sends_.size());
}

void TimelineMessages::take_back() {
  if (sends_.empty()) return;
  const Pending taken = sends_.back();
  sends_.pop_back();
  forget_message(taken.kind);
  if (taken.writes_first) forget_message(Kind::kWrite);
}

// The message of the post that was removed last.
void TimelineMessages::forget_message(Kind kind) {
  auto& unsent = unsent_[index_of(kind)];
  if (!unsent.empty() && unsent.back() == first_send_ + sends_.size()) unsent.pop_back();
  --posted_[index_of(kind)];
}

std::optional<std::uint64_t> TimelineMessages::send(Kind kind) {
  Pending* const sent = take_unsent(kind);
  if (sent == nullptr || sent->kind != kind) return std::nullopt;
  sent->is_sent = true;
  return sent->flow;
}

// The next that waits for its message of that kind; null: none.
TimelineMessages::Pending* TimelineMessages::take_unsent(Kind kind) {
  auto& unsent = unsent_[index_of(kind)];
  while (!unsent.empty()) {
    const std::uint64_t number = unsent.front();
    unsent.pop_front();
    const std::uint64_t index = number - first_send_;
    if (index >= sends_.size()) continue;  // it has completed, or there was no memory to note it
    Pending& pending = sends_[static_cast<std::size_t>(index)];
    if (!pending.is_sent) return &pending;
  }
  return nullptr;
}

void TimelineMessages::drop_sends(std::size_t count) {
  SOFTDAT_DEBUG_CHECK(count <= sends_.size(), "sends that complete were noted", count, sends_.size());
  sends_.erase(sends_.begin(), sends_.begin() + static_cast<std::ptrdiff_t>(count));
  first_send_ += count;
}

std::uint64_t TimelineMessages::place(Kind kind) {
  return flow_of(false, kind, placed_[index_of(kind)]++);
}

std::uint64_t TimelineMessages::next_receive() const {
  return flow_of(false, Kind::kSend, placed_[index_of(Kind::kSend)]);
}

TimelineMessages::Completed TimelineMessages::complete(const Completion& completion) {
  const Pending done = take_completed(completion);
  ready_.push_back(done);
  if (ready_.size() > kMostReady) ready_.pop_front();
  return {.flow = done.flow, .was_placed_here = !done.is_receive && !done.is_sent && completion.is_success};
}

// Completions come in the order of posts, but those of silent successes not at all.
TimelineMessages::Pending TimelineMessages::take_completed(const Completion& completion) {
  if (completion.is_receive) {
    return {.cookie = completion.cookie, .flow = flow_of(false, Kind::kSend, received_++), .is_receive = true};
  }
  const auto is_it = [&](const Pending& pending) {
    return pending.cookie == completion.cookie && !(pending.is_silent && completion.is_success);
  };
  const auto found = std::ranges::find_if(sends_, is_it);
  if (found == sends_.end()) return {.cookie = completion.cookie};
  const Pending taken = *found;
  drop_sends(static_cast<std::size_t>(found - sends_.begin()) + 1);
  return taken;
}

// A cookie may be used again; the oldest completion with it is meant.
std::uint64_t TimelineMessages::dequeue(std::uint64_t cookie, std::optional<bool> is_receive) {
  const auto is_it = [&](const Pending& pending) {
    return pending.cookie == cookie && (!is_receive || pending.is_receive == *is_receive);
  };
  const auto found = std::ranges::find_if(ready_, is_it);
  if (found == ready_.end()) return 0;
  const std::uint64_t flow = found->flow;
  ready_.erase(found);
  return flow;
}

}  // namespace softdat::base
