// SPDX-License-Identifier: BSD-2-Clause
// QueuePair: a queue pair of the device, the id under which the connection manager knows its
// connection, and our record of what has been posted. Its .cc is cut by concern: _post (the
// consumer's way in), _bind, _request (how connections are asked for), _connection (how they come about), _end (how
// they go, and what is flushed).
//
// A broken connection's requests are flushed by the device if it does so in good time, otherwise,
// after its queue pair has been destroyed, by us; requests posted later always by us. So all of them
// complete, in order, and before the consumer hears that the connection has gone.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/brief_lock.h"
#include "hca/counters.h"
#include "hca/device.h"
#include "hca/transfer_counters.h"
#include "verbs/event_thread.h"
#include "verbs/lock_places.h"
#include "verbs/memory_table.h"
#include "verbs/queue_pair_state.h"
#include "verbs/status.h"
#include "verbs/traits.h"
#include "verbs/withheld_established.h"
#include "verbs/work_ring.h"

namespace softdat::verbs {

class CompletionQueue;
class OutgoingPrivateData;
class ProtectionDomain;
class SharedReceiveQueue;

// What a queue pair shares with its device.
struct DeviceView {
  EventThread& events;
  Adapter& adapter;
  MemoryTable& memory;
  WithheldEstablished& withheld;
  const Traits& traits;
};

class QueuePair final : public hca::QueuePair, public hca::CountingQueuePair, private EventTarget {
 public:
  static hca::Result<std::unique_ptr<hca::QueuePair>> create(const DeviceView& device,
                                                             const hca::QueuePairConfig& config);
  ~QueuePair() override;

  const hca::QueuePairLimits& limits() const override { return limits_; }
  hca::Outcome post_send(const hca::SendRequest& request) override;
  hca::Result<std::uint32_t> post_bind(const hca::BindRequest& request) override;
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  std::uint32_t sends_outstanding() const override;
  std::uint32_t recvs_outstanding() const override;
  void set_recv_limits(std::uint32_t soft, std::uint32_t hard) override;
  hca::Outcome connect(const hca::ConnectParameters& parameters) override;
  hca::Outcome disconnect(bool graceful) override;
  hca::Outcome reset() override;
  hca::Address remote_address() const override;
  std::uint16_t local_port() const override;
  hca::Outcome inherit_recvs(hca::QueuePair& from) override;
  hca::TransferCounts transfer_counts() const override { return counters_.read(); }

  // Answers the peer of request.id yes. Takes the id over, which is null afterwards, unless it fails or throws
  // std::bad_alloc.
  hca::Outcome accept(CmEvent& request, std::span<const std::byte> private_data);

  // --- For completion queues, which hold their own lock ---
  std::uint64_t context() const { return context_; }
  // What nearly every success is: of a plain send or write whose completion is wanted, or of a plain receive, and not
  // the first. The entry knows what it was posted as; complete_usual() is all that such a one needs.
  bool is_usual(const WorkEntry& entry, const ibv_wc& wc) const;
  void complete_usual(WorkEntry& entry, std::uint32_t length);
  void on_complete(WorkEntry& entry, hca::CompletionStatus status);
  void on_received(const hca::Completion& completion);
  void on_work_failed(hca::CompletionStatus status, bool is_receive);
  // In words, once for each connection: the entry failed with that status. Before on_complete(). Not inline: posts,
  // which are of one piece and may drain a queue, would contain all that makes words.
  [[gnu::noinline, gnu::cold]] void tell_failed_work(const WorkEntry& entry, const ibv_wc& wc,
                                                     hca::CompletionStatus status);
  void on_overflow();
  // The consumer has ended the connection, so what now fails has been flushed, whatever the device calls it.
  bool was_cut() const { return was_cut_.load(std::memory_order_seq_cst); }
  // Whatever still comes is of no interest to anybody.
  bool is_discarding() const { return is_discarding_.load(std::memory_order_seq_cst); }

 private:
  // A connection that stands, and of which the consumer shall not hear yet; see Traits.
  struct Held {
    hca::ConnectionEvent news;
    base::Time until;
  };
  // What is to be told once everything has been flushed.
  struct Ending {
    hca::ConnectionEvent news;
    base::Time patience;           // with the device's own flushing
    std::uint64_t beginnings = 0;  // of other connections, up to this one, that are to be told before it
    bool is_flushed = false;
  };

