// SPDX-License-Identifier: BSD-2-Clause
// DatagramQueuePair: sends to the queue pair that an address handle names, and receives from any. Unlike a connected
// queue pair it sends no acks, and drops a datagram that finds no receive.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "hca/datagram.h"
#include "hca/transfer_counters.h"
#include "simnic/completion_feed.h"
#include "simnic/datagram_link.h"
#include "simnic/datagram_switch.h"
#include "simnic/lock_places.h"
#include "simnic/quota.h"
#include "simnic/receive_limits.h"
#include "simnic/region_cache.h"
#include "simnic/scatter_gather.h"
#include "simnic/shared_receive_queue.h"
#include "simnic/task.h"
#include "simnic/work_queue.h"

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

// Holds its link open.
class AddressHandle final : public hca::AddressHandle {
 public:
  AddressHandle(Engine& engine, std::shared_ptr<DatagramLink> link);
  ~AddressHandle() override;
  hca::Address address() const override { return address_; }
  std::uint32_t qp_number() const override { return qp_number_; }
  std::uint64_t link_number() const { return link_number_; }

 private:
  // Fixed after construction.
  Engine& engine_;
  const hca::Address address_;
  const std::uint32_t qp_number_;
  const std::uint64_t link_number_;
  // Owned by the baton.
  std::shared_ptr<DatagramLink> link_;
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
  std::uint32_t recvs_outstanding() const override { return recvs_.outstanding(); }
  void set_recv_limits(std::uint32_t soft, std::uint32_t hard) override;
  hca::Outcome connect(const hca::ConnectParameters& parameters) override;
  hca::Outcome disconnect(bool graceful) override;
  hca::Outcome reset() override;
  hca::Address remote_address() const override { return {}; }
  std::uint16_t local_port() const override { return 0; }
  // Receives stay where they are: kInvalidState if there are any.
  hca::Outcome inherit_recvs(hca::QueuePair& from) override;
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
  struct SendEntry {
    std::uint64_t wr_id;
    std::uint64_t link;
    std::uint32_t qp_number;
    std::uint32_t flags;
    std::uint32_t length;
    std::uint16_t segment_count;
  };

  void run_with_baton() override;
  bool on_exchanged(DatagramLink& link, hca::ConnectionEventType type,
                    std::span<const std::byte> private_data) override;

  transport::Offer make_offer(std::span<const std::byte> private_data) const;
  DatagramLink& make_link();
  void drop_newest_link();
  void release_links();
  void tell(hca::DatagramEvent event);
  void transmit_oldest();
  bool has_receive();
  void look_at_recv_limits();
  void complete_send(hca::CompletionStatus status);
  void complete_recv(hca::CompletionStatus status, std::uint32_t length, bool is_solicited);
  void enter_error(hca::ConnectionEventType news);
  void flush();

  // Fixed after construction.
  const DatagramNicView nic_;
  const hca::QueuePairLimits limits_;
  hca::QueuePairSink* const sink_;
  hca::DatagramSink& datagram_sink_;
  SharedReceiveQueue* const shared_;
  const MemoryView memory_;
  const MemoryView recv_memory_;
  std::uint32_t number_ = 0;
  base::Mutex<locks::kPostDatagram> send_mutex_;         // guards the posting side of sends_
  base::Mutex<locks::kPostDatagramReceive> recv_mutex_;  // guards the posting side of recvs_
  hca::TransferCounters counters_;  // of posts: guarded by their mutex; of receives: owned by the baton
  RegionCache recv_regions_;        // guarded by recv_mutex_
  // state_ is written with the baton, and with both mutexes when it leaves kError.
  ReceiveLimits recv_limits_;  // set with the baton, which then looks at the queue; asked by posters after they pushed
  // Owned by the baton.
  WorkQueue<SendEntry> sends_;
  WorkQueue<RecvEntry> recvs_;
  CompletionFeed send_feed_;
  CompletionFeed recv_feed_;
  std::vector<std::shared_ptr<DatagramLink>> links_;  // of the exchanges made here
  std::size_t promised_exchanges_ = 0;                // whose outcome is still to be told
  bool is_end_promised_ = false;                      // a place for the next enter_error() to tell
  Share share_;                                       // set by the maker
};

}  // namespace softdat::simnic
