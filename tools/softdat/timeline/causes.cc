// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/timeline/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace softdat::tools::timeline {
namespace {

using base::trace::Name;

// Below that a program polls without a break, and a message is on its way.
constexpr std::uint64_t kPrompt = 50'000;  // nanoseconds

// In this order a moment belongs to the first of several: a queue of depth one is what is left when nothing else
// explains a wait.
enum Kind : std::size_t { kReceive, kRegistration, kRoom, kPause, kLatePoll, kWakeUp, kDepthOne, kKinds };

struct Text {
  const char* key;
  const char* what;
  const char* remedy;
};
constexpr std::array<Text, kKinds> kTexts{{
    {"late-receives", "messages came before their receives were posted",
     "post more with dat_ep_post_recv before the peer sends, or share them with dat_srq_post_recv"},
    {"registration", "memory was registered and freed between operations",
     "call dat_lmr_create once for memory that is used again, and dat_lmr_free at the end"},
    {"no-room", "posts were refused because a queue was full",
     "take completions with dat_evd_dequeue before the queue is full, or create the endpoint with a larger "
     "max_request_dtos"},
    {"sleeping-poll", "completions lay ready while a poll loop made a pause",
     "wait with dat_evd_wait or dat_cno_wait instead of sleeping between calls of dat_evd_dequeue"},
    {"late-poll", "messages and completions lay ready while their process did other work; its peer waits for that",
     "call dat_evd_dequeue more often, or take events in a thread of their own with dat_evd_wait"},
    {"wake-ups", "threads were woken up for single completions",
     "take all that is there with dat_evd_dequeue after each dat_evd_wait, wait with a larger threshold, or poll"},
    {"depth-one", "a thread posted one operation and did nothing before it had completed",
     "post several operations before taking completions, and suppress most with DAT_COMPLETION_SUPPRESS_FLAG"},
}};

class Spans {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    if (end > begin) spans_.push_back({begin, end});
  }
  void add_all(const Spans& other) { spans_.insert(spans_.end(), other.spans_.begin(), other.spans_.end()); }

  // Makes one span of those that touch.
  void merge() {
    std::ranges::sort(spans_, {}, &Span::begin);
    std::vector<Span> merged;
    for (const Span& span : spans_) {
      if (!merged.empty() && span.begin <= merged.back().end) {
        merged.back().end = std::max(merged.back().end, span.end);
      } else {
        merged.push_back(span);
      }
    }
    spans_ = std::move(merged);
  }

  // REQUIRES: both are merged.
  std::uint64_t length_without(const Spans& other) const {
    std::uint64_t sum = 0;
    auto next = other.spans_.begin();
    for (const Span& span : spans_) {
      sum += span.length();
      while (next != other.spans_.end() && next->end <= span.begin) ++next;
      for (auto at = next; at != other.spans_.end() && at->begin < span.end; ++at) {
        sum -= std::min(at->end, span.end) - std::max(at->begin, span.begin);
      }
    }
    return sum;
  }

 private:
  std::vector<Span> spans_;
};

struct Found {
  std::array<Spans, kKinds> spans;
  std::array<std::uint64_t, kKinds> counts{};

  void add(Kind kind, std::uint64_t begin, std::uint64_t end) {
    if (begin == 0 || end <= begin) return;
    spans[kind].add(begin, end);
    ++counts[kind];
  }
};

// From when a completion was ready until its thread took an event.
void look_at_dequeue(const Activity& activity, std::uint32_t thread, std::uint64_t completed, std::uint64_t dequeued,
                     Found& found) {
  if (completed == 0 || dequeued == 0) return;
  const Doing doing = doing_at(activity, thread, completed);
  if (doing != Doing::kOther) {
    return found.add(doing == Doing::kPause ? kPause : kWakeUp, completed,
                     call_at(activity, thread, completed)->span.end);
  }
  if (call_at(activity, thread, completed) != nullptr) return;  // a wait that finds it without having slept
  const std::uint64_t look = next_look(activity, thread, completed);
  const std::uint64_t end = look == 0 ? dequeued : std::min(look, dequeued);
  if (end > completed + kPrompt) found.add(kLatePoll, completed, end);
}

