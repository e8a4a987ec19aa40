// SPDX-License-Identifier: BSD-2-Clause
// OwnerSink: how a connection reaches the owner of its channel: the owner's sink, and the tap that may stand before it.
// Once detached, it calls neither. Baton only.
#pragma once

#include <utility>

#include "transport/tap.h"
#include "transport/tcp/negotiation.h"

namespace softdat::transport::tcp {

class OwnerSink {
 public:
  void attach(ChannelSink& sink) { sink_ = &sink; }
  // Returns the sink, for a last word; null: it was detached before.
  ChannelSink* detach() { return std::exchange(sink_, nullptr); }
  // REQUIRES: attached.
  ChannelSink* operator->() const { return sink_; }

  // Calls on_established(): the sink may close the connection.
  void establish(const Offer& peer);
  bool is_established() const { return is_established_; }

  // Null: nobody watches, or the owner hears nothing more.
  ChannelTap* tap() const { return tap_ && sink_ != nullptr ? tap_.operator->() : nullptr; }
  void join_tap(Tapper& tapper, const Terms& terms);
  void end_tap() { tap_.close(sink_); }

 private:
  ChannelSink* sink_ = nullptr;
  TapPoint tap_;
  bool is_established_ = false;
};

}  // namespace softdat::transport::tcp
