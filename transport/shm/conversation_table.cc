// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/conversation_table.h"

#include <algorithm>

namespace softdat::transport::shm {
namespace {

constexpr std::size_t kFewest = 16;

}  // namespace

std::uint32_t ConversationTable::begin_own() {
  std::vector<Conversation>& own = sides_[static_cast<std::size_t>(own_)];
  std::uint32_t number = kNone;
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else if (own.size() < kMostPerSide) {
    number = to_number(own_, own.size());
    if (own.size() == own.capacity()) own.reserve(std::max(kFewest, 2 * own.size()));
    free_.reserve(own.capacity());  // where each will be put back
    own.emplace_back();
  } else {
    return kNone;
  }
  own[index_of(number)] = {.is_used = true};
  return number;
}

// The peer counts up from zero too, so its numbers leave no gaps that we would have to pay for.
bool ConversationTable::begin_theirs(std::uint32_t number) {
  if (side_of(number) == static_cast<std::uint32_t>(own_)) return false;
  std::vector<Conversation>& theirs = sides_[side_of(number)];
  const std::uint32_t index = index_of(number);
  if (index > theirs.size() || index >= kMostPerSide) return false;
  if (index == theirs.size()) theirs.emplace_back();
  // The peer may use a number again only after both sides have sent their final record.
  if (theirs[index].is_used) return false;
  theirs[index] = {.is_used = true};
  return true;
}

void ConversationTable::end_if_over(std::uint32_t number) {
  Conversation* conversation = find(number);
  if (conversation == nullptr) return;
  // Until both finals have passed, records of this conversation may still be in a ring.
  if (!conversation->has_sent_final || !conversation->has_got_final) return;
  *conversation = {};
  if (side_of(number) == static_cast<std::uint32_t>(own_)) free_.push_back(number);
}

}  // namespace softdat::transport::shm
