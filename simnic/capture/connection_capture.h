// SPDX-License-Identifier: BSD-2-Clause
// ConnectionCapture: watches one connection and captures its handshake, messages and end. Its owner stands where every
// message passes: a CapturingChannel, or a LiveTap of a process that is captured while it runs. Owned by the baton.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simnic/capture/stream.h"
#include "transport/carrier.h"

namespace softdat::simnic::capture {

class ConnectionCapture {
 public:
  // `place` must live as long.
  explicit ConnectionCapture(const Place& place);

  // The connection, as its side begins it: the initiator asks, the responder answers.
  void ask(const transport::Address& remote, const transport::Offer& request);
  void answer(const transport::Offer& request, const transport::Offer& reply);
  // The features of both sides.
  transport::Features agreed_with(const transport::Offer& peer) const {
    return peer.features & (is_initiator_ ? request_ : reply_).features;
  }
  // `peer` is the initiator's offer or the responder's. `carrier` stands in the comment.
  void on_established(const transport::Offer& peer, transport::Features features, const std::string& carrier);
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data);

  // A message that was sent. `before`: a time before the peer could have it.
  void on_sent(const transport::Message& message, transport::PayloadSource* payload, Stamp before);
  // This side ends the connection.
  void on_terminate(const transport::TerminateCode& code);
  void on_close();
  void on_cut();
  // The peer does.
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code);

  // A message that arrives: before the sink is asked for the place of a piece; the slices that it named; a place that
  // faults; and the whole message. One whose beginning was not seen is left out.
  void on_arrival(const transport::Arrival& arrival);
  void on_placement(std::span<const transport::Slice> slices);
  void on_fault() { arrived_.placing.clear(); }
  void on_message(const transport::Message& message);

 private:
  using Way = Stream::Way;

  // The part of a message that has arrived and is not captured yet: at most one FPDU.
  struct Arrived {
    std::uint32_t offset = 0;  // in the message
    std::size_t length = 0;
    std::size_t known = 0;           // bytes of it from the start that were seen
    std::vector<std::byte> bytes{};  // kMostPayload of them, once needed
    // The piece that the carrier copies at present: from this byte of the message on, into these slices.
    std::uint64_t placing_at = 0;
    std::vector<transport::Slice> placing{};
    bool is_begun = false;  // its first byte was seen

    void start() {
      offset = 0;
      length = known = 0;
      placing_at = 0;
      placing.clear();
    }
  };

  void capture_established(const transport::Offer& peer, transport::Features features, const std::string& carrier);
  void capture_refused(transport::Refusal reason, std::span<const std::byte> private_data);
  void capture_closed(transport::CloseReason reason, const transport::TerminateCode& code);
  void capture_message(const transport::Message& message);
  transport::Address initiator_of_this() const;
  void take_placed(std::uint64_t until, const transport::Message& message);
  void append(const std::byte* from, std::size_t length, const transport::Message& message);
  void put_arrived(const transport::Message& message);
  // Runs `body`. Counts a packet as dropped if `body` runs out of memory.
  template <typename Body>
  void capture(Body body);

  const Place& place_;
  const std::uint16_t number_;    // of the connection, in a live capture
  std::optional<Stream> stream_;  // from the handshake on
  bool is_initiator_ = false;
  transport::Address remote_{};  // as ask() had it
  transport::Offer request_{};
  transport::Offer reply_{};  // the responder's
  Stamp asked_ = 0;
  Arrived arrived_{};
};

// A request that the consumer of a listener has refused.
void capture_reject(const Place& place, const transport::Offer& request, std::span<const std::byte> private_data);

}  // namespace softdat::simnic::capture
