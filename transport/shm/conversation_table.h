// SPDX-License-Identifier: BSD-2-Clause
// The conversations of one link, by number. A number is chosen by the side that asks, is the same
// on both sides, and is used again only after each side has said its last word (a final record):
// what is still on its way can thus never reach a later conversation of the same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/shm/segment.h"

namespace softdat::transport::shm {

class ShmChannel;
class ShmRequest;

// At most one of channel and request is set; neither when the owner has closed already.
struct Conversation {
  ShmChannel* channel = nullptr;
  ShmRequest* request = nullptr;
  bool is_used = false;
  bool has_sent_final = false;
  bool has_got_final = false;
};

class ConversationTable {
 public:
  static constexpr std::uint32_t kMostPerSide = 1u << 20;

  explicit ConversationTable(Side own) : own_(own) {}

  // A number of ours that is free; kNone when there are too many. Throws std::bad_alloc; to end takes no memory.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t begin_own();
  // The peer chose this number. False when it had no right to. Throws std::bad_alloc.
  bool begin_theirs(std::uint32_t number);
  // Null when the number names no conversation. Valid until the next begin.
  Conversation* find(std::uint32_t number) {
    std::vector<Conversation>& side = sides_[side_of(number)];
    const std::uint32_t index = index_of(number);
    return index < side.size() && side[index].is_used ? &side[index] : nullptr;
  }
  // Frees the number if both have said their last word.
  void end_if_over(std::uint32_t number);

  // How many numbers have been used at the same time.
  std::size_t size() const { return sides_[0].size() + sides_[1].size(); }

  // Calls `visit` with each number in use. Conversations may begin and end meanwhile.
  template <typename Visit>
  void for_each(Visit visit) {
    for (const Side side : {Side::kConnector, Side::kAcceptor}) {
      const std::vector<Conversation>& all = sides_[static_cast<std::size_t>(side)];
      for (std::size_t index = 0; index < all.size(); ++index) {
        if (all[index].is_used) visit(to_number(side, index));
      }
    }
  }

 private:
  static constexpr std::uint32_t side_of(std::uint32_t number) { return number >> 31; }
  static constexpr std::uint32_t index_of(std::uint32_t number) { return number & 0x7fffffff; }
  std::uint32_t to_number(Side side, std::size_t index) const {
    return static_cast<std::uint32_t>(index) | static_cast<std::uint32_t>(side) << 31;
  }

  const Side own_;
  std::vector<Conversation> sides_[2];  // by the side that asked
  std::vector<std::uint32_t> free_;     // numbers of ours that were used before
};

}  // namespace softdat::transport::shm