  QueuePair(const DeviceView& device, const hca::QueuePairConfig& config);
  const Library& library() const { return device_.adapter.library(); }
  hca::Outcome make_device_queue_pair();
  bool to_init();
  bool is_retired() const { return is_retired_.load(std::memory_order_seq_cst); }

  // EventTarget
  void on_cm_event(const CmEvent& event) override;
  void on_async_event(ibv_event_type type) override;
  void on_wake() override;

  // _post
  hca::Outcome check_send(const hca::SendRequest& request, std::uint32_t& length) const;
  bool is_usual_locked(const hca::SendRequest& request) const;
  hca::Outcome post_usual_locked(const hca::SendRequest& request);
  hca::Outcome post_any_locked(const hca::SendRequest& request, hca::QueuePairState now);
  WorkEntry& next_entry(const hca::SendRequest& request, std::uint32_t length);
  hca::Outcome read_to_window_locked(const hca::SendRequest& request, WorkEntry& entry);
  hca::Outcome hand_over_locked(const hca::SendRequest& request, WorkEntry& entry);
  hca::Outcome post_to_device_locked(const hca::SendRequest& request, WorkEntry& entry);
  hca::Outcome give_to_device_locked(ibv_send_wr& work, WorkEntry& entry, hca::Transfer transfer);
  hca::Outcome post_recv_locked(const hca::RecvRequest& request, std::uint32_t length);
  void make_room_locked();
  bool count_locked(WorkEntry& entry);
  void retract_locked(WorkEntry& entry);
  void discount(WorkEntry& entry);
  void remember_segments(const WorkEntry& entry, std::span<const hca::Segment> segments);
  void look_at_recv_limits();

