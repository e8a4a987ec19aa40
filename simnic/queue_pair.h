// SPDX-License-Identifier: BSD-2-Clause
// QueuePair: a queue pair of the simulated HCA, as the consumer sees it. Holds its parts together: the posts of both
// queues (SendPosts, ReceivePosts), and the connection (ReliableConnection), which has the engine's side of the queues.
//
// Ownership: the caller of Nic::create_qp() owns it. The objects named in the config must outlive it.
// Threads and errors: as hca/queue_pair.h says. The state is written with the baton by ConnectionLifecycle alone, and
// with the mutexes of both SendPosts and ReceivePosts when it leaves kError.
#pragma once

#include <utility>

#include "hca/counters.h"
#include "hca/device.h"
#include "simnic/nic_view.h"
#include "simnic/quota.h"
#include "simnic/receive_posts.h"
#include "simnic/reliable_connection.h"
#include "simnic/send_posts.h"

namespace softdat::simnic {

class QueuePair : public hca::QueuePair, public hca::CountingQueuePair {
 public:
  // Requires pd, both cqs and limits within the device's. Throws std::bad_alloc.
  QueuePair(const NicView& nic, const hca::QueuePairConfig& config);
  ~QueuePair() override { leave_engine(); }

  const hca::QueuePairLimits& limits() const final { return limits_; }
  hca::Outcome post_send(const hca::SendRequest& request) override;
  hca::Result<std::uint32_t> post_bind(const hca::BindRequest& request) override;
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  void set_recv_limits(std::uint32_t soft, std::uint32_t hard) final { connection_.set_recv_limits(soft, hard); }
  std::uint32_t sends_outstanding() const final { return connection_.path().requester().queue().outstanding(); }
  std::uint32_t recvs_outstanding() const final { return connection_.path().responder().queue().outstanding(); }
  hca::Outcome connect(const hca::ConnectParameters& parameters) override { return connection_.connect(parameters); }
  hca::Outcome disconnect(bool graceful) final;
  hca::Outcome reset() final { return connection_.reset(); }
  hca::Address remote_address() const final { return connection_.remote_address(); }
  std::uint16_t local_port() const final { return nic_.address.port; }
  hca::Outcome inherit_recvs(hca::QueuePair& from) final;
  hca::Outcome retire() final;
  bool has_told_all() const final { return connection_.has_told_all(); }
  hca::Failure explain(const hca::SendRequest& request) const override;
  hca::Failure explain(const hca::RecvRequest& request) const override;
  hca::Failure explain(const hca::BindRequest& request) const override;
  void note_place(bool is_receive, const void* place) final;
  hca::TransferCounts transfer_counts() const final { return counters_.read(); }
  hca::QueuePairCounts counts() const override;

  void set_share(Share share) { share_ = std::move(share); }
  ReliableConnection& connection() { return connection_; }

 protected:
  // A derived class must call it first in its destructor, or the engine thread may call a half-destroyed object.
  void leave_engine() { connection_.leave_engine(); }

 private:
  void finish_post(SendPosts::Posted posted);

  // Fixed after construction.
  const NicView nic_;
  const hca::QueuePairLimits limits_;
  const MemoryView memory_;
  hca::TransferCounters counters_;  // of posts: guarded by their mutex; of receives: by the lane
  SendPosts sends_;
  ReceivePosts recvs_;
  ReliableConnection connection_;  // last: it uses the rest
  Share share_;
};

}  // namespace softdat::simnic
