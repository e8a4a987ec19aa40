// SPDX-License-Identifier: BSD-2-Clause
// Mutations of inputs, for replay_main.cc. An input is mutated where it lies, and nothing is allocated: with a
// sanitizer an allocation costs more than most decoders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace softdat::fuzz {

// The same numbers for the same seed, everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed = 1) : state_(seed) {}
  std::uint64_t next();
  // Below `limit`; 0 if that is 0.
  std::size_t below(std::size_t limit);

 private:
  std::uint64_t state_;
};

// Bytes in a room that has more.
struct Draft {
  std::span<std::uint8_t> room;
  std::size_t size = 0;
};

// One small change: of a bit or a byte, of the length, or by a piece of another input. Longer than the room it never
// gets.
void mutate_once(Draft& draft, std::span<const std::uint8_t> other, Random& random);

}  // namespace softdat::fuzz
