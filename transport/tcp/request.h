// SPDX-License-Identifier: BSD-2-Clause
// Request and TcpChannel: the owner's view of a connection before and after the answer. Both forward to the connection,
// which may outlive them: it goes on until its socket is gone.
//
// Ownership: the PortSink or the caller of Carrier::connect() owns them. They must be gone before the carrier.
// Threads: every call and the destructors REQUIRE the baton. No call waits.
// Errors: as Channel and InboundRequest say (transport/channel.h, transport/carrier.h).
#pragma once

#include <memory>
#include <new>
#include <span>
#include <utility>

#include "base/assert.h"
#include "transport/carrier.h"
#include "transport/tcp/connection.h"

namespace softdat::transport::tcp {

// The destructor closes abruptly. REQUIRES of all calls but attach(): a connection.
class TcpChannel final : public Channel {
 public:
  explicit TcpChannel(SharedConnection connection) : connection_(std::move(connection)) {}
  ~TcpChannel() override {
    if (connection_) connection_->teardown().close(CloseMode::kAbrupt);
  }
  // Gives the channel its connection, once.
  void attach(const SharedConnection& connection) {
    SOFTDAT_DEBUG_CHECK(connection_ == nullptr, "a channel gets its connection once");
    connection_ = connection;
  }

  SendResult send(const Message& message, PayloadSource* payload) override {
    return connection_->sender().send(message, payload);
  }
  // To peers of our own kind.
  ShortSends short_sends() const override {
    return (connection_->features() & kNotes) != 0 ? ShortSends::kWithBaton : ShortSends::kNone;
  }
  bool send_short(const ShortSend& short_send) override { return connection_->sender().send_short(short_send); }
  void flush() override { connection_->sender().flush(); }
  void terminate(const TerminateCode& code) override { connection_->receiver().terminate(code); }
  // Bytes in the socket cannot be dropped, so the modes differ only in how long the carrier's destructor waits.
  void close(CloseMode mode) override { connection_->teardown().close(mode); }
  void cut() override { connection_->teardown().cut(); }
  bool cut_within(const Message& message, PayloadSource* payload) override {
    connection_->sender().cut_within(message, payload);
    return true;
  }
  bool damage_next(const Damage& damage) override {
    connection_->sender().damage_next(damage);
    return true;
  }
  Features features() const override { return connection_->features(); }
  const char* carrier_name() const override { return "tcp"; }

 private:
  SharedConnection connection_;  // null until attached
};

// The destructor of an unanswered request refuses the peer.
class Request final : public InboundRequest {
 public:
  explicit Request(SharedConnection connection) : connection_(std::move(connection)) {}
  ~Request() override {
    try {
      if (is_alive()) connection_->responder().refuse(Verdict::kNoListener, {});
    } catch (const std::bad_alloc&) {
      connection_->teardown().close(CloseMode::kAbrupt);  // without a refusal
    }
  }

  const Offer& offer() const override { return connection_->responder().peer_offer(); }
  bool is_alive() const override { return connection_->responder().is_requested(); }
  std::unique_ptr<Channel> accept(const Offer& reply, ChannelSink& sink) override {
    auto channel = std::make_unique<TcpChannel>(nullptr);  // first: an accepted connection needs one
    if (!connection_->responder().accept(reply, sink)) return nullptr;
    channel->attach(connection_);
    return channel;
  }
  void reject(std::span<const std::byte> private_data) override { connection_->responder().reject(private_data); }

 private:
  const SharedConnection connection_;
};

}  // namespace softdat::transport::tcp
