// SPDX-License-Identifier: BSD-2-Clause
// RequestNumbers: how many requests of a connection have been sent, and how many of them the peer has acknowledged. A
// request keeps its number, however often it is sent again; the first has 0. Owned by the baton.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/assert.h"
#include "simnic/queue_pair_limits.h"
#include "transport/message.h"

namespace softdat::simnic::fault {

// Whether a message is a request, which is numbered, or an answer to one. Notes are neither.
inline bool is_answer(transport::Opcode opcode) {
  return opcode == transport::Opcode::kReadResponse || opcode == transport::Opcode::kAtomicResponse;
}
inline bool is_request(transport::Opcode opcode) {
  return !is_answer(opcode) && opcode != transport::Opcode::kNote && opcode != transport::Opcode::kTerminate;
}
// Whether an answer will come for the request.
inline bool awaits_answer(transport::Opcode opcode) {
  return opcode == transport::Opcode::kReadRequest || opcode == transport::Opcode::kAtomicRequest;
}

// Allocates nothing: the channel has the request already when it is counted.
class RequestNumbers {
 public:
  // Returns the number of the request that is sent next.
  std::uint64_t next() const { return next_; }
  // True once for each request: it has not been tried before.
  bool is_first_try() {
    if (next_ != tried_) return false;
    ++tried_;
    return true;
  }
  // The next request has been sent.
  void take(transport::Opcode opcode) {
    if (awaits_answer(opcode)) {
      SOFTDAT_DEBUG_CHECK(reads_end_ - reads_begin_ < kMostReads, "a queue pair keeps to its ORD", kMostReads);
      reads_[reads_end_++ % kMostReads] = next_;
    }
    ++next_;
  }
  // The receiver had no receive: everything from this request on is sent again.
  void rewind(std::uint64_t number) {
    next_ = number;
    while (reads_begin_ != reads_end_ && reads_[(reads_end_ - 1) % kMostReads] >= number) --reads_end_;
  }

  // The answer to the oldest read or atomic has come. Returns how many requests it acknowledges.
  std::uint64_t take_answer() {
    if (reads_begin_ == reads_end_) return acknowledged_;
    return reads_[reads_begin_++ % kMostReads] + 1;
  }
  // The queue pair knows now that so many requests are acknowledged.
  void acknowledge(std::uint64_t count) { acknowledged_ = std::max(acknowledged_, count); }
  std::uint64_t acknowledged() const { return acknowledged_; }

 private:
  std::uint64_t next_ = 0;
  std::uint64_t tried_ = 0;  // the highest that next_ has been, and one more while that request is tried
  std::uint64_t acknowledged_ = 0;
  std::array<std::uint64_t, kMostReads> reads_{};  // a ring of those that are sent and not answered, ascending
  std::uint64_t reads_begin_ = 0;
  std::uint64_t reads_end_ = 0;
};

}  // namespace softdat::simnic::fault
