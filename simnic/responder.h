// SPDX-License-Identifier: BSD-2-Clause
// Responder: the half of a queue pair that is asked. Places what the peer sends and writes, answers
// its reads, acknowledges, and asks for a repetition when a send found no receive.
//
// Checks stand in the order of the specifications (RFC 5041 section 7 and 8, RFC 5040 section 5 and
// 7), one small function each. REQUIRES of every call: the queue pair's lane, and of all but on_acknowledged() and the
// const calls the baton; but for queue()'s posting side and is_starved() neither.
#pragma once

#include <atomic>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "hca/failure.h"
#include "hca/transfer_counters.h"
#include "simnic/completion_feed.h"
#include "simnic/fault.h"
#include "simnic/rnr_policy.h"
#include "simnic/scatter_gather.h"
#include "simnic/shared_receive_queue.h"
#include "simnic/work_queue.h"
#include "transport/channel.h"

namespace softdat::simnic {

// Where receives come from a shared queue, queue() has room for one, which is taken when a message
// arrives; `starving` is run when there is one again.
struct ReceiveSource {
  SharedReceiveQueue* shared = nullptr;  // null: they are posted to queue()
  Task* starving = nullptr;
};

class Responder final : public transport::PayloadSource {
 public:
  Responder(const MemoryView& memory, const CompletionFeed& feed, const hca::QueuePairLimits& limits,
            const ReceiveSource& source, hca::TransferCounters& counters)
      : memory_(memory),
        recv_memory_(source.shared == nullptr ? memory : source.shared->memory()),
        source_(source),
        counters_(counters),
        feed_(feed),
        queue_(limits.recv_wr, limits.recv_sge),
        reads_(limits.ird) {}

  WorkQueue<RecvEntry>& queue() { return queue_; }
  const WorkQueue<RecvEntry>& queue() const { return queue_; }
  // Whether a completion found its queue full since the last call.
  bool take_loss() { return feed_.take_loss(); }
  bool has_lost() const { return feed_.has_lost(); }

  // A connection begins. A peer that takes notes is acknowledged and, if the policy says so, asked
  // to wait for receives.
  void begin(bool takes_notes, RnrPolicy policy);

  // Where the bytes of a send or write go.
  Verdict place(const transport::Arrival& arrival, transport::SliceList& out);
  // Of the receive that the present send has found; 0: it has found none.
  std::uint64_t receive_length() const { return queue_.is_empty() ? 0 : queue_.at(queue_.completed()).length; }
  // A whole send or write, immediate data, or a read or atomic request has arrived. An atomic is
  // carried out here, so that what the peer sends behind it finds it done.
  std::optional<Fault> on_request(const transport::Message& message);
  // The same, both at once, of a send that is here whole: may_take(), which requires is_plain(), says whether it is
  // possible, and take(), which requires that, does it.
  bool may_take(const transport::ShortSend& short_send) const;
  // False: the receive's memory faults, and nothing has been done.
  [[nodiscard]] bool take(const transport::ShortSend& short_send);
  // What place() named for this arrival faults: its fault, if it still counts.
  std::optional<Fault> on_fault(const transport::Arrival& arrival);
  // The peer goes back to this request. False: the number is wrong.
  [[nodiscard]] bool on_resent(std::uint64_t number);
  // From now on nothing of the peer's is carried out; reads already taken in are still answered.
  void ignore_requests() { is_deaf_ = true; }

  // Any thread: a post_recv should be followed by a ring.
  bool is_starved() const { return is_starved_.load(std::memory_order_seq_cst); }

  // The next response, when there is one. The same until on_taken().
  transport::Message next() const;
  // The right to read the memory of the response under way, looked up anew.
  AccessError check_payload() const;
  void on_taken();
  bool gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) override;
  bool has_responses() const { return !reads_.empty(); }
  std::uint64_t reads_taken_in() const { return reads_taken_in_; }
  std::uint64_t reads_answered() const { return reads_taken_in_ - reads_.size(); }

  // How many requests have been carried out, when the peer waits to hear it of some of them. (Of a
  // read it hears by the response.)
  std::optional<std::uint64_t> unacknowledged() const {
    return takes_notes_ && acknowledged_ < ack_wanted_ ? std::optional(carried_out_) : std::nullopt;
  }
  // Whether there may be something to tell the peer: an answer, an ack, a wish.
  bool is_waiting() const { return has_responses() || is_dropping_ || (takes_notes_ && acknowledged_ < ack_wanted_); }
  // Whether an ack should not wait for a message that it may ride on.
  bool owes_many_acks() const { return carried_out_ - acknowledged_ >= kMostOwed; }
  void on_acknowledged(std::uint64_t count) { acknowledged_ = count; }
  // From which request on the peer is to repeat, when there is a receive for it at last.
  std::optional<std::uint64_t> wanted_again() const {
    const bool may_ask = is_dropping_ && !has_asked_again_ && !is_deaf_;
    return may_ask && has_prospect() ? std::optional(carried_out_) : std::nullopt;
  }
  void on_asked_again();

