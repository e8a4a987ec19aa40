// SPDX-License-Identifier: BSD-2-Clause
// ShmCarrier: carries RDMA between carriers of one host and one user, over shared memory. With each
// peer carrier it has one link (two, when both began at once), whatever the number of channels.
//
// Segments are memfds, and every descriptor is closed on exec. The socket files of a process that was killed outlive
// it: its peers remove those that they know, and the next carrier removes the others. A turn looks at one word per link
// while nothing happens, and at the kernel now and then.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "transport/carrier.h"
#include "transport/lock_places.h"
#include "transport/peer_resources.h"
#include "transport/reactor.h"
#include "transport/shm/death_watch.h"
#include "transport/shm/handshake.h"
#include "transport/shm/link_connector.h"
#include "transport/shm/rendezvous.h"
#include "transport/shm/segment_places.h"
#include "transport/shm/shm_channel.h"

namespace softdat::transport::shm {

struct LinkParts;
class PendingAccept;
class Link;
class ShmPort;

struct ShmOptions {
  Address address{.ipv4 = 0x7f000001};                    // what peers find this carrier under
  std::size_t ring_bytes = std::size_t{256} << 10;        // of each direction of a link; a power of two
  std::shared_ptr<ResourceExchange> resources = nullptr;  // null: peers are shown nothing
};

class ShmCarrier final : public Carrier {
 public:
  // Why this process cannot share memory, in words for the user; empty when it can.
  static std::string problem(const ShmOptions& options);

  // The reactor outlives the carrier.
  ShmCarrier(Reactor& reactor, const ShmOptions& options);
  ~ShmCarrier() override;

  ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) override;
  std::unique_ptr<Channel> connect(const Address& remote, const Offer& request, ChannelSink& sink) override;
  std::size_t turn(base::Time now) override;
  void wait(base::Time deadline) override;
  void interrupt() override;
  bool has_failed() const override { return has_failed_; }
  void tap(Tapper* tapper) override;

  // As connect(), but null when nobody on this host serves that id at that address.
  std::unique_ptr<Channel> try_connect(const Address& remote, const Offer& request, ChannelSink& sink);

  // turn() and wait() without the reactor, for a carrier that shares it with others. A turn is:
  // ask wants_look(), dispatch the reactor if so or if finish_wait() was called since, move().
  std::size_t move(base::Time now);
  bool wants_look(base::Time now);
  std::size_t look() override { return has_waited_.load(std::memory_order_relaxed) ? kTakesTurn : look_at_links(); }
  std::size_t look_at_links() { return is_calm() ? poll_hot() : kTakesTurn; }
  const WatchWords* watch_words() const override { return &watch_words_; }
  // A poll has more to look at than the links.
  void watch_more() { watch_words_.clear(); }
  // Whether there are peers, whose rings a turn should not keep waiting for the kernel.
  bool has_links() const { return !links_.empty(); }
  // Without the baton: tells peers that we are about to sleep; the latest time to sleep until, or
  // Time::min() when there is work. REQUIRES Reactor::prepare_wait(). finish_wait() must follow.
  base::Time prepare_wait();
  void finish_wait();

  // Hangs up on every peer at once, as the death of this process would. For tests.
  void sever_links();

  // For the carrier's parts, with the baton.
  Reactor& reactor() { return reactor_; }
  const CarrierId& id() const { return id_; }
  const Address& address() const { return options_.address; }
  void enlist(ShmChannel& channel) { channels_.push_back(channel); }
  // Watches connections; null: none does.
  Tapper* tapper() const { return tapper_; }
  const Rendezvous& rendezvous() const { return rendezvous_; }
  // For one packet at a time. Not on the stack, which may be the consumer's and small.
  std::span<std::byte> packet_buffer() { return packet_buffer_; }
  // A peer has rung: the next turn looks at every link.
  void on_bell() {
    must_poll_all_.store(true, std::memory_order_relaxed);
    watch_more();
  }
  // The reactor may have found out that it has failed, or a part of this carrier has something for the next move().
  void stir() {
    is_calm_ = false;
    watch_words_.clear();
  }
  ResourceExchange* resources() const { return options_.resources.get(); }
  ResourceFiles resource_files() const;
  ShmPort* find_port(std::uint64_t service_id);
  void remove_port(std::uint64_t service_id) { ports_.erase(service_id); }
  // Has the port look again after a while: what it lacks now nobody announces.
  void rest(std::uint64_t service_id);
  void greet(PeerSocket socket);
  void welcome(PeerSocket socket, Hello hello);
  Link* join(PeerSocket socket, Welcome welcome);
  Link* find_link(const CarrierId& peer) const;
  void remember(const ServiceKey& key, Link& link);
  // Its server hung up, so it may be dead. Its file is removed as soon as nobody listens there.
  void note_abandoned(const ServiceKey& key);
  void add_news(ShmChannel& channel);
  void on_refused(ShmChannel& channel, Link& link, const RefusalNotice& notice);
  // A turn() would find work that no peer announces: news, or the end of a link.
  void note_work();
  // The link with a peer has ended, and ResourceExchange::detach_peer() has answered false: has it called again when
  // the peer's process has ended.
  void await_end(std::unique_ptr<DeathWatch> watch, const std::shared_ptr<PeerResources>& peer);
  // Any thread: a link is mute.
  void note_end_of_link();

