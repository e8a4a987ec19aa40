// SPDX-License-Identifier: BSD-2-Clause
// QueuePair: its state, and its connection from begin to end. Parts of it are the Requester (this side's requests), the
// Responder (those of the peer), Outgoing (what the channel is being given), ConnectionNews (what the consumer is still
// to be told) and FailureReport (why a connection failed). The source files: _post (posts of the consumer), _recv
// (receives and their limits), _failure (messages for people), _connection (begin and end of connections), _channel
// (what the channel delivers).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/brief_lock.h"
#include "base/guarded.h"
#include "base/timers.h"
#include "hca/counters.h"
#include "hca/device.h"
#include "hca/transfer_counters.h"
#include "simnic/connect_attempt.h"
#include "simnic/connection_news.h"
#include "simnic/direct/direct_path.h"
#include "simnic/failure_report.h"
#include "simnic/fault.h"
#include "simnic/lane.h"
#include "simnic/lock_places.h"
#include "simnic/outgoing.h"
#include "simnic/queue_pair_state.h"
#include "simnic/quota.h"
#include "simnic/receive_limits.h"
#include "simnic/region_cache.h"
#include "simnic/requester.h"
#include "simnic/responder.h"
#include "simnic/rnr_policy.h"
#include "simnic/task.h"
#include "transport/carrier.h"

namespace softdat::simnic {

class Engine;

// What a queue pair shares with its NIC.
struct NicView {
  Engine& engine;
  MemoryTable& memory;
  direct::Home* home;    // null: no direct access
  std::uint32_t stream;  // the queue pair's own number
  hca::Address address;  // the port is this queue pair's
  RnrPolicy rnr;
  base::Duration connect_grace;  // for how long a connect that finds no listener tries again
};

class QueuePair : public hca::QueuePair,
                  public hca::CountingQueuePair,
                  private transport::ChannelSink,
                  private Task,
                  private base::Timer {
 public:
  // Requires pd, both cqs and limits within the device's. Throws std::bad_alloc.
  QueuePair(const NicView& nic, const hca::QueuePairConfig& config);
  ~QueuePair() override;

  const hca::QueuePairLimits& limits() const final { return limits_; }
  hca::Outcome post_send(const hca::SendRequest& request) override;
  hca::Result<std::uint32_t> post_bind(const hca::BindRequest& request) override;
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  void set_recv_limits(std::uint32_t soft, std::uint32_t hard) final;
  std::uint32_t sends_outstanding() const final { return requester_.queue().outstanding(); }
  std::uint32_t recvs_outstanding() const final { return responder_.queue().outstanding(); }
  hca::Outcome connect(const hca::ConnectParameters& parameters) override;
  hca::Outcome disconnect(bool graceful) final;
  hca::Outcome reset() final;
  hca::Address remote_address() const final;
  std::uint16_t local_port() const final { return nic_.address.port; }
  hca::Outcome inherit_recvs(hca::QueuePair& from) final;
  hca::Failure explain(const hca::SendRequest& request) const override;
  hca::Failure explain(const hca::RecvRequest& request) const override;
  hca::Failure explain(const hca::BindRequest& request) const override;
  void note_place(bool is_receive, const void* place) final;
  hca::TransferCounts transfer_counts() const final { return counters_.read(); }
  hca::QueuePairCounts counts() const override;

  void set_share(Share share) { share_ = std::move(share); }

  // Answers a peer yes, in the name of that service. kInvalidState unless idle. A peer that has gone
  // meanwhile is heard of as kAcceptFailed.
  hca::Outcome accept_with_baton(transport::InboundRequest& request, std::uint64_t service_id,
                                 std::span<const std::byte> private_data);

 protected:
  // When it returns, the engine and the channel do not call this queue pair any more. A derived class must call it
  // first in its destructor, or the engine thread may call a half-destroyed object. Calls after the first do nothing.
  void leave_engine();
  // With the baton. A completion found its queue full: the connection breaks.
  void lose_completion();

 private:
  // The lane, held by the holder of the baton; then is_plain_ is renewed. May be nested.
  class Entry {
   public:
    explicit Entry(QueuePair& queue_pair) : queue_pair_(queue_pair), hold_(queue_pair.lane_) {}
    ~Entry() { queue_pair_.is_plain_ = queue_pair_.is_plain_now(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    QueuePair& queue_pair_;
    const Lane::Hold hold_;
  };

  // Task, Timer and ChannelSink.
  void run_with_baton() final;
  void on_timer() final;
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) final;
  void on_fault(const transport::Arrival& arrival) final;
  void on_message(const transport::Message& message) final;
  void end_short_sends() final;
  bool on_short_send(const transport::ShortSend& short_send) final;
  std::uint64_t receive_length() final;
  void on_writable() final;
  void on_established(const transport::Offer& peer) final;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) final;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) final;

