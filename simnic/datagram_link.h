// SPDX-License-Identifier: BSD-2-Clause
// DatagramLink: one exchange between two datagram queue pairs, and the channel that it opened. Every
// queue pair of this NIC may send over it, and what arrives goes to the one that its head names.
//
// Held by the queue pair that made the exchange and by the address handle that came of it: the
// channel stays open as long as either lives, and dies with the last. All of it with the baton.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/timers.h"
#include "simnic/connect_attempt.h"
#include "simnic/datagram.h"
#include "simnic/task.h"
#include "transport/carrier.h"

namespace softdat::simnic {

class DatagramLink;
class DatagramSwitch;
class Engine;

// Receives what the link hears.
class DatagramLinkSink {
 public:
  // The exchange has ended, well or not. Once. False when nothing can come of it, however it ended.
  virtual bool on_exchanged(DatagramLink& link, hca::ConnectionEventType type,
                            std::span<const std::byte> private_data) = 0;

 protected:
  ~DatagramLinkSink() = default;
};

class DatagramLink final : public std::enable_shared_from_this<DatagramLink>,
                           private transport::ChannelSink,
                           private transport::PayloadSource,
                           private Task,
                           private base::Timer {
 public:
  DatagramLink(Engine& engine, DatagramSwitch& datagrams, DatagramLinkSink& sink);
  ~DatagramLink() override;

  // Throws std::bad_alloc.
  void connect(std::unique_ptr<ConnectAttempt> attempt);
  // False when the peer has gone.
  bool accept(transport::InboundRequest& request, const transport::Offer& reply);
  // The queue pair that made the exchange goes.
  void forget_sink() { sink_ = nullptr; }

  // Takes a whole datagram, head included. It is dropped when too many wait, there is no memory, or the peer has gone.
  void send(std::vector<std::byte> datagram);

  bool is_over() const { return !channel_ && !attempt_; }
  std::uint64_t number() const { return number_; }
  bool is_passive() const { return is_passive_; }
  const transport::Address& remote() const { return remote_; }
  std::uint32_t peer_number() const { return peer_number_; }

 private:
  static constexpr std::size_t kMostWaiting = 4096;

  // Task, Timer, PayloadSource and ChannelSink.
  void run_with_baton() override;
  void on_timer() override;
  bool gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) override;
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_message(const transport::Message& message) override;
  void on_writable() override;
  void on_established(const transport::Offer& peer) override;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) override;

  void conclude(hca::ConnectionEventType type, std::span<const std::byte> private_data = {});
  void close();
  void drop_channel();
  bool asks_again_later();
  void ask_again();

  Engine& engine_;
  DatagramSwitch& datagrams_;
  std::deque<std::vector<std::byte>> waiting_;  // the first is perhaps half in the channel
  const std::uint64_t number_;                  // the switch knows the link from here on, so nothing after it may throw
  DatagramLinkSink* sink_;
  std::unique_ptr<ConnectAttempt> attempt_;  // while connecting; without a channel it waits for its next try
  std::unique_ptr<transport::Channel> channel_;
  transport::Address remote_{};
  std::uint32_t peer_number_ = 0;
  hca::Bytes asked_with_;  // private data of the request that was accepted
  bool is_passive_ = false;
  bool is_concluded_ = false;
  bool is_established_ = false;
  bool is_blocked_ = false;
  std::array<std::byte, kDatagramHeadSize + kMaxDatagram> arriving_{};
};

}  // namespace softdat::simnic
