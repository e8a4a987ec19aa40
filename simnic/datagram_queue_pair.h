// SPDX-License-Identifier: BSD-2-Clause
// DatagramQueuePair: sends to the queue pair that an address handle names, and receives from any. Unlike a connected
// queue pair it sends no acks, and drops a datagram that finds no receive.
//
// Holds the state, and lets its three parts act when the state allows it: the queues of sends and receives, and the
// exchanges. Threads and errors: as hca::QueuePair.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "hca/datagram.h"
#include "hca/transfer_counters.h"
#include "simnic/datagram_exchanges.h"
#include "simnic/datagram_receive_queue.h"
#include "simnic/datagram_send_queue.h"
#include "simnic/datagram_switch.h"
#include "simnic/quota.h"
#include "simnic/scatter_gather.h"
#include "simnic/task.h"

namespace softdat::simnic {

class Engine;

// What a datagram queue pair shares with its NIC.
struct DatagramNicView {
  Engine& engine;
  MemoryTable& memory;
  DatagramSwitch& datagrams;
  hca::Address address;
  base::Duration connect_grace;  // as NicView
};

class DatagramQueuePair final : public hca::DatagramQueuePair,
                                public hca::CountingQueuePair,
                                private DatagramLinkSink,
                                private Task {
 public:
  // Requires pd, both cqs and limits within the device's. Throws std::bad_alloc.
  DatagramQueuePair(const DatagramNicView& nic, const hca::QueuePairConfig& config, hca::DatagramSink& sink);
  ~DatagramQueuePair() override;

  const hca::QueuePairLimits& limits() const override { return limits_; }
  hca::Outcome post_send(const hca::SendRequest&) override { return hca::fail(hca::Error::kUnsupported); }
  hca::Result<std::uint32_t> post_bind(const hca::BindRequest&) override { return hca::fail(hca::Error::kUnsupported); }
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  std::uint32_t sends_outstanding() const override { return sends_.outstanding(); }
  std::uint32_t recvs_outstanding() const override { return receives_.outstanding(); }
  void set_recv_limits(std::uint32_t soft, std::uint32_t hard) override;
  hca::Outcome connect(const hca::ConnectParameters& parameters) override;
  hca::Outcome disconnect(bool graceful) override;
  hca::Outcome reset() override;
  hca::Address remote_address() const override { return {}; }
  std::uint16_t local_port() const override { return 0; }
  // Receives stay where they are, of whichever kind.
  hca::Outcome inherit_recvs(hca::QueuePair& from) override { return from.retire(); }
  hca::Outcome retire() override;
  bool has_told_all() const override;
  std::uint32_t number() const override { return number_; }
  hca::TransferCounts transfer_counts() const override { return counters_.read(); }
  hca::QueuePairCounts counts() const override;
  hca::Outcome post_datagram(const hca::DatagramRequest& request) override;

  void set_share(Share share) { share_ = std::move(share); }

  // Answers a peer that asked for an exchange; kInvalidArgument if it asked for anything else.
  hca::Outcome accept_with_baton(transport::InboundRequest& request, std::span<const std::byte> private_data);
  // Dropped without a word when there is no receive that it fits into.
  void receive_with_baton(const DatagramHead& head, const transport::Address& sender, std::span<const std::byte> data);

 private:
  void run_with_baton() override;
  bool on_exchanged(DatagramLink& link, hca::ConnectionEventType type,
                    std::span<const std::byte> private_data) override;

  bool may_exchange() const { return state() != hca::QueuePairState::kError && !receives_.is_retired(); }
  void enter_error(hca::ConnectionEventType news);

  // Fixed after construction.
  const DatagramNicView nic_;
  const hca::QueuePairLimits limits_;
  hca::QueuePairSink* const sink_;
  std::uint32_t number_ = 0;
  hca::TransferCounters counters_;  // of posts: guarded by the posting locks; of receives: owned by the baton
  // state_ is written with the baton, and with both posting locks when it leaves kError.
  DatagramSendQueue sends_;
  DatagramReceiveQueue receives_;
  DatagramExchanges exchanges_;
  Share share_;  // set by the maker
};

}  // namespace softdat::simnic