  // _post
  bool post_directly(const hca::SendRequest& request, std::uint32_t length);
  void place_directly(const hca::SendRequest& request, SendEntry& entry);
  bool has_copied_for_long(std::uint64_t length);
  hca::Done tell_of_done();
  bool send_at_once();

  // _connection
  hca::Outcome begin_disconnect(bool graceful);
  void leave_peer();
  bool advance(QueuePairEvent event);
  transport::Offer make_offer(std::span<const std::byte> private_data);
  void set_remote(const transport::Address& address);
  void end(QueuePairEvent event, const Fault& blame, hca::ConnectionEventType news,
           std::span<const std::byte> private_data = {}, std::optional<std::uint64_t> culprit = std::nullopt);
  transport::CloseMode farewell_of(QueuePairEvent event);
  bool asks_again_later();
  void ask_again();
  transport::CloseMode say_farewell();
  void abandon_channel(transport::CloseMode mode);

  // _failure
  std::string report(hca::Failure failure);
  void tell_peer_why();
  void watch_for_receive();
  void on_receive_lacking();

  // _recv
  bool obeys_recv_limits() { return !recv_limits_.is_set() || enforce_recv_limits(); }
  bool enforce_recv_limits();

  // _channel
  bool is_open() const {
    const hca::QueuePairState now = state();
    return channel_ && (now == hca::QueuePairState::kConnected || now == hca::QueuePairState::kDisconnecting);
  }
  bool takes_notes() const;
  void on_note(const transport::Message& message);
  void object(const Fault& fault);
  void terminate(const Fault& fault, std::optional<std::uint64_t> culprit = std::nullopt);
  void take_short_sends();
  bool is_plain_now() const;
  void pump();
  void give_to_channel();
  bool send_short();
  bool object_to_refusal();
  bool may_resume();
  void settle();
  bool is_drained() const;

  // Fixed after construction.
  const NicView nic_;
  const hca::QueuePairLimits limits_;
  hca::QueuePairSink* const sink_;
  SharedReceiveQueue* const shared_;  // null: receives are posted here
  const MemoryView memory_;
  // Lock order: the baton, the lane, send_mutex_, recv_mutex_. With send_mutex_ held a thread may only try the lane.
  base::Ordered<base::BriefLock, locks::kPostSend> send_mutex_;     // guards the posting side of requester_.queue()
  base::Ordered<base::BriefLock, locks::kPostReceive> recv_mutex_;  // guards the posting side of responder_.queue()
  // state_ is written with the baton by advance() alone, and with both mutexes when it leaves kError.
  mutable base::Guarded<hca::Address, locks::kRemote> remote_;  // set with the baton
  RegionCache send_regions_;   // for those that read local memory; guarded by send_mutex_
  RegionCache recv_regions_;   // guarded by recv_mutex_
  ReceiveLimits recv_limits_;  // set with the baton, which then looks at the queue; asked by posters after they pushed
  // Written with the baton and recv_mutex_, read with either: another has inherited the receives.
  bool is_retired_ = false;
  std::uint64_t copied_ = 0;        // in sends, since catch_up(); guarded by send_mutex_
  DirectPath direct_;               // its own header says what takes which lock
  hca::TransferCounters counters_;  // of posts: guarded by their mutex; of receives: by the lane
  Lane lane_;
  // Guarded by lane_, and changed with the baton, but for what a short send changes.
  Requester requester_;
  Responder responder_;
  std::unique_ptr<transport::Channel> channel_;
  Outgoing outgoing_;
  ConnectionNews news_;
  FailureReport failure_;
  bool takes_short_sends_ = false;     // the channel, from posters too; the lane is listed
  bool is_plain_ = false;              // is_plain_now(), as of the last Entry
  std::uint64_t reads_to_answer_ = 0;  // before a graceful disconnect
  std::uint64_t service_asked_ = 0;    // by connect()
  base::Duration asked_timeout_{};     // of connect()
  bool is_lack_told_ = false;          // of the receive that the peer's present send waits for
  bool has_left_ = false;              // leave_engine() was called
  // Owned by the baton.
  std::unique_ptr<ConnectAttempt> attempt_;  // while connecting; without a channel it waits for its next try
  Share share_;                              // set by the maker
};

}  // namespace softdat::simnic
