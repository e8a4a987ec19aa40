// SPDX-License-Identifier: BSD-2-Clause
// Introductions: how a carrier finds peers and lets them find it: LinkConnectors that ask at a rendezvous, peers that
// have reached ours (PendingAccept), and which link leads to which service. Both ways end in a link of the LinkList.
//
// REQUIRES the baton, but for duty(). Errors: a peer that cannot be served now, for want of memory or descriptors or
// because too many are silent, is hung up on and comes again.
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

class Introductions {
 public:
  // `carrier` outlives it.
  explicit Introductions(CarrierParts& carrier);
  ~Introductions();

  // Sends a channel's question to its service: by the link to whoever served this id before, or by asking at its
  // rendezvous. Only kUnderWay leaves something to wait for. Throws std::bad_alloc.
  LinkConnector::Begin start(ShmChannel& channel);
  // A refusal because the service has moved sends us back to its rendezvous. Any other refusal goes to the sink.
  void on_refused(ShmChannel& channel, Link& link, const RefusalNotice& notice);
  // Nobody is asked any more: all that wait are refused.
  void give_up();

  // A peer has connected to a rendezvous of ours.
  void greet(PeerSocket socket);
  // It has said Hello. Throws std::bad_alloc.
  void welcome(PeerSocket socket, Hello hello);
  // A peer has answered our Hello. Null: the peer's memory cannot be mapped. Throws std::bad_alloc.
  Link* join(PeerSocket socket, Welcome welcome);
  // The files of this carrier for every peer.
  ResourceFiles resource_files() const;

  // Who serves a service. A cache only: what is forgotten is asked for at the rendezvous.
  void remember(const ServiceKey& key, Link& link);
  // The link has ended. The names of its peer's services may be abandoned.
  void forget(const Link& link);

  bool are_under_way() const { return !connectors_.empty() || !pending_accepts_.empty(); }
  void turn(base::Time now);
  const Duty& duty() const { return duty_; }

 private:
  LinkConnector::Begin start_if_possible(ShmChannel& channel);
  std::shared_ptr<PeerResources> attach_peer(int socket, std::array<base::UniqueFd, kResourceFiles> files);
  void tell_of_other_version(const ServiceKey& key);

  CarrierParts& carrier_;
  std::map<ServiceKey, std::unique_ptr<LinkConnector>> connectors_;
  std::vector<std::unique_ptr<PendingAccept>> pending_accepts_;
  std::map<ServiceKey, Link*> known_services_;  // who served them when last asked
  Duty duty_;                                   // connectors that try again
  bool has_told_of_version_ = false;
};

}  // namespace softdat::transport::shm