  // _bind
  hca::Result<std::uint32_t> bind_to(ibv_mr* mr, const hca::BindRequest& request, MemoryWindow& window);
  hca::Result<std::uint32_t> bind_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr);
  int bind_wide_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr, const WorkEntry& entry);
  int bind_narrow_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr, const WorkEntry& entry);
  hca::Outcome void_key_locked(std::uint32_t rkey);

  // _request
  hca::Outcome ask_locked(const hca::ConnectParameters& parameters);
  hca::Result<rdma_cm_id*> make_id();
  int milliseconds_left() const;
  void resolve_address_locked();
  void resolve_route_locked();
  void send_request_locked();
  bool take_another_port_locked();

  // _connection
  bool advance_locked(QueuePairEvent event);
  bool move_to(ibv_qp_state state, std::uint32_t ird, std::uint32_t ord);
  rdma_conn_param conn_param(const OutgoingPrivateData& data, std::uint32_t ird, std::uint32_t ord) const;
  bool accept_locked(const CmEvent& request, std::span<const std::byte> private_data);
  void note_port_locked();
  void on_established(const CmEvent& event);
  void hold_locked(hca::ConnectionEvent news, base::Time until);
  std::optional<hca::ConnectionEvent> take_held();
  void note_first_word();
  void on_rejected(const CmEvent& event);
  void on_disconnected(const CmEvent& event);
  bool has_refused_peer() const;

  // _failure
  [[gnu::noinline, gnu::cold]] void tell_ended_locked(hca::ConnectionEventType news);

  // _end
  void end_locked(QueuePairEvent event, hca::ConnectionEventType news, hca::Bytes private_data = {},
                  bool is_peers_fault = false);
  bool is_flushed_by_device();
  void flush();
  void flush_ring_locked(WorkRing& ring, CompletionQueue& queue);
  void destroy_device_queue_pair(const QueuePair* dying);  // see CompletionQueue::detach()
  void finish_end();
  void go_on_draining();

  // Fixed after create().
  const DeviceView device_;
  const hca::QueuePairLimits limits_;
  const std::uint64_t context_;
  hca::QueuePairSink* const sink_;
  ProtectionDomain& domain_;
  const std::uint32_t domain_id_;
  CompletionQueue& send_queue_;
  CompletionQueue& recv_queue_;
  SharedReceiveQueue* const shared_;  // null: receives are posted here

  // Lock order: mutex_, send_mutex_, recv_mutex_, a completion queue's, the event thread's.
  mutable base::Mutex<locks::kVerbsQueuePair> mutex_;
  base::Ordered<base::BriefLock, locks::kVerbsPostSend> send_mutex_;
  base::Ordered<base::BriefLock, locks::kVerbsPostReceive> recv_mutex_;

  // state_ is written under mutex_ by advance_locked() alone, and under all three when it leaves kError.
  std::atomic<std::uint32_t> number_{0};      // of the device's queue pair
  std::atomic<bool> is_retired_{false};       // another has inherited the receives; set under all three
  std::atomic<bool> is_dying_{false};         // the destructor runs: events are no longer heard
  std::atomic<bool> is_discarding_{false};    // its last queue pair of the device's is being destroyed
  std::atomic<bool> has_failed_{false};       // a request has; by whoever takes its completion
  std::atomic<bool> was_peers_fault_{false};  // likewise
  std::atomic<bool> is_failure_told_{false};  // of this connection, in words
  std::atomic<bool> was_cut_{false};          // the consumer has ended this life of it; as state_
  std::atomic<bool> is_holding_{false};       // held_ waits for the peer's first word; under mutex_
  std::atomic<bool> has_heard_{false};        // the peer has sent something; by whoever takes its completion
  hca::TransferCounters counters_;  // of posts: guarded by their mutex; of receives: by the completion queue's
  std::atomic<std::uint32_t> soft_limit_{hca::kNoRecvLimit};
  std::atomic<std::uint32_t> hard_limit_{hca::kNoRecvLimit};

  // Changed under all three mutexes, read under any.
  ibv_qp* qp_ = nullptr;
  bool is_flushed_ = false;  // in kError: what is posted now is flushed at once

  // Guarded by mutex_.
  rdma_cm_id* id_ = nullptr;
  hca::Bytes private_data_;  // of connect(), until it is sent
  std::uint64_t service_asked_ = 0;
  base::Time deadline_ = base::kNever;  // of connect()
  int ports_left_ = 0;                  // that connect() may try yet
  base::Duration drain_pause_{};
  std::optional<Held> held_;
  Beginning beginning_;  // among the device's while there is one held
  std::optional<Ending> ending_;
  hca::Address remote_{};
  std::uint16_t port_ = 0;

  // Guarded by send_mutex_.
  WorkRing sends_;
  ibv_sge usual_segment_{};
  ibv_send_wr usual_work_{};  // what the device was last given of requests as nearly all are; refers to that segment
  ibv_send_wr send_work_{};   // ... and of others
  LastGrant last_send_;
  std::uint32_t max_inline_ = 0;

  // Guarded by recv_mutex_.
  WorkRing recvs_;
  LastGrant last_recv_;
  std::vector<hca::Segment> recv_segments_;  // limits_.recv_sge for each entry, for inherit_recvs()
  std::vector<std::uint16_t> recv_counts_;
};

// Inline, because every completion passes through some of them.
inline bool QueuePair::is_usual(const WorkEntry& entry, const ibv_wc& wc) const {
  const bool is_plain = !entry.is_receive || (opcode_of_receive(wc) == hca::CompletionOpcode::kRecv &&
                                              has_heard_.load(std::memory_order_relaxed));
  return is_plain && !is_discarding();
}

inline void QueuePair::complete_usual(WorkEntry& entry, std::uint32_t length) {
  if (!entry.is_receive) return sends_.complete(entry);
  recvs_.complete(entry);
  counters_.add(hca::Transfer::kRecv, length);
}

inline void QueuePair::on_complete(WorkEntry& entry, hca::CompletionStatus status) {
  if (entry.window != nullptr) [[unlikely]] {
    entry.window->on_done(entry.binding, status == hca::CompletionStatus::kSuccess);
    entry.window.reset();
  }
  if (entry.is_counted) [[unlikely]]
    discount(entry);
  (entry.is_receive ? recvs_ : sends_).complete(entry);
}

inline void QueuePair::on_received(const hca::Completion& completion) {
  if (!has_heard_.load(std::memory_order_relaxed)) [[unlikely]]
    note_first_word();
  if (completion.opcode == hca::CompletionOpcode::kRecvInvalidate) [[unlikely]]
    device_.memory.void_window(completion.invalidated);
  const bool is_immediate = completion.opcode == hca::CompletionOpcode::kRecvWriteImmediate;
  counters_.add(is_immediate ? hca::Transfer::kRecvWriteImmediate : hca::Transfer::kRecv, completion.length);
}

}  // namespace softdat::verbs
