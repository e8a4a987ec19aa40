// SPDX-License-Identifier: BSD-2-Clause
// MessagePath: sends the requests of a queue pair as messages. It owns the two halves of the protocol (Requester,
// Responder), the channel, and the message that the channel is taking (Outgoing). Requests that need no message go by
// DirectPath.
//
// A poster that finds the lane free sends its short send without the baton (send_at_once()) while is_plain(), if the
// channel takes_posters(). The holder of the baton sends everything else (pump()).
//
// Threads: send_at_once() on any thread with the posting lock, without the baton. All other calls REQUIRE the baton and
// an Entry; the posting sides of the halves' queues require the posting lock instead. Errors: only the constructor
// allocates.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "hca/connection.h"
#include "hca/device.h"
#include "simnic/lane.h"
#include "simnic/outgoing.h"
#include "simnic/receive_limits.h"
#include "simnic/requester.h"
#include "simnic/responder.h"
#include "transport/channel.h"

namespace softdat::simnic {

class Engine;

class MessagePath {
 public:
  // The lane, held by the holder of the baton; then is_plain() is renewed. May be nested.
  class Entry {
   public:
    explicit Entry(MessagePath& path) : path_(path), hold_(path.lane_) {}
    ~Entry() { path_.is_plain_ = path_.is_plain_now(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    MessagePath& path_;
    const Lane::Hold hold_;
  };

  // Why pump() cannot go on by itself.
  struct SendFault {
    Fault fault;
    bool is_final;  // the connection has to end at once; otherwise the peer hears of the fault after what it is owed
    std::optional<std::uint64_t> culprit = std::nullopt;  // the request to blame; else the oldest
  };

  // `owner` is run when there is a receive again, or something to send. `state` is the queue pair's. `counters`: this
  // writes those of transfers. All outlive it. Throws std::bad_alloc.
  MessagePath(Engine& engine, const MemoryView& memory, const hca::QueuePairConfig& config,
              const hca::QueuePairLimits& limits, const std::atomic<hca::QueuePairState>& state, ReceivePosts& recvs,
              hca::TransferCounters& counters, Task& owner);

  Lane& lane() { return lane_; }
  Requester& requester() { return requester_; }
  const Requester& requester() const { return requester_; }
  Responder& responder() { return responder_; }
  const Responder& responder() const { return responder_; }
  Outgoing& outgoing() { return outgoing_; }
  // Null between connections, and while a connect waits for its next try.
  transport::Channel* channel() { return channel_.get(); }

  // Whether messages may be exchanged.
  bool is_open() const {
    const hca::QueuePairState now = state_.load(std::memory_order_seq_cst);
    return channel_ && (now == hca::QueuePairState::kConnected || now == hca::QueuePairState::kDisconnecting);
  }
  // Whether the peer is of our kind: it acknowledges, and asks for repetitions.
  bool takes_notes() const { return channel_ && (channel_->features() & transport::kNotes) != 0; }
  // Whether posters may send with the lane alone, if is_plain(), and no call of the channel is a cancellation point.
  bool takes_posters() const { return short_sends_ == transport::ShortSends::kWithoutBaton; }
  // Whether only requests and acks are to be sent and taken: no note, response, objection or receive limit. As of the
  // end of the last Entry.
  bool is_plain() const { return is_plain_; }
  // Whether the halves have something to send, or have lost a completion.
  bool is_waiting() {
    return requester_.is_waiting() || responder_.is_waiting() || responder_.receives().feed().has_lost();
  }

  // A connection begins: its channel, not established yet...
  void adopt(std::unique_ptr<transport::Channel> channel) { channel_ = std::move(channel); }
  // ...which is established now. `ord`: how many reads may be outstanding.
  void begin(std::uint32_t ord, RnrPolicy rnr);
  // The connection ends. The engine destroys the channel. Does nothing without a channel.
  void close(transport::CloseMode mode);
  // REQUIRES an orderly end to be wanted. Acknowledges what has been carried out, so that the peer's requests complete
  // although this side leaves. Returns how to close: half a message can only be dropped.
  transport::CloseMode send_last_ack();
  // Completes all requests and receives as flushed, but those to blame.
  void flush(const Fault& blame = {}, std::optional<std::uint64_t> culprit = std::nullopt);
  // When it returns, no poster is in send_at_once(), and none begins to send.
  void end_short_sends();

  // Any thread with the posting lock, without the baton. Sends a request that is not queued yet, and then has `queue()`
  // queue it: the peer need not wait for that. Its payload lies where `found` says. False: nothing was done but that
  // `short_send` may have got an ack, and the request must take its turn in the queue.
  template <typename Queue>
  bool send_at_once(transport::ShortSend& short_send, const ResolvedSegment& found, Queue queue) {
    // The poster never waits for the lane: its holder, or the ring that follows, sends the request.
    if (!lane_.try_enter()) return false;
    const bool is_sent = is_plain_ && takes_posters() && requester_.may_go_now(found) && give_short(short_send);
    if (is_sent) [[likely]] {
      queue();
      // An ack of it needs the lane, and so finds it queued.
      requester_.sent().on_short_send_taken();
    }
    lane_.leave();
    return is_sent;
  }
  // Sends what can be sent. A fault: call it again once that is dealt with.
  std::optional<SendFault> pump();

 private:
  bool send_short();
  bool give_short(transport::ShortSend& short_send);
  bool give(std::optional<SendFault>& fault);
  std::optional<SendFault> check_resumed();
  bool is_plain_now() const;

  // Fixed after construction.
  Engine& engine_;
  const std::atomic<hca::QueuePairState>& state_;
  const ReceiveLimits& recv_limits_;
  Task& owner_;
  Lane lane_;
  // Guarded by lane_, and changed with the baton, but for what a short send changes.
  Requester requester_;
  Responder responder_;
  std::unique_ptr<transport::Channel> channel_;
  Outgoing outgoing_;
  transport::ShortSends short_sends_ = transport::ShortSends::kNone;  // of the channel
  bool is_plain_ = false;                                             // is_plain_now(), as of the last Entry
};

}  // namespace softdat::simnic
