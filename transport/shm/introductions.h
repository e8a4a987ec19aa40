// SPDX-License-Identifier: BSD-2-Clause
// Introductions: how a carrier finds peers and lets them find it: LinkConnectors that ask at a rendezvous, peers that
// have reached ours (PendingAccept), and which link leads to which service. Both ways end in a link of the LinkList.
//
// Threads: every call but duty() REQUIRES the baton. Errors: the carrier hangs up on a peer that it cannot serve now
// (no memory, no descriptors, too many silent peers). The peer comes again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "transport/shm/attention.h"
#include "transport/shm/handshake.h"
#include "transport/shm/link_connector.h"
#include "transport/shm/shm_channel.h"

namespace softdat::transport::shm {

class Link;
class PendingAccept;
struct CarrierParts;
struct LinkParts;

class Introductions {
 public:
  // `carrier` outlives it.
  explicit Introductions(CarrierParts& carrier);
  ~Introductions();

  // Sends the channel's question to its service. A link that led to this service before is used again; otherwise the
  // rendezvous is asked. Only kUnderWay leaves something to wait for. Throws std::bad_alloc.
  LinkConnector::Begin start(ShmChannel& channel);
  // A refusal because the service has moved sends us back to its rendezvous. Any other refusal goes to the sink.
  void on_refused(ShmChannel& channel, Link& link, const RefusalNotice& notice);
  // The link has ended before its peer answered the channel's question. It is asked anew, or the sink hears a refusal.
  void on_link_lost(ShmChannel& channel);
  // Refuses all channels that wait, because nobody can be asked any more.
  void give_up();

  // A peer has connected to a rendezvous of ours.
  void greet(PeerSocket socket);
  // A peer that greet() has taken has said Hello. Throws std::bad_alloc.
  void welcome(PeerSocket socket, Hello hello);
  // A peer has answered our Hello. Null: the peer's memory cannot be mapped. Throws std::bad_alloc.
  Link* join(PeerSocket socket, const Sender& self, Welcome welcome);
  // The files of this carrier for every peer.
  ResourceFiles resource_files() const;

  // Notes that this link leads to the service. It is a cache: a forgotten service is looked up at its rendezvous.
  void remember(const ServiceKey& key, Link& link);
  // The link has ended. The names of its peer's services may be abandoned.
  void forget(const Link& link);

  bool are_under_way() const { return !connectors_.empty() || !pending_accepts_.empty(); }
  void turn(base::Time now);
  const Duty& duty() const { return duty_; }

 private:
  LinkConnector::Begin start_if_possible(ShmChannel& channel);
  bool may_start_anew(ShmChannel& channel) const;
  LinkConnector::Begin start_anew(ShmChannel& channel);
  std::shared_ptr<PeerResources> attach_peer(int socket, std::array<base::UniqueFd, kResourceFiles> files);
  Link* add_link(LinkParts parts, std::array<base::UniqueFd, kResourceFiles> files);
  void tell_of_other_version(const ServiceKey& key);

  CarrierParts& carrier_;
  std::map<ServiceKey, std::unique_ptr<LinkConnector>> connectors_;
  std::vector<std::unique_ptr<PendingAccept>> pending_accepts_;
  std::map<ServiceKey, Link*> known_services_;  // who served them when last asked
  Duty duty_;                                   // connectors that try again
  bool has_told_of_version_ = false;
  bool has_given_up_ = false;
};

}  // namespace softdat::transport::shm
