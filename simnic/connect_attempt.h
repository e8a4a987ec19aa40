// SPDX-License-Identifier: BSD-2-Clause
// ConnectAttempt: what a connect asked for, and when it asks again. A program often tells its peer over a socket of its
// own where it will listen, and listens a moment later: the connect that finds no listener therefore tries again, with
// growing pauses, until its grace is over (docs/decisions/0012-connect-grace.md). Owned by the baton.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "transport/offer.h"

namespace softdat::simnic {

class ConnectAttempt {
 public:
  // Begins `now`; the owner gives up at `deadline`, whatever the grace.
  ConnectAttempt(const transport::Address& remote, transport::Offer request, base::Time now, base::Duration grace,
                 base::Time deadline)
      : remote_(remote), request_(std::move(request)), deadline_(deadline), end_(base::deadline_after(now, grace)) {}

  const transport::Address& remote() const { return remote_; }
  const transport::Offer& request() const { return request_; }
  base::Time deadline() const { return deadline_; }

  // No listener answered. When to try again; nothing if the grace is over or the deadline comes first. The last try is
  // at the end of the grace.
  std::optional<base::Time> next_try(base::Time now) {
    if (now >= end_) return std::nullopt;
    has_found_nobody_ = true;
    const base::Time next = std::min(base::deadline_after(now, pause_), end_);
    pause_ = std::min<base::Duration>(2 * pause_, kLongestPause);
    if (next >= deadline_) return std::nullopt;
    return next;
  }

  // What the consumer is told of the last refusal. An adapter that answered "nobody listens" may have closed since and
  // be unreachable now: the earlier answer counts.
  transport::Refusal last_word(transport::Refusal refusal) const {
    return has_found_nobody_ && refusal == transport::Refusal::kUnreachable ? transport::Refusal::kNoListener : refusal;
  }

 private:
  static constexpr base::Duration kShortestPause = std::chrono::milliseconds(1);
  static constexpr base::Duration kLongestPause = std::chrono::milliseconds(16);

  const transport::Address remote_;
  const transport::Offer request_;
  const base::Time deadline_;
  const base::Time end_;
  base::Duration pause_ = kShortestPause;
  bool has_found_nobody_ = false;
};

}  // namespace softdat::simnic
