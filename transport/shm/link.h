// SPDX-License-Identifier: BSD-2-Clause
// Link: all that two carriers (usually of two processes) share, however many channels they have: one segment with a
// ring each way, and a socket that carries bells. The end of the socket tells of the peer's death. Owned by its
// carrier. REQUIRES of every call but put(), arm(), disarm() and has_work(): the baton.
//
// The link ends if the peer breaks the protocol or dies, and if there is no memory to hold back a record for which the
// ring has no room. Then is_ending() becomes true, and the carrier calls end() from its turn, which tells each channel
// once.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "base/spin_lock.h"
#include "transport/lock_places.h"
#include "transport/peer_resources.h"
#include "transport/reactor.h"
#include "transport/shm/conversation_table.h"
#include "transport/shm/death_watch.h"
#include "transport/shm/handshake.h"
#include "transport/shm/reaper.h"
#include "transport/shm/record.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"
#include "transport/shm/segment.h"
#include "transport/shm/shm_channel.h"

namespace softdat::transport::shm {

class ShmCarrier;
class ShmRequest;

struct LinkParts {
  Side side;
  CarrierId peer;
  Segment segment;
  PeerSocket socket;
  std::shared_ptr<PeerResources> resources;  // null: none
};

class Link final : public ReadinessSink {
 public:
  Link(ShmCarrier& carrier, LinkParts parts);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const CarrierId& peer() const { return peer_; }
  const std::shared_ptr<PeerResources>& peer_resources() const { return resources_; }

  // Asks for a connection; the channel has its question. Refused later if the link cannot. Throws std::bad_alloc, and
  // nothing has begun then.
  void open(ShmChannel& channel);
  // Answers a request of this link, with an encoded offer.
  void accept(std::uint32_t number, ShmChannel& channel, const Bytes& reply);
  // Our last word on a conversation. Its channel or request has left, or leaves now.
  void finish(std::uint32_t number, RecordKind kind, std::span<const std::byte> bytes);

  // For the channels' data path. A small record that finds no room waits for it, and everything else behind it.
  void post(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes);
  // Any thread. A short message with its head; rings the bell. False, and nothing done: it finds no room, or others
  // wait for room, or its memory faults.
  bool put(std::uint32_t number, const HeadWord& head, std::span<const std::byte> payload);
  // The lock of the ring's writer, and the writer. Lock order: the baton, lanes, this.
  base::Ordered<base::SpinLock, locks::kLinkTail>& tail() { return tail_; }
  RingWriter& writer() { return writer_; }
  bool is_congested() const { return !outbox_.empty() || is_ending(); }
  void mark_written() { has_written_ = may_have_to_write_ = true; }
  void block(ShmChannel& channel);
  // Wakes the peer if it sleeps over what has been written.
  void flush();

  // Takes in what has arrived (a bounded part of it), and resumes writers. How many things.
  std::size_t poll() { return is_quiet() ? count_idle_poll() : poll_slow(); }
  // Nothing has arrived, and nothing is to be written or told.
  bool is_quiet() const { return !reader_.has_record() && !may_have_to_write_; }
  // Records or channels wait for room.
  bool has_writers() const { return !outbox_.empty() || !blocked_.empty(); }
  // With which the peer's next record will begin.
  const std::byte* next_word() const { return reader_.record(); }
  // How many polls in a row found nothing to do, nor to wait for.
  std::uint32_t idle_polls() const { return idle_polls_; }
  bool is_hot() const { return is_hot_; }
  bool set_hot(bool hot) { return std::exchange(is_hot_, hot); }
  bool is_ending() const { return is_broken_ || is_peer_gone_; }
  // Before the end of our carrier: what has found no room in the ring reaches the peer all the same.
  void say_farewell();
  // Asks the kernel whether the peer still holds its end, rather than wait to be told.
  bool is_alive();
  // Whether the peer hung up or died, rather than broke the protocol.
  bool is_peer_gone() const { return is_peer_gone_; }
  void end();
  // The peer is gone, as far as we are concerned.
  void lose_peer();
  // Any thread. Hangs up; both sides will find the link ending.
  void sever();
  // Any thread. Whether the link's socket is still open. A program that calls closefrom(3) closes it; then no
  // bell is heard.
  bool is_intact() const { return socket_.is_intact(); }
  // Any thread. The peer may sleep over what it has been sent, because it could not be woken.
  bool is_mute() const { return is_mute_.load(std::memory_order_relaxed); }

  // Without the baton, under the carrier's lock of sleepers.
  void arm() { reader_.arm(); }
  void disarm() { reader_.disarm(); }
  bool has_work() const { return reader_.has_record() || writer_.is_room_news(); }

  // The link's socket is readable.
  void on_ready(std::uint32_t readiness) override;

 private:
  std::size_t count_idle_poll() {
    ++idle_polls_;
    return 0;
  }
  std::size_t poll_slow();
  std::size_t write_on(std::size_t taken);
  void put_by(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes);
  bool write(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes);
  void break_down();
  std::size_t take_records(std::size_t most);
  bool take_short_send(const RecordWord& word, std::span<const std::byte> bytes);
  void give_room_back();
  void wake_peer();
  std::size_t use_room();
  bool has_room_to_resume();
  void note_writer();
  void want_room();
  void stop_wanting_room();
  void detach(Conversation& conversation, ShmChannel*& channel);

  // In link_farewell.cc.
  void hear_socket(int most_packets);
  bool add_farewell(std::span<const std::byte> records);
  void deliver_farewell();

  // Delivery, in link_delivery.cc. False: the peer broke the protocol.
  bool deliver(const RecordWord& word, std::span<const std::byte> bytes);
  bool deliver_connect(std::uint32_t number, std::span<const std::byte> bytes);
  bool refuse_unheard(std::uint32_t number);
  bool deliver_accept(std::uint32_t number, std::span<const std::byte> bytes);
  bool abandon_unheard(std::uint32_t number);
  bool deliver_final(const RecordWord& word, std::span<const std::byte> bytes);
  bool conclude(std::uint32_t number, CloseReason reason, const TerminateCode& code);

  // Fixed after construction.
  ShmCarrier& carrier_;
  const CarrierId peer_;
  const Segment segment_;
  const PeerSocket socket_;
  const std::shared_ptr<PeerResources> resources_;
  std::unique_ptr<Reactor::Watch> watch_;
  std::unique_ptr<DeathWatch> death_watch_;  // of the peer's process
  base::Ordered<base::SpinLock, locks::kLinkTail> tail_;
  // Guarded by tail_, but for what the ring says.
  RingWriter writer_;
  bool is_stopped_ = false;  // while outbox_ holds something, which nothing may overtake
  std::atomic<bool> is_mute_{false};
  // Owned by the baton, but for what the ring says.
  RingReader reader_;
  ConversationTable conversations_;
  ChannelQueue blocked_;
  struct Waiting {
    RecordKind kind;
    std::uint32_t number;
    Bytes bytes;
  };
  std::deque<Waiting> outbox_;  // records that found no room and go first: set-up, final ones, acks
  Bytes farewell_;              // the peer's records that found no room, for when its ring is empty
  bool has_written_ = false;    // since the last flush()
  // False only if has_written_ is, and blocked_ and outbox_ are empty.
  bool may_have_to_write_ = false;
  std::uint32_t idle_polls_ = 0;
  bool is_hot_ = false;  // the carrier looks at it in every turn
  bool is_broken_ = false;
  bool is_peer_gone_ = false;
};

}  // namespace softdat::transport::shm
