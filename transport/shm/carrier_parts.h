// SPDX-License-Identifier: BSD-2-Clause
// CarrierParts: what a ShmCarrier is made of. The parts refer to one another through this, so each is declared before
// those whose destructors use it. Owned by a ShmCarrier. Never moved.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/process_fence.h"
#include "transport/offer.h"
#include "transport/peer_resources.h"
#include "transport/reactor.h"
#include "transport/shm/abandoned_names.h"
#include "transport/shm/attention.h"
#include "transport/shm/departed_peers.h"
#include "transport/shm/handshake.h"
#include "transport/shm/introductions.h"
#include "transport/shm/link_list.h"
#include "transport/shm/port_table.h"
#include "transport/shm/refusals.h"
#include "transport/shm/rendezvous.h"
#include "transport/shm/segment_places.h"
#include "transport/shm/shm_channel.h"
#include "transport/shm/unix_socket.h"

namespace softdat::transport::shm {

struct ShmOptions {
  Address address{.ipv4 = 0x7f000001};                    // what peers find this carrier under
  std::size_t ring_bytes = std::size_t{256} << 10;        // of each direction of a link; a power of two
  std::shared_ptr<ResourceExchange> resources = nullptr;  // null: peers are shown nothing
};

struct CarrierParts {
  // The reactor outlives them.
  CarrierParts(Reactor& shared_reactor, const ShmOptions& given_options)
      : reactor(shared_reactor), options(given_options) {
    // Before there is a thread of ours: then it takes no time.
    static_cast<void>(base::join_fences_if_quick());
  }
  CarrierParts(const CarrierParts&) = delete;
  CarrierParts& operator=(const CarrierParts&) = delete;

  // What peers hear of this carrier now.
  Sender sender() const { return {.id = id, .joins_fences = base::join_fences_if_quick()}; }

  // Fixed after construction.
  Reactor& reactor;
  const ShmOptions options;
  const CarrierId id = make_carrier_id();
  const Rendezvous rendezvous;
  // Owned by the baton, but for what the parts say themselves.
  // Holds one packet at a time. It is not on the stack, because that may be the consumer's and small.
  std::vector<std::byte> packet_buffer = std::vector<std::byte>(kMostPacketBytes);
  Tapper* tapper = nullptr;  // watches connections; null: none does
  AllChannels channels;
  Attention attention{reactor};
  Refusals refusals{attention};
  PortTable ports{attention, reactor};
  AbandonedNames abandoned{rendezvous, attention, reactor};
  DepartedPeers departed{options.resources.get(), attention};
  SegmentPlaces segment_places;  // of the links
  LinkList links{*this};
  Introductions introductions{*this};
};

}  // namespace softdat::transport::shm
