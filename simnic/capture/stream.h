// SPDX-License-Identifier: BSD-2-Clause
// Stream: one connection as a capture shows it: a TCP connection that carries MPA, DDP and RDMAP, whatever carries it
// in truth. Each message becomes FPDUs, each FPDU one TCP segment. Owned by the baton.
//
// With a snap length a segment is written as if it were shorter, headers included, so that it can be decoded: Wireshark
// decodes no FPDU whose end is missing. Only the length of the packet in the file is the true one.
//
// A process captures both directions. What the peer may capture itself is marked as a copy, which `softdat run` leaves
// out when the peer did.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simnic/capture/recorder.h"
#include "transport/channel.h"
#include "transport/offer.h"
#include "transport/tcp/mpa_frame.h"
#include "transport/tcp/opcode_table.h"

namespace softdat::simnic::capture {

using Stamp = std::uint64_t;  // nanoseconds since 1970
Stamp now();

// Payload bytes of an FPDU; a multiple of four, so that the next one is aligned.
inline constexpr std::size_t kMostPayload = std::size_t{32} << 10;

// What the frames of one process and adapter have in common.
struct Place {
  Recorder& recorder;
  std::uint32_t interface = 0;
  std::string name{};            // "dtest[4711] sim0"
  transport::Address address{};  // of the adapter
  std::uint32_t port_base = 0;   // as NicConfig has it
  // Null except in a live capture: counts its connections. The number becomes the port of the initiator, because
  // endpoints of several processes have the same ports.
  std::atomic<std::uint32_t>* connections = nullptr;
};
// Adds an interface for this process and adapter to the recorder. Throws std::bad_alloc.
Place describe_place(Recorder& recorder, const std::string& adapter, const transport::Address& address);

class Stream {
 public:
  // `own` and `peer` have the ports that the capture shows; `port` is that of this process's endpoint, 0 if it has
  // none.
  Stream(const Place& place, const transport::Address& own, const transport::Address& peer, std::uint16_t port,
         bool is_initiator);

  // The handshake. `request` is the initiator's offer, made at `asked`; `reply` the responder's.
  void begin(const transport::Offer& request, Stamp asked, const char* carrier);
  // `answered`: when the responder accepted, before it could send; the initiator's copy has the time of arrival.
  void accept(const transport::Offer& request, const transport::Offer& reply, transport::Features agreed,
              Stamp answered);
  void reject(const transport::Offer& request, std::span<const std::byte> private_data);
  // A request that nobody answers, or that is refused before anybody has read it.
  void ask_in_vain(const transport::Offer& request, Stamp asked, bool is_answered);
  // The end of one direction, or of both at once.
  enum class Way { kOut, kIn };
  void finish(Way way);
  void reset(Way way);
  void terminate(Way way, const transport::TerminateCode& code);

  // A whole message that was sent. `payload` names its bytes.
  void send(const transport::Message& message, transport::PayloadSource* payload, Stamp stamp);
  // One FPDU of a message: its payload from byte `offset` on.
  struct Part {
    std::uint32_t offset = 0;
    std::size_t length = 0;
    std::span<const transport::Slice> bytes{};  // of `length`, perhaps fewer
  };
  void add(Way way, const transport::Message& message, const Part& part, Stamp stamp);

 private:
  struct Side {
    transport::Address address{};
    std::uint32_t next = 0;   // TCP sequence number
    std::uint32_t whole = 0;  // the same, behind the last whole message; what the other side acknowledges
    std::array<std::uint32_t, transport::tcp::kQueueCount> messages{1, 1, 1, 1};  // DDP message numbers
    bool is_finished = false;
  };
  struct Segment {
    std::uint8_t flags = 0;
    std::span<const std::byte> head{};  // of the FPDU
    std::span<const transport::Slice> payload{};
    std::size_t payload_length = 0;
    std::size_t back = 0;
    std::size_t hidden = 0;     // bytes of the payload that the snap length leaves out
    bool is_part = false;       // of a message that goes on
    bool is_handshake = false;  // its author is the initiator, whichever side sends it
  };

  Side& side(Way way) { return way == Way::kOut ? own_ : peer_; }
  Way from(bool is_initiator) const { return is_initiator == is_initiator_ ? Way::kOut : Way::kIn; }
  void put(Way way, const Segment& segment, Stamp stamp, std::string_view comment);
  void put_bare(Way way, std::uint8_t flags, Stamp stamp, bool is_handshake, std::string_view comment = {});
  void put_frame(Way way, const transport::tcp::MpaFrame& frame, Stamp stamp, bool is_handshake);
  std::string title(const transport::Offer& request, std::string_view carrier) const;
  void describe(const transport::Message& message);

  const Place& place_;
  const bool is_initiator_;
  const std::uint32_t endpoint_;  // its number in the adapter; 0: none
  Side own_;
  Side peer_;
  std::uint16_t identification_ = 0;  // of IPv4 headers
  std::string comment_;               // kept for its memory
  std::vector<transport::Slice> slices_;
};

}  // namespace softdat::simnic::capture
