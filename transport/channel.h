// SPDX-License-Identifier: BSD-2-Clause
// A channel carries messages between two queue pairs: reliably, in order, in both directions. REQUIRES of every call,
// but of Channel::send_short() where short_sends() is kWithoutBaton: the NIC's baton. Sinks are called with the baton
// too, so no channel has a lock.
//
// A carrier keeps no pointer into consumer memory from one call to the next: if it could not move everything, it asks
// again at its next turn, and the sink or source checks the key again. So once a key has been removed with the baton
// held, and no send_short() is under way, no carrier touches its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "transport/message.h"
#include "transport/offer.h"
#include "transport/peer_resources.h"

namespace softdat::transport {

enum class SendResult {
  kDone,     // the whole message was taken; the payload is not needed again
  kBlocked,  // some of it was taken, or nothing: call again with the same message after on_writable()
  kClosed,   // the channel is closing or closed; on_closed() has come or will
  // The payload cannot be read: a gather failed, or its memory faults.
  kFault,        // nothing of the message was sent; other messages may follow
  kFaultMidway,  // the peer has the first part; only terminate() and close() may follow
};

// Gives the carrier the memory of a message's payload, piece by piece.
class PayloadSource {
 public:
  // Adds slices for [offset, offset + length) of the payload, or for a first part of it of at least one byte; the
  // carrier then asks for the rest. False if the memory may no longer be read.
  virtual bool gather(std::uint64_t offset, std::size_t length, SliceList& out) = 0;

 protected:
  ~PayloadSource() = default;
};

// A kSend or kSendSolicited whose payload is one run of bytes. Most messages are, so carriers and sinks may have a fast
// path for them.
struct ShortSend {
  Opcode opcode = Opcode::kSend;
  std::span<const std::byte> payload{};
  std::optional<std::uint64_t> acked{};  // the value of a NoteKind::kAck that comes before it
};

// Whether a channel has a shorter way for a ShortSend, Channel::send_short().
enum class ShortSends {
  kNone,
  kWithBaton,     // it acts as send()
  kWithoutBaton,  // it acts as send() and flush(), and no call of the channel is a cancellation point
};

enum class CloseReason {
  kBye,            // the peer disconnected in an orderly way (a foreign peer: end of stream)
  kLost,           // the peer died, the network failed, or the stream ended without a bye
  kTerminated,     // the peer sent Terminate
  kProtocolError,  // the peer broke the protocol; we sent Terminate
};

// Payload bytes that have arrived. Tagged (kWrite, kReadResponse): their place is `offset` at `stag`. Untagged
// (kSend*): their place is `message_offset` bytes into the receive buffer.
struct Arrival {
  Opcode opcode;
  bool first;  // the message's first byte is among them
  std::uint32_t stag;
  std::uint64_t offset;          // tagged only
  std::uint64_t message_offset;  // from the start of the message
  std::size_t length;            // 0 for a message without payload
};

enum class Placement {
  kPlace,    // copy them to the slices
  kDiscard,  // drop them; also after the sink called terminate()
};

// Receives what a channel delivers. Implemented by queue pairs, which own the channel. A sink may call terminate() and
// close() and destroy the channel in every call but on_short_send().
class ChannelSink {
 public:
  // Names the place of these bytes. The slices may cover a first part; the carrier then asks for the rest. Called for
  // every kWrite, kReadResponse and kSend*; once with length 0 if there is no payload.
  virtual Placement place(const Arrival& arrival, SliceList& out) = 0;

  // The place that the sink named faults. Some of the bytes may have been stored. The carrier calls place() for them
  // again, so the sink must terminate the channel or answer kDiscard from now on. Never called for memory of the
  // library's own.
  virtual void on_fault(const Arrival&) {}

  // A whole message has arrived, and its payload has been placed or discarded. `length` is that of the payload; tagged
  // messages have the stag and offset of their first byte.
  virtual void on_message(const Message& message) = 0;

  // The channel is about to leave the state in which send_short() may be called without the baton. When this returns,
  // no thread is in send_short(), and none will call it again.
  virtual void end_short_sends() {}

