// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/late_acks.h"

#include <algorithm>
#include <new>

namespace softdat::simnic::nasty {
namespace {

// For a program that does not poll.
constexpr base::Duration kLongestAck = std::chrono::milliseconds(2);

}  // namespace

void LateAcks::delay(std::uint64_t number, unsigned looks) try {
  late_.emplace(number, looks);
} catch (const std::bad_alloc&) {
  return;
}

void LateAcks::on_ack(std::uint64_t count) {
  acknowledged_ = std::max(acknowledged_, count);
  // The count is noted; the hold that is running hands on the newest.
  if (is_holding()) return;
  unsigned looks = 0;
  const auto end = late_.lower_bound(count);
  for (auto each = late_.lower_bound(handed_on_); each != end; ++each) looks = std::max(looks, each->second);
  if (looks == 0) return hand_on();
  begin_hold(looks, kLongestAck);
}

// One ack for all that have come meanwhile.
void LateAcks::hand_on() {
  using transport::NoteKind;
  cancel_hold();
  if (context_.is_over || acknowledged_ <= handed_on_) return;
  handed_on_ = acknowledged_;
  late_.erase(late_.begin(), late_.lower_bound(handed_on_));
  context_.sink.on_message({.opcode = transport::Opcode::kNote, .note = NoteKind::kAck, .note_value = handed_on_});
}

}  // namespace softdat::simnic::nasty
