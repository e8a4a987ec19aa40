// SPDX-License-Identifier: BSD-2-Clause
// A channel carries messages between two queue pairs: reliable, in order, both ways at once. Every
// call and every call back happens with the NIC's baton held, so nothing here locks.
//
// A carrier keeps no pointer into consumer memory from one call to the next: if it could not move everything, it asks
// again at its next turn, and the sink or source checks the key again. So once a key has been removed with the baton
// held, no carrier touches its memory.
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
  kDone,     // taken whole; the payload is not needed again
  kBlocked,  // taken in part or not at all: call again with the same message after on_writable()
  kClosed,   // the channel is closing or closed; on_closed() has come or will
  // The payload cannot be read: a gather failed, or its memory faults.
  kFault,        // nothing of the message was taken; other messages may follow
  kFaultMidway,  // the peer has its beginning; only terminate() and close() may follow
};

// Resolves a message's payload to memory when the carrier wants it.
class PayloadSource {
 public:
  // Adds slices for up to [offset, offset + length) of the payload; may cover less (the rest is
  // asked for again), but at least one byte. False when the memory may no longer be read.
  virtual bool gather(std::uint64_t offset, std::size_t length, SliceList& out) = 0;

 protected:
  ~PayloadSource() = default;
};

// A kSend or kSendSolicited whose payload lies in one piece, which is what most messages are: carriers and sinks may
// have a shorter way for it.
struct Brief {
  Opcode opcode = Opcode::kSend;
  std::span<const std::byte> payload{};
  std::optional<std::uint64_t> acked{};  // said before it: what a NoteKind::kAck says
};

enum class CloseReason {
  kBye,            // the peer disconnected in an orderly way (of a foreign peer: plain end of stream)
  kLost,           // the peer died, the network failed, or the stream ended without a bye
  kTerminated,     // the peer sent Terminate
  kProtocolError,  // the peer broke the protocol; we sent Terminate
};

// A run of payload bytes that has arrived and needs a place. Tagged (kWrite, kReadResponse): they
// go to stag at offset. Untagged (kSend*): they go `message_offset` bytes into the receive buffer.
struct Arrival {
  Opcode opcode;
  bool first;  // the message's first byte is among them
  std::uint32_t stag;
  std::uint64_t offset;          // tagged only
  std::uint64_t message_offset;  // from the start of the message
  std::size_t length;            // 0 for a message without payload
};

enum class Placement {
  kPlace,    // the slices say where
  kDiscard,  // read and drop them; also after the sink called terminate()
};

// The queue pair's side of a channel.
class ChannelSink {
 public:
  // Where do these bytes go? Slices may cover less than asked; the rest is asked for again. Asked
  // for every message of opcode kWrite, kReadResponse, kSend*, with length 0 once when it has no
  // payload.
  virtual Placement place(const Arrival& arrival, SliceList& out) = 0;

  // The memory that place() named for these bytes faults. Some of them may have been stored. The carrier asks for a
  // place for them again, so the sink has terminated the channel, or answers kDiscard from now on. A sink that names
  // only memory of its own never hears this.
  virtual void on_fault(const Arrival&) {}

  // A whole message has arrived, its payload placed (or discarded). `length` holds the payload's
  // total; tagged messages tell stag and offset of their first byte.
  virtual void on_message(const Message& message) = 0;

  // The same as all of this for a message that is here whole. False: nothing has been done, so it comes in the other
  // way. Whichever it answers, the channel is neither closed nor destroyed by it. The payload may change while it is
  // read.
  virtual bool on_brief(const Brief&) { return false; }

  // kBlocked is over; or room came free in general.
  virtual void on_writable() = 0;

  // Our connect() was answered yes / our accept() was confirmed by the peer. Messages may be sent
  // from now on. The passive side gets its confirmation before the peer's first message.
  virtual void on_established(const Offer& peer) = 0;

  // Our connect() was not answered yes.
  virtual void on_refused(Refusal reason, std::span<const std::byte> private_data) = 0;

  // The channel is dead; comes once after on_established() unless the owner closed it himself.
  // `terminate` is set for kTerminated (theirs) and kProtocolError (ours).
  virtual void on_closed(CloseReason reason, const TerminateCode& terminate) = 0;

 protected:
  ~ChannelSink() = default;
};

enum class CloseMode {
  kOrderly,  // everything taken by send() reaches the peer, then a bye
  kPrompt,   // the same, but the carrier's destructor does not wait for a peer that takes nothing
  kAbrupt,   // what can be dropped is dropped; the peer still sees a bye where possible
};

// Owned by the queue pair. Destroying an open channel is close(kAbrupt): the carrier finishes what
// must be finished by itself, and the sink hears nothing more.
class Channel {
 public:
  virtual ~Channel() = default;

  // A chain of channels that its owner has done with, so that putting one away takes no memory.
  void chain(std::unique_ptr<Channel> next) { next_ = std::move(next); }
  std::unique_ptr<Channel> unchain() { return std::move(next_); }

  // Takes a message. Messages leave in the order of calls; small ones may wait for flush().
  virtual SendResult send(const Message& message, PayloadSource* payload) = 0;

  // Whether there is a shorter way for a Brief...
  virtual bool takes_briefs() const { return false; }
  // ...which is the same as send() for it, while no message is blocked. False: nothing has been done, so send() it.
  virtual bool send_brief(const Brief&) { return false; }

  // Everything taken goes out now (as far as the carrier takes it).
  virtual void flush() = 0;

  // Tells the peer why (RFC 5040 section 7), then closes. The sink gets no on_closed().
  virtual void terminate(const TerminateCode& code) = 0;

  // No more send() afterwards; the sink hears nothing more.
  virtual void close(CloseMode mode) = 0;

  // What the peer can do, valid once established.
  virtual Features features() const = 0;

  // What our NIC has made of the files of the peer's process; null: nothing. Valid once established.
  virtual std::shared_ptr<PeerResources> peer_resources() const { return nullptr; }

  // "tcp", "shm" or "loop", for people and traces.
  virtual const char* carrier_name() const = 0;

 private:
  std::unique_ptr<Channel> next_;
};

}  // namespace softdat::transport
