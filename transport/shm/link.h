// SPDX-License-Identifier: BSD-2-Clause
// Link: all that two carriers (usually of two processes) share, however many channels they have: one segment with a
// ring each way, and a socket that carries bells. The end of the socket tells of the peer's death. Owned by its
// carrier. REQUIRES of every call but writer(), arm(), disarm(), has_work(), sever() and is_intact(): the
// baton.
//
// Parts: the LinkWriter writes our ring, the Link reads the peer's, and the Conversations know what each record means.
// The link ends if the peer breaks the protocol or dies, and if there is no memory to hold back a record for which the
// ring has no room. Then ending().is_due(), and the carrier calls end() from its turn, which tells each channel once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "transport/peer_resources.h"
#include "transport/reactor.h"
#include "transport/shm/conversations.h"
#include "transport/shm/death_watch.h"
#include "transport/shm/handshake.h"
#include "transport/shm/link_end.h"
#include "transport/shm/link_writer.h"
#include "transport/shm/reaper.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/segment.h"

namespace softdat::transport::shm {

struct CarrierParts;

struct LinkParts {
  Side side;
  CarrierId peer;
  SleepFence fence = SleepFence::kBoth;  // as both handshakes together say
  Segment segment;
  PeerSocket socket;
  std::shared_ptr<PeerResources> resources;  // null: none
};

// How busy a link has been of late (LinkList).
struct LinkHeat {
  std::uint32_t idle_polls = 0;  // in a row, which found nothing to do, nor to wait for
  bool is_hot = false;           // every turn looks at the link

  // Returns what an idle poll has done: nothing.
  std::size_t count_idle_poll() {
    ++idle_polls;
    return 0;
  }
};

// Keeps records that the peer sent through the socket because its ring was full. They are delivered after the ring.
class Farewell {
 public:
  // False: they are too many, or there is no memory.
  bool add(std::span<const std::byte> records);
  Bytes take() { return std::move(records_); }

 private:
  Bytes records_;
};

class Link final : public ReadinessSink {
 public:
  // Records that are taken at most before other links get their turn.
  static constexpr std::size_t kRecordsPerPoll = 64;

  Link(CarrierParts& carrier, LinkParts parts);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const CarrierId& peer() const { return peer_; }
  const std::shared_ptr<PeerResources>& peer_resources() const { return resources_; }
  LinkWriter& writer() { return writer_; }
  Conversations& conversations() { return conversations_; }
  LinkHeat& heat() { return heat_; }

  // Whether take_records() would find nothing to do. Inline: of the links that every turn looks at, most are quiet.
  bool is_quiet() const { return !reader_.has_record() && !writer_.may_have_to_write(); }
  // Takes in what has arrived, `most` records at most, and resumes writers. How many things.
  std::size_t take_records(std::size_t most = kRecordsPerPoll);
  // The address of the word with which the peer's next record will begin.
  const std::byte* next_word() const { return reader_.record(); }

  LinkEnd& ending() { return end_; }
  // REQUIRES: ending().is_due(). Nothing of the link is used afterwards.
  void end();
  // Sends records that found no room in the ring through the socket. Called before our carrier ends.
  void say_farewell() const;
  // Any thread. Hangs up; both sides will find the link ending.
  void sever();
  // Any thread. Whether the link's socket is still open. A program that calls closefrom(3) closes it; then no
  // bell is heard.
  bool is_intact() const { return socket_.is_intact(); }

  // These three: without the baton, under the carrier's lock of sleepers.
  bool arm() { return reader_.arm(); }
  void disarm() { reader_.disarm(); }
  bool has_work() const { return reader_.has_record() || writer_.is_room_news(); }

  // The link's socket is readable.
  void on_ready(std::uint32_t readiness) override;

 private:
  std::size_t write_on(std::size_t taken);
  void hear_socket(int most_packets);
  void deliver_farewell();

  // Fixed after construction.
  CarrierParts& carrier_;
  const CarrierId peer_;
  const Segment segment_;
  const PeerSocket socket_;
  const std::shared_ptr<PeerResources> resources_;
  std::unique_ptr<Reactor::Watch> watch_;
  std::unique_ptr<DeathWatch> death_watch_;  // of the peer's process
  // Owned by the baton, but for what the rings say.
  LinkEnd end_;
  LinkWriter writer_;
  RingReader reader_;
  Conversations conversations_;
  Farewell farewell_;
  LinkHeat heat_;
};

}  // namespace softdat::transport::shm