  // No read taken in will be answered.
  void drop_reads() { reads_.clear(); }

  // Why the last request was refused, for people; null: none was, or there is no memory for it.
  std::unique_ptr<hca::Failure> take_failure() { return std::move(failure_); }
  // Why the response under way cannot be sent (any more).
  void note_response_failure();
  // Whether the peer's requests are carried out, and it is owed acks at most.
  bool is_plain() const { return takes_notes_ && !is_deaf_ && !is_dropping_ && reads_.empty(); }
  // A send found no receive, and none has come since.
  bool is_waiting_for_receive() const { return is_dropping_ && !has_asked_again_ && !is_deaf_; }

  // Completes every posted receive as flushed, but the oldest with `blamed`.
  void flush(hca::CompletionStatus blamed);
  // Forgets everything posted, without completions. A receive taken from a shared queue is flushed instead, or its
  // consumer could not know which one is lost.
  void discard();

 private:
  static constexpr std::uint64_t kMostOwed = 16;

  struct IncomingRead {
    std::uint64_t number;
    bool is_atomic;
    std::uint32_t request_id;  // of an atomic
    std::uint64_t original;    // of an atomic: what it found
    std::uint64_t source_offset;
    std::uint64_t sink_offset;
    std::uint32_t source_stag;
    std::uint32_t sink_stag;
    std::uint32_t length;
  };

  // Notes for take_failure(), apart because they are rare.
  [[gnu::cold, gnu::noinline]] hca::Failure* note_failure(hca::CompletionOpcode operation, hca::Rule rule);
  [[gnu::cold, gnu::noinline]] void note_access(hca::CompletionOpcode operation, std::uint32_t key,
                                                std::uint64_t address, std::uint64_t length, hca::AccessMask right);
  [[gnu::cold, gnu::noinline]] void note_length(const RecvEntry& entry, std::uint64_t number, std::uint64_t length);
  [[gnu::cold, gnu::noinline]] void note_receive_memory();
  [[gnu::cold, gnu::noinline]] void note_lack(std::uint64_t length);

  bool has_receive();
  // Whether has_receive() would be true.
  bool has_prospect() const { return !queue_.is_empty() || (source_.shared != nullptr && !source_.shared->is_empty()); }
  Verdict place_send(const transport::Arrival& arrival, transport::SliceList& out);
  Verdict place_write(const transport::Arrival& arrival, transport::SliceList& out);
  void deliver(transport::Opcode opcode, std::uint32_t length);
  std::optional<Fault> on_send(const transport::Message& message);
  std::optional<Fault> on_write(const transport::Message& message);
  std::optional<Fault> on_immediate(const transport::Message& message);
  std::optional<Fault> on_placed(const transport::Message& message);
  std::optional<Fault> on_read_request(const transport::Message& message);
  std::optional<Fault> on_atomic_request(const transport::Message& message);
  void complete_oldest(hca::CompletionStatus status, std::uint32_t length, bool is_solicited,
                       hca::CompletionOpcode opcode = hca::CompletionOpcode::kRecv, std::uint32_t extra = 0);

  // Fixed after construction.
  const MemoryView memory_;
  const MemoryView recv_memory_;
  const ReceiveSource source_;
  hca::TransferCounters& counters_;
  // Guarded by the queue pair's lane.
  CompletionFeed feed_;
  WorkQueue<RecvEntry> queue_;
  boost::circular_buffer<IncomingRead> reads_;  // taken in and not answered; its capacity is our IRD
  bool takes_notes_ = false;
  bool waits_for_receives_ = false;
  bool is_deaf_ = false;
  bool is_dropping_ = false;      // a send found no receive: nothing counts until the peer is back at it
  bool has_asked_again_ = false;  // while dropping
  std::uint64_t carried_out_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t ack_wanted_ = 0;  // the peer waits to hear that requests up to here were carried out
  std::uint64_t reads_taken_in_ = 0;
  std::unique_ptr<hca::Failure> failure_;
  std::optional<std::uint32_t> written_;  // the last request carried out was a write of so many bytes
  // Set with the baton before the last look at queue_; read by posters after they pushed.
  std::atomic<bool> is_starved_{false};
};

}  // namespace softdat::simnic
