// SPDX-License-Identifier: BSD-2-Clause
// End: one side of a loop connection. It says items to its peer, and a turn of its carrier delivers to its sink what
// the peer has said (Inbox). ActiveEnd and PassiveEnd add how a connection is made.
//
// Part of its Conversation. Guarded by the network's lock. Internal to transport/loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "transport/channel.h"
#include "transport/loop/chunk_cutter.h"
#include "transport/loop/inbox.h"
#include "transport/loop/item.h"
#include "transport/loop/loop_network.h"

namespace softdat::transport::loop {

class Conversation;
class LoopCarrier;

enum class EndState {
  kIdle,        // the passive end before its request has been delivered
  kConnecting,  // the active end before the answer
  kRequested,   // the passive end before its consumer's answer
  kAccepting,   // the passive end before the peer's confirmation
  kOpen,
  kFailing,  // memory ran out; the sink has not been called yet
  kClosed,   // the sink is not called again
};

// How many requests of one port wait for an answer.
using Unanswered = std::shared_ptr<std::size_t>;

class End {
 public:
  SendResult send(const Message& message, PayloadSource* payload);
  void terminate(const TerminateCode& code);
  void close(CloseMode mode);

  // Drops the inbox; the sink gets kLost. Allocates nothing.
  void lose();
  // The process of this end has died: the sink is not called again.
  void silence();

  // Adds an item to the inbox. Out of memory: both ends get kLost.
  void post(Item item);
  // Delivers the oldest item if it is due. Returns whether it did.
  bool deliver_one(base::Time now);
  // Calls on_writable() if a blocked sender can go on. Returns whether it did.
  bool wake_sender();
  bool is_busy() const { return inbox_.waiting() > 0 || can_wake_sender(); }
  bool set_queued(bool queued) { return std::exchange(is_queued_, queued); }

  EndState state() const { return state_; }
  Features features() const { return features_; }
  const LoopCarrier* carrier() const { return carrier_; }
  const Inbox& inbox() const { return inbox_; }

 protected:
  End(LoopNetwork& network, Conversation& whole) : network_(network), whole_(whole) {}
  ~End() = default;

  End& peer() const;
  // Both sides have agreed. The sink is told, and may send.
  void open(const Offer& peer);
  // Drops the inbox. The sink is not called again.
  void become_closed();

  LoopNetwork& network_;
  Conversation& whole_;
  LoopCarrier* carrier_ = nullptr;  // null: the process has died, or no carrier was at the address
  ChannelSink* sink_ = nullptr;     // null: it is not called yet, or not again
  EndState state_ = EndState::kIdle;
  Features features_ = 0;  // of both sides, once they have agreed
  Unanswered unanswered_;  // counts this end while it is kRequested

 private:
  // An item that makes the connection.
  virtual void deliver_handshake(const Item& item) = 0;
  void deliver(const Item& item);
  void deliver_closing(CloseReason reason, const TerminateCode& code);
  SendResult send_in_chunks(const Message& message, PayloadSource* payload);
  bool has_room() const;
  bool can_wake_sender() const { return is_blocked_ && state_ == EndState::kOpen && has_room(); }
  void note_busy();

  Inbox inbox_;
  ChunkCutter cutter_;
  bool is_queued_ = false;   // stands in the carrier's list of busy ends
  bool is_blocked_ = false;  // the sink waits for on_writable()
};

}  // namespace softdat::transport::loop
