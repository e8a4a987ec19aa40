// SPDX-License-Identifier: BSD-2-Clause
// OwedAcks: counts the requests of the peer that have been carried out, and those that the peer has been told of.
//
// Requests are counted from the connection's first. The peer hears of a read or atomic by the response, of all others
// by an ack, which covers everything before it. Guarded by the queue pair's lane.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace softdat::simnic {

class OwedAcks {
 public:
  // A connection begins. `takes_notes`: the peer can be sent acks.
  void begin(bool takes_notes) {
    takes_notes_ = takes_notes;
    carried_out_ = acknowledged_ = wanted_ = 0;
  }
  bool takes_notes() const { return takes_notes_; }

  std::uint64_t carried_out() const { return carried_out_; }
  // One more was carried out.
  void count() { wanted_ = ++carried_out_; }
  // Likewise a read or atomic. Returns its number.
  std::uint64_t count_read() { return carried_out_++; }

  bool is_any() const { return takes_notes_ && acknowledged_ < wanted_; }
  // Whether an ack should not wait for a message that it may ride on.
  bool are_many() const { return carried_out_ - acknowledged_ >= kMostOwed; }
  // The number for an ack, if one is owed.
  std::optional<std::uint64_t> unacknowledged() const { return is_any() ? std::optional(carried_out_) : std::nullopt; }
  // The peer has been told of the first `count`.
  void on_acknowledged(std::uint64_t count) { acknowledged_ = std::max(acknowledged_, count); }

 private:
  static constexpr std::uint64_t kMostOwed = 16;

  bool takes_notes_ = false;
  std::uint64_t carried_out_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t wanted_ = 0;  // the peer waits for an ack of the requests up to here
};

}  // namespace softdat::simnic
