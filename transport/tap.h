// SPDX-License-Identifier: BSD-2-Clause
// Taps: a carrier shows its connections to a Tapper, from some moment on and until another
// (simnic/capture/live.h). A channel without a tap pays a comparison with null in send(), over TCP also for a
// ShortSend; one with a tap takes no ShortSends. All with the baton.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "transport/channel.h"
#include "transport/offer.h"

namespace softdat::transport {

// Stands between a channel and its sink: passes every call on, and may be destroyed within each, as the sink may close
// the channel. Owned by the channel.
class ChannelTap : public ChannelSink {
 public:
  virtual ~ChannelTap() = default;
  // The sink behind it.
  virtual ChannelSink& owner() = 0;

  // A message is given to the channel; the channel has taken the whole of it.
  virtual void before_send() = 0;
  virtual void on_sent(const Message& message, PayloadSource* payload) = 0;
  // The owner ends the channel.
  virtual void on_terminate(const TerminateCode& code) = 0;
  virtual void on_close() = 0;
  virtual void on_cut() = 0;
};

// A connection that was there before anybody watched.
struct ConnectionFacts {
  bool is_initiator = false;
  Address own{};  // with the port of the endpoint
  Address remote{};
  std::uint64_t service_id = 0;
  Features features = 0;
  const char* carrier_name = "";
};

// Watches all connections of a carrier. Each call may return null, for want of memory: then the connection is not
// watched. The tap passes on to `sink`.
class Tapper {
 public:
  virtual std::unique_ptr<ChannelTap> on_connect(const Address& remote, const Offer& request, const char* carrier_name,
                                                 ChannelSink& sink) = 0;
  virtual std::unique_ptr<ChannelTap> on_accept(const Offer& request, const Offer& reply, const char* carrier_name,
                                                ChannelSink& sink) = 0;
  virtual std::unique_ptr<ChannelTap> on_running(const ConnectionFacts& facts, ChannelSink& sink) = 0;
  virtual void on_reject(const Offer& request, std::span<const std::byte> private_data) = 0;

 protected:
  ~Tapper() = default;
};

// The place of a tap in a channel, whose pointer to its sink it bends.
class TapPoint {
 public:
  explicit operator bool() const { return tap_ != nullptr; }
  ChannelTap* operator->() const { return tap_.get(); }

  // `tap` may be null.
  void open(std::unique_ptr<ChannelTap> tap, ChannelSink*& sink) {
    if (!tap) return;
    tap_ = std::move(tap);
    sink = tap_.get();
  }
  // A sink that hears nothing more stays null.
  void close(ChannelSink*& sink) {
    if (tap_ && sink == tap_.get()) sink = &tap_->owner();
    tap_.reset();
  }

 private:
  std::unique_ptr<ChannelTap> tap_;
};

}  // namespace softdat::transport
