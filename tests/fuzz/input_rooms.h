// SPDX-License-Identifier: BSD-2-Clause
// Where the inputs of replay_main.cc lie while they run. AddressSanitizer sees each read beyond the end of an input or
// before its beginning, as with an allocation of just that size, but nothing is allocated for it. Rooms take turns: an
// input that has ended is out of bounds until its room is used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace softdat::fuzz {

class InputRooms {
 public:
  // Requires no input to have more bytes than that.
  explicit InputRooms(std::size_t most_bytes);
  ~InputRooms();
  InputRooms(const InputRooms&) = delete;
  InputRooms& operator=(const InputRooms&) = delete;

  // A copy that may be read until the next call.
  std::span<const std::uint8_t> enter(std::span<const std::uint8_t> input);
  // The copy has ended.
  void leave();

 private:
  static constexpr std::size_t kRooms = 16;
  static constexpr std::size_t kFence = 64;  // between two rooms

  std::size_t stride_;
  std::vector<std::uint8_t> memory_;
  std::uint8_t* current_;
  std::size_t next_ = 0;
  std::size_t size_ = 0;
};

}  // namespace softdat::fuzz