  // Fast path: place() and on_message() in one call. False: nothing was done, and the carrier calls those two instead.
  // Must not close or destroy the channel. The payload lies in memory that the peer may change while it is read.
  virtual bool on_short_send(const ShortSend&) { return false; }

  // For the nasty mode, simnic/nasty, between place() and on_message() of a send: the bytes of the receive that takes
  // it. 0: none, or not known.
  virtual std::uint64_t receive_length() { return 0; }

  // send() may be tried again after kBlocked. May also come without one.
  virtual void on_writable() = 0;

  // The peer has accepted (after connect()) or confirmed (after accept()). Messages may be sent from now on. Comes
  // before the peer's first message.
  virtual void on_established(const Offer& peer) = 0;

  // The connect() has failed.
  virtual void on_refused(Refusal reason, std::span<const std::byte> private_data) = 0;

  // The channel has ended. Called once, after on_established(), unless the owner closed the channel. `terminate` is the
  // peer's for kTerminated and this side's for kProtocolError.
  virtual void on_closed(CloseReason reason, const TerminateCode& terminate) = 0;

 protected:
  ~ChannelSink() = default;
};

// Bits that are inverted in a message on its way, behind its checksum.
struct Damage {
  bool is_header = false;   // of the message's own header, else of its payload
  std::uint64_t place = 0;  // the byte; of a header modulo its length
  unsigned bit = 0;         // 0 to 7
};

enum class CloseMode {
  kOrderly,  // sends all that send() has taken, then a bye
  kPrompt,   // the same, but the carrier's destructor does not wait for a peer that takes nothing
  kAbrupt,   // drops what can be dropped; still sends a bye if possible
};

// Owned by the queue pair. Destroying an open channel acts as close(kAbrupt): the carrier finishes in the background,
// and the sink is not called again.
class Channel {
 public:
  virtual ~Channel() = default;

  // Links channels that wait to be destroyed into a list, so that the list needs no memory.
  void chain(std::unique_ptr<Channel> next) { next_ = std::move(next); }
  std::unique_ptr<Channel> unchain() { return std::move(next_); }

  // Takes a message. Messages are sent in the order of the calls; small ones may wait for flush().
  virtual SendResult send(const Message& message, PayloadSource* payload) = 0;

  // Valid once established.
  virtual ShortSends short_sends() const { return ShortSends::kNone; }
  // REQUIRES: short_sends() is not kNone, no message is blocked, and no other call of the channel's owner is under way.
  // With kWithoutBaton it does not require the baton until the sink's end_short_sends(). False: nothing was done; use
  // send().
  virtual bool send_short(const ShortSend&) { return false; }

  // Sends everything taken, as far as there is room.
  virtual void flush() = 0;

  // Sends a Terminate with this code (RFC 5040 section 7) and closes. The sink gets no on_closed().
  virtual void terminate(const TerminateCode& code) = 0;

  // Closes. The sink is not called again, and send() must not be called.
  virtual void close(CloseMode mode) = 0;

  // For fault injection, simnic/fault. Ends the channel as a network that breaks does: the peer gets kLost where the
  // carrier can do that, else kTerminated. The sink gets no on_closed().
  virtual void cut() { terminate({}); }
  // Sends a part of the message, then acts as cut(). False, without any effect: the carrier cannot do that.
  virtual bool cut_within(const Message&, PayloadSource*) { return false; }
  // Damages the next message that send() takes. False, without any effect: the carrier cannot do that.
  virtual bool damage_next(const Damage&) { return false; }

  // What both sides can do. Valid once established.
  virtual Features features() const = 0;

  // What the NIC has made of the peer's files (peer_resources.h); null: nothing. Valid once established.
  virtual std::shared_ptr<PeerResources> peer_resources() const { return nullptr; }

  // "tcp", "shm" or "loop", for messages and traces.
  virtual const char* carrier_name() const = 0;

 private:
  std::unique_ptr<Channel> next_;
};

}  // namespace softdat::transport
