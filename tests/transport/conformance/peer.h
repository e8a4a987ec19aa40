// SPDX-License-Identifier: BSD-2-Clause
// Peer: a queue pair of a test. Sends what it is told to, remembers what it hears, and checks every
// call of its sink against the promises of transport/channel.h.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/carrier.h"

namespace softdat::transport::conformance {

using Bytes = std::vector<std::byte>;

Bytes to_bytes(std::string_view text);
// Bytes that differ by position and seed, so that a misplaced run is seen.
Bytes make_pattern(std::size_t length, std::uint64_t seed = 1);

struct Received {
  Message message;
  Bytes bytes;
  std::string text() const;
  // By memcmp, because ThreadSanitizer takes seconds to compare megabytes byte by byte.
  bool has(const Bytes& expected) const;
};

class Peer final : public ChannelSink, public PayloadSource {
 public:
  // What it offers, whether it asks or answers.
  Offer offer{.features = kNotes | kImmediates | kAtomics | kVoids};

  void connect(Carrier& carrier, const Address& remote, std::uint64_t service_id);
  // False when the request's peer has gone.
  bool accept(InboundRequest& request);

  // Sends now if it can, else from on_writable().
  void queue(const Message& message, Bytes bytes = {});
  void queue_send(std::string_view text);
  // By the short way, where there is one.
  void send_short(std::string_view text, std::optional<std::uint64_t> acked = {});
  bool is_drained() const { return waiting_.empty(); }
  // Forgets what it could not send.
  void drop_waiting() { waiting_.clear(); }

  std::unique_ptr<Channel> channel;

  // Heard.
  bool is_established = false;
  Offer established_offer;
  std::vector<Refusal> refusals;
  Bytes refusal_data;
  std::vector<CloseReason> closings;
  TerminateCode terminate_code;
  std::vector<Received> messages;
  std::vector<Arrival> faults;
  std::uint64_t placed = 0;  // bytes asked a place for
  int place_count = 0;
  int short_send_count = 0;
  int blocked_count = 0;
  int writable_count = 0;
  SendResult last_result = SendResult::kDone;

  // Behaviour.
  std::size_t max_slice = SIZE_MAX;        // most bytes per slice
  std::size_t max_slices = 4;              // most slices per gather or placement
  std::uint64_t revoke_from = UINT64_MAX;  // gathers at or past this offset fail
  bool discards = false;
  std::byte* place_at = nullptr;  // else in memory of its own; what faults is discarded from then on
  bool takes_short_sends = false;
  std::vector<std::string>* log = nullptr;  // gets the text of each message
  std::function<void(const Arrival&)> before_place;
  std::function<void()> before_message;
  std::function<void()> after_message;
  std::function<void()> after_established;
  std::function<void()> after_refused;
  std::function<void()> after_closed;
  std::function<void()> before_writable;

  // ChannelSink
  Placement place(const Arrival& arrival, SliceList& out) override;
  void on_fault(const Arrival& arrival) override;
  void on_message(const Message& message) override;
  bool on_short_send(const ShortSend& short_send) override;
  void on_writable() override;
  void on_established(const Offer& peer) override;
  void on_refused(Refusal reason, std::span<const std::byte> private_data) override;
  void on_closed(CloseReason reason, const TerminateCode& terminate) override;

  // PayloadSource
  bool gather(std::uint64_t offset, std::size_t length, SliceList& out) override;

 private:
  struct Waiting {
    Message message;
    Bytes bytes;
  };
  void pump();
  std::size_t add_slices(std::byte* data, std::size_t length, SliceList& out) const;

  std::deque<Waiting> waiting_;
  Bytes incoming_;
  std::uint64_t position_ = 0;  // next payload byte that must arrive
  bool is_closed_ = false;
};

// Listens, and keeps the requests it gets (or hands them to `handler`).
class PeerPort final : public PortSink {
 public:
  PeerPort(Carrier& carrier, std::uint64_t service_id, std::uint32_t backlog);
  void on_request(std::unique_ptr<InboundRequest> request) override;

  std::unique_ptr<Port> port;
  ListenError error = ListenError::kNoResources;
  std::vector<std::unique_ptr<InboundRequest>> requests;
  std::function<void(std::unique_ptr<InboundRequest>)> handler;
};

}  // namespace softdat::transport::conformance
