// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/kept_messages.h"

#include <new>
#include <utility>

namespace softdat::simnic::nasty {
namespace {

// For a program that does not poll.
constexpr base::Duration kLongestArrival = std::chrono::milliseconds(2);
// More is not kept: all of it is handed on.
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kMostMessages = 256;

}  // namespace

bool KeptMessages::keep(const transport::Message& message, std::vector<std::byte>& bytes, const Inbound& fate) {
  if (messages_.size() >= kMostMessages || size_ + bytes.size() > kMostBytes) return false;
  try {
    messages_.emplace_back();
  } catch (const std::bad_alloc&) {
    return false;
  }
  size_ += bytes.size();
  // `bytes` is taken only when the message is kept; otherwise the caller still has it.
  messages_.back() = {.message = message, .bytes = std::exchange(bytes, {}), .fate = fate};
  if (messages_.size() == 1) begin_hold(fate.late, kLongestArrival);
  return true;
}

void KeptMessages::on_hold_over() {
  if (context_.is_over) return;
  Arrived& oldest = messages_.front();
  // All of them: the later ones waited behind this one, and their order stays.
  if (oldest.fate.torn == 0 || oldest.is_begun) return hand_on_all();
  oldest.is_begun = true;
  begin_hold(oldest.fate.torn, kLongestArrival);
  place_first(context_, oldest);
}

// The sink may end the connection in each call; what is left is then dropped.
void KeptMessages::hand_on_all() {
  cancel_hold();
  while (!messages_.empty() && !context_.is_over) {
    const Arrived oldest = std::move(messages_.front());
    messages_.pop_front();
    size_ -= oldest.bytes.size();
    hand_on(context_, oldest);
  }
}

}  // namespace softdat::simnic::nasty
