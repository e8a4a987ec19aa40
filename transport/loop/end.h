// SPDX-License-Identifier: BSD-2-Clause
// End: one side of a loop connection, with an inbox of the items on their way to it. Internal to transport/loop.
// Guarded by the network's lock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "transport/channel.h"
#include "transport/loop/loop_network.h"

namespace softdat::transport::loop {

class Conversation;
class LoopCarrier;

enum class ItemKind {
  kRequest,
  kReply,
  kRefusal,
  kConfirmation,
  kChunk,
  kBye,
  kTerminate,
};

struct Item {
  ItemKind kind = ItemKind::kChunk;
  base::Time due{};
  Offer offer{};                           // kRequest, kReply; kRefusal: private data
  Refusal refusal = Refusal::kNoListener;  // kRefusal
  Message message{};                       // kChunk; kTerminate: its code
  std::vector<std::byte> bytes{};          // kChunk
  std::uint64_t message_offset = 0;        // kChunk
  bool is_last = true;                     // kChunk
  std::size_t cost() const { return 64 + bytes.size(); }
};

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
  End(LoopNetwork& network, Conversation& whole) : network_(network), whole_(whole) {}

  void start_connecting(LoopCarrier& carrier, ChannelSink& sink, const Offer& request);
  void start_requested(Unanswered unanswered, const Offer& request);
  // The carrier whose turn delivers this end's inbox.
  void attach(LoopCarrier& carrier) { carrier_ = &carrier; }

  // The passive side's answers. accept() returns false if the peer has gone. Both throw std::bad_alloc without any
  // effect.
  bool accept(const Offer& reply, ChannelSink& sink);
  void refuse(Refusal reason, std::span<const std::byte> private_data);

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
  // How many items wait, due or not.
  std::size_t waiting() const { return inbox_.size() + (ending_ ? 1 : 0); }
  // Calls on_writable() if a blocked sender can go on. Returns whether it did.
  bool wake_sender();
  bool is_busy() const { return waiting() > 0 || can_wake_sender(); }
  bool set_queued(bool queued) { return std::exchange(is_queued_, queued); }

  LoopNetwork::Section enter() const { return network_.enter(); }
  EndState state() const { return state_; }
  Features features() const { return features_; }
  const LoopCarrier* carrier() const { return carrier_; }
  const std::deque<Item>& inbox() const { return inbox_; }

 private:
  End& peer() const;
  bool has_room() const;
  bool can_wake_sender() const { return is_blocked_ && state_ == EndState::kOpen && has_room(); }
  void note_busy();
  void become_closed();
  void drop_chunks();
  void fail(CloseReason reason);
  void end_with(CloseReason reason);
  SendResult send_in_chunks(const Message& message, PayloadSource* payload);
  bool take_chunk(const Message& message, PayloadSource* payload, std::size_t length);
  void deliver(Item& item);
  void deliver_reply(const Item& item);
  void deliver_refusal(Refusal reason, std::span<const std::byte> private_data);
  void deliver_closing(CloseReason reason, const TerminateCode& code);
  void deliver_chunk(const Item& item);
  bool place_chunk(const Item& item);

  LoopNetwork& network_;
  Conversation& whole_;
  LoopCarrier* carrier_ = nullptr;  // null: the process has died, or no carrier was at the address
  ChannelSink* sink_ = nullptr;
  Unanswered unanswered_;  // counts this end while it is kRequested
  EndState state_ = EndState::kIdle;
  Offer offer_;  // active: this side's request; passive: the peer's
  Features features_ = 0;
  std::deque<Item> inbox_;
  std::size_t inbox_cost_ = 0;
  std::optional<CloseReason> ending_;  // delivered instead of the inbox
  bool is_queued_ = false;             // stands in the carrier's list of busy ends
  bool is_blocked_ = false;            // the sink waits for on_writable()
  std::uint64_t taken_ = 0;            // of the message that send() has taken in part
};

}  // namespace softdat::transport::loop