 private:
  LinkConnector::Begin start(ShmChannel& channel);
  LinkConnector::Begin start_if_possible(ShmChannel& channel);
  Link* add_link(LinkParts parts);
  void break_down();
  void check_links(base::Time now);
  std::shared_ptr<PeerResources> attach_peer(int socket, std::array<base::UniqueFd, kResourceFiles> files);
  bool is_calm() const { return is_calm_ && !must_poll_all_.load(std::memory_order_relaxed); }
  bool can_be_calm() const;
  std::size_t move_slow(base::Time now);
  std::size_t poll_hot();
  void publish_words();
  std::size_t poll_links();
  std::size_t poll_all();
  std::size_t poll_next_cold();
  void heat(Link& link);
  void cool(std::size_t index);
  void cool_idle();
  std::size_t tell_news();
  void sweep();
  void wake_ports(base::Time now);
  void retire(Link& link);
  void part_with_the_dead();
  void note_duty(std::atomic<bool>& is_noted, bool is_there);
  void note_names_of(const Link& link);
  void remove_abandoned(base::Time now);
  void tell_of_other_version(const ServiceKey& key);
  bool is_meeting() const { return !connectors_.empty() || !pending_accepts_.empty(); }

  // Fixed after construction.
  Reactor& reactor_;
  const ShmOptions options_;
  const CarrierId id_;
  const Rendezvous rendezvous_;
  // Owned by the baton.
  std::map<std::uint64_t, ShmPort*> ports_;
  std::vector<std::uint64_t> resting_ports_;
  std::optional<base::Time> rest_until_;
  SegmentPlaces segment_places_;  // of the links
  // Peers that have no link any more, but whose process may still be at our memory. When it has ended, the NIC is told.
  struct Departed {
    std::unique_ptr<DeathWatch> watch;
    std::shared_ptr<PeerResources> peer;
  };
  std::vector<Departed> departed_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<Link*> hot_;     // those that every turn looks at
  std::size_t next_cold_ = 0;  // of links_: where looking at the others goes on
  std::map<ServiceKey, std::unique_ptr<LinkConnector>> connectors_;
  std::vector<std::unique_ptr<PendingAccept>> pending_accepts_;
  std::map<ServiceKey, Link*> known_services_;  // who served them when last asked
  // Names of peers that are gone. Their files are removed as soon as nobody listens there.
  struct Abandoned {
    ServiceKey name;
    int tries_left;
  };
  std::vector<Abandoned> abandoned_;
  std::optional<base::Time> remove_abandoned_at_;
  std::vector<std::byte> packet_buffer_;
  ChannelQueue news_;
  AllChannels channels_;
  Tapper* tapper_ = nullptr;
  std::uint32_t turns_since_look_ = 0;
  // The links are all that move() has to look at, and all of them are hot. Set by move(), cleared by stir().
  bool is_calm_ = false;
  WatchWords watch_words_;
  bool may_show_words_ = false;  // a polling thread survives the load of a word that has been unmapped
  bool has_failed_ = false;
  bool has_told_of_version_ = false;
  base::Time last_look_{};
  base::Time check_links_at_{};
  // Written with the baton, read without it by prepare_wait().
  std::atomic<bool> has_retries_{false};
  std::atomic<bool> has_resting_ports_{false};
  std::atomic<bool> has_abandoned_{false};
  // Set with or without the baton, cleared with it: the next turn looks at every link.
  std::atomic<bool> must_poll_all_{false};
  // Set by finish_wait(), cleared with the baton: wait() may have found something.
  std::atomic<bool> has_waited_{false};
  // Guarded: the links as those who sleep see them. A link leaves this list before it dies.
  base::Guarded<std::vector<Link*>, locks::kSleepers> sleepers_;
};

}  // namespace softdat::transport::shm
