// SPDX-License-Identifier: BSD-2-Clause
// Responder: the half of a queue pair that is asked. Places what the peer sends and writes, and asks for a repetition
// when a send found no receive. Its parts: the receives (ReceiveQueue), the reads and atomics that it is to answer
// (IncomingReads), what it owes the peer acks of (OwedAcks), and why it refused a request (ResponderFailure).
//
// Checks stand in the order of the specifications (RFC 5041 section 7 and 8, RFC 5040 section 5 and 7). REQUIRES of
// every call: the queue pair's lane, and of all but the const calls the baton. The parts say what they require.
#pragma once

#include <cstdint>
#include <optional>

#include "hca/transfer_counters.h"
#include "simnic/completion_feed.h"
#include "simnic/fault.h"
#include "simnic/incoming_reads.h"
#include "simnic/owed_acks.h"
#include "simnic/receive_queue.h"
#include "simnic/responder_failure.h"
#include "simnic/rnr_policy.h"
#include "simnic/scatter_gather.h"
#include "transport/channel.h"

namespace softdat::simnic {

class Responder {
 public:
  // Throws std::bad_alloc.
  Responder(const MemoryView& memory, const CompletionFeed& feed, const hca::QueuePairLimits& limits,
            const ReceiveSource& source, hca::TransferCounters& counters)
      : memory_(memory),
        counters_(counters),
        receives_(memory, feed, limits, source, counters),
        failure_(memory_),
        reads_(memory_, limits.ird, acks_, failure_) {}

  WorkQueue<RecvEntry>& queue() { return receives_.queue(); }
  const WorkQueue<RecvEntry>& queue() const { return receives_.queue(); }
  ReceiveQueue& receives() { return receives_; }
  IncomingReads& reads() { return reads_; }
  const IncomingReads& reads() const { return reads_; }
  OwedAcks& acks() { return acks_; }
  ResponderFailure& failure() { return failure_; }

  // A connection begins. A peer that takes notes is acknowledged and, if the policy says so, asked
  // to wait for receives.
  void begin(bool takes_notes, RnrPolicy policy);

  // Where the bytes of a send or write go.
  Verdict place(const transport::Arrival& arrival, transport::SliceList& out);
  // A whole send or write, immediate data, or a read or atomic request has arrived.
  std::optional<Fault> on_request(const transport::Message& message);
  // A send that is here whole: its bytes go into the oldest receive, which the caller then completes, and it counts as
  // carried out. REQUIRES: is_plain(), and receives().may_take(). False: the receive's memory faults, and nothing has
  // been done.
  [[nodiscard]] bool place(const transport::ShortSend& short_send);
  // What place() named for this arrival faults: its fault, if it still counts.
  std::optional<Fault> on_fault(const transport::Arrival& arrival);
  // The peer goes back to this request. False: the number is wrong.
  [[nodiscard]] bool on_resent(std::uint64_t number);
  // From now on nothing of the peer's is carried out; reads already taken in are still answered.
  void ignore_requests() { is_deaf_ = true; }

  // Whether there may be something to tell the peer: an answer, an ack, a wish.
  bool is_waiting() const { return !reads_.is_empty() || is_dropping_ || acks_.is_any(); }
  // Whether the peer's requests are carried out, and it is owed acks at most.
  bool is_plain() const { return acks_.takes_notes() && !is_deaf_ && !is_dropping_ && reads_.is_empty(); }
  // A send found no receive, and none has come since.
  bool is_waiting_for_receive() const { return is_dropping_ && !has_asked_again_ && !is_deaf_; }
  // From which request on the peer is to repeat, when there is a receive for it at last.
  std::optional<std::uint64_t> wanted_again() const {
    const bool may_ask = is_waiting_for_receive() && receives_.has_prospect();
    return may_ask ? std::optional(acks_.carried_out()) : std::nullopt;
  }
  void on_asked_again();

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  Verdict place_write(const transport::Arrival& arrival, transport::SliceList& out);
  std::optional<Fault> lack_receive(std::uint64_t length);
  std::optional<Fault> on_send(const transport::Message& message);
  std::optional<Fault> on_immediate(const transport::Message& message);

  // Fixed after construction.
  const MemoryView memory_;
  hca::TransferCounters& counters_;
  // Guarded by the queue pair's lane.
  ReceiveQueue receives_;
  OwedAcks acks_;
  ResponderFailure failure_;
  IncomingReads reads_;
  bool waits_for_receives_ = false;
  bool is_deaf_ = false;
  bool is_dropping_ = false;         // a send found no receive: nothing counts until the peer is back at it
  bool has_asked_again_ = false;     // while dropping
  std::uint32_t written_ = 0;        // bytes of the last write
  std::uint64_t write_end_ = kNone;  // requests carried out, that write included
};

}  // namespace softdat::simnic
