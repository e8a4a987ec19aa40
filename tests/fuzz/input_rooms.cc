// SPDX-License-Identifier: BSD-2-Clause
#include "tests/fuzz/input_rooms.h"

#include <cstring>

#include "tests/fuzz/poison.h"

namespace softdat::fuzz {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

InputRooms::InputRooms(std::size_t most_bytes)
    : stride_(rounded_up(most_bytes) + kFence), memory_(kFence + kRooms * stride_), current_(memory_.data()) {
  poison(memory_.data(), memory_.size());
}
InputRooms::~InputRooms() {
  unpoison(memory_.data(), memory_.size());
}

std::span<const std::uint8_t> InputRooms::enter(std::span<const std::uint8_t> input) {
  current_ = memory_.data() + kFence + next_ * stride_;
  next_ = (next_ + 1) % kRooms;
  size_ = input.size();
  unpoison(current_, size_);
  if (size_ > 0) std::memcpy(current_, input.data(), size_);
  return {current_, size_};
}
void InputRooms::leave() {
  poison(current_, rounded_up(size_));
}

}  // namespace softdat::fuzz
