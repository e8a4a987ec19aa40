// SPDX-License-Identifier: BSD-2-Clause
// IncomingReads: the reads and atomics of the peer that have been taken in and not answered. Answers them in order,
// with the memory that they name as payload. An atomic is carried out when it is taken in, so that what the peer sends
// behind it finds it done.
//
// Guarded by the queue pair's lane, and the baton. Requests that cannot be taken in are faults, which end the
// connection; their reasons are noted for people.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <optional>

#include "simnic/fault.h"
#include "simnic/owed_acks.h"
#include "simnic/responder_failure.h"
#include "simnic/scatter_gather.h"
#include "transport/channel.h"

namespace softdat::simnic {

class IncomingReads final : public transport::PayloadSource {
 public:
  // `ird`: how many there may be. All others outlive it. Throws std::bad_alloc.
  IncomingReads(const MemoryView& memory, std::uint32_t ird, OwedAcks& acks, ResponderFailure& failure)
      : memory_(memory), acks_(acks), failure_(failure), reads_(ird) {}

  // A connection begins.
  void begin() {
    reads_.clear();
    taken_in_ = 0;
  }
  // A read or atomic request has arrived. Nothing: it was taken in.
  std::optional<Fault> take_in(const transport::Message& request);

  bool is_empty() const { return reads_.empty(); }
  // Since the connection began.
  std::uint64_t taken_in() const { return taken_in_; }
  std::uint64_t answered() const { return taken_in_ - reads_.size(); }

  // The response to the oldest. The same until on_taken(). REQUIRES of it, and of all below: not empty.
  transport::Message next() const;
  // Its memory: the peer's right to read it, looked up anew.
  AccessError check_payload() const;
  bool gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) override;
  // The channel took the response whole.
  void on_taken();
  // Notes why the response cannot be sent (any more).
  void note_failure();
  // The same, and drops it and those behind it.
  void drop_all();

 private:
  struct Read {
    std::uint64_t number;
    std::uint64_t source_offset;
    std::uint64_t sink_offset;  // of an atomic: what it found
    std::uint32_t source_stag;
    std::uint32_t sink_stag;  // of an atomic: its request_id
    std::uint32_t length;
    bool is_atomic;
  };

  // Returns what the atomic found.
  base::Result<std::uint64_t, Fault> carry_out(const transport::Message& request, hca::CompletionOpcode operation);

  const MemoryView& memory_;
  OwedAcks& acks_;
  ResponderFailure& failure_;
  boost::circular_buffer<Read> reads_;  // its capacity is our IRD
  std::uint64_t taken_in_ = 0;
};

}  // namespace softdat::simnic