// A message is on its way until a thread of the receiver looks.
void look_at_way(const Activity& activity, const Operation& operation, Found& found) {
  if (operation.wire == 0 || operation.placed <= operation.wire + kPrompt) return;
  // It may have begun to wait only after the message was sent.
  const Call* call = call_at(activity, operation.peer_thread, operation.wire);
  if (call == nullptr) call = call_at(activity, operation.peer_thread, operation.placed);
  const std::uint64_t begin = call == nullptr ? operation.placed : std::max(call->span.begin, operation.wire);
  if (begin > operation.wire + kPrompt) found.add(kLatePoll, operation.wire, begin);
  if (call == nullptr) return;
  if (call->name == Name::kPause) found.add(kPause, begin, operation.placed);
  if (is_wait(*call) && call->sleeps > 0) found.add(kWakeUp, begin, operation.placed);
}

void look_at(const Activity& activity, const Operation& operation, Found& found) {
  if (operation.lacking != 0) {
    found.add(kReceive, operation.lacking, operation.placed);
  } else {
    look_at_way(activity, operation, found);
  }
  // What a thread does between a post and its only poll is no loss of its own.
  const bool is_late = doing_at(activity, operation.dequeuer, operation.completed) == Doing::kOther;
  if (!operation.is_alone || !is_late) {
    look_at_dequeue(activity, operation.dequeuer, operation.completed, operation.dequeued, found);
  }
  look_at_dequeue(activity, operation.peer_thread, operation.peer_completed, operation.peer_dequeued, found);
  if (operation.is_alone) found.add(kDepthOne, operation.posted, operation.dequeued);
}

// What a program registers before its first post is its preparation.
void look_at_registrations(const Activity& activity, Found& found) {
  std::uint64_t last_post = 0;
  for (const Operation& operation : activity.operations) last_post = std::max(last_post, operation.posted);
  for (std::size_t thread = 0; thread < activity.calls.size(); ++thread) {
    const std::uint64_t first = activity.first_post[thread];
    if (first == 0) continue;
    for (const Call& call : activity.calls[thread]) {
      const bool is_registration = call.name == Name::kRegister || call.name == Name::kUnregister;
      const bool is_between = call.span.begin > first && call.span.begin < last_post;
      if (is_registration && is_between) found.add(kRegistration, call.span.begin, call.span.end);
    }
  }
}

std::string counted(std::uint64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

}  // namespace

// The spans of a cause count only where no earlier cause has them, so the losses add up to no more than the whole.
std::vector<Cause> find_causes(const Trace&, const Activity& activity) {
  Found found;
  for (const Operation& operation : activity.operations) look_at(activity, operation, found);
  for (const Span& span : activity.room) found.add(kRoom, span.begin, span.end);
  look_at_registrations(activity, found);
  std::vector<Cause> causes;
  Spans earlier;
  const auto whole = static_cast<double>(std::max<std::uint64_t>(activity.whole.length(), 1));
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    Spans& spans = found.spans[kind];
    spans.merge();
    const std::uint64_t lost = spans.length_without(earlier);
    earlier.add_all(spans);
    earlier.merge();
    if (lost == 0) continue;
    causes.push_back({.key = kTexts[kind].key,
                      .what = fmt::format("{} ({})", kTexts[kind].what, counted(found.counts[kind])),
                      .remedy = kTexts[kind].remedy,
                      .lost = lost,
                      .share = static_cast<double>(lost) / whole,
                      .count = found.counts[kind]});
  }
  std::ranges::stable_sort(causes, std::greater<>(), &Cause::lost);
  return causes;
}

}  // namespace softdat::tools::timeline
