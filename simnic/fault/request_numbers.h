// SPDX-License-Identifier: BSD-2-Clause
// RequestNumbers: how many requests of a connection have been sent, and how many of them the peer has acknowledged. A
// request keeps its number, however often it is sent again; the first has 0. Owned by the baton.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "transport/message.h"

namespace softdat::simnic::fault {

// Whether a message is a request, which is numbered, or an answer to one. Notes are neither.
inline bool is_answer(transport::Opcode opcode) {
  return opcode == transport::Opcode::kReadResponse || opcode == transport::Opcode::kAtomicResponse;
}
inline bool is_request(transport::Opcode opcode) {
  return !is_answer(opcode) && opcode != transport::Opcode::kNote && opcode != transport::Opcode::kTerminate;
}

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
    using transport::Opcode;
    if (opcode == Opcode::kReadRequest || opcode == Opcode::kAtomicRequest) reads_.push_back(next_);
    ++next_;
  }
  // The receiver had no receive: everything from this request on is sent again.
  void rewind(std::uint64_t number) {
    next_ = number;
    while (!reads_.empty() && reads_.back() >= number) reads_.pop_back();
  }

  // The answer to the oldest read or atomic has come. Returns how many requests it acknowledges.
  std::uint64_t take_answer() {
    if (reads_.empty()) return acknowledged_;
    const std::uint64_t number = reads_.front();
    reads_.pop_front();
    return number + 1;
  }
  // The queue pair knows now that so many requests are acknowledged.
  void acknowledge(std::uint64_t count) { acknowledged_ = std::max(acknowledged_, count); }
  std::uint64_t acknowledged() const { return acknowledged_; }

 private:
  std::uint64_t next_ = 0;
  std::uint64_t tried_ = 0;  // the highest that next_ has been, and one more while that request is tried
  std::uint64_t acknowledged_ = 0;
  std::deque<std::uint64_t> reads_;  // sent and not answered, ascending
};

}  // namespace softdat::simnic::fault
