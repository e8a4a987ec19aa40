// SPDX-License-Identifier: BSD-2-Clause
#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/mix.h"

namespace softdat::fuzz {
namespace {

// Moves what follows `at`, so that `length` bytes fit in before it, or as many as the room has. Says how many.
std::size_t make_gap(Draft& draft, std::size_t at, std::size_t length) {
  length = std::min(length, draft.room.size() - draft.size);
  std::memmove(draft.room.data() + at + length, draft.room.data() + at, draft.size - at);
  draft.size += length;
  return length;
}

void insert_from(Draft& draft, std::span<const std::uint8_t> other, Random& random) {
  if (other.empty()) return;
  const std::size_t from = random.below(other.size());
  const std::size_t at = random.below(draft.size + 1);
  const std::size_t length = make_gap(draft, at, std::min(1 + random.below(32), other.size() - from));
  std::memcpy(draft.room.data() + at, other.data() + from, length);
}

void insert_byte(Draft& draft, Random& random) {
  const std::size_t at = random.below(draft.size + 1);
  if (make_gap(draft, at, 1) == 1) draft.room[at] = static_cast<std::uint8_t>(random.next());
}

void erase_some(Draft& draft, Random& random) {
  const std::size_t from = random.below(draft.size);
  const std::size_t length = std::min(1 + random.below(16), draft.size - from);
  std::memmove(draft.room.data() + from, draft.room.data() + from + length, draft.size - from - length);
  draft.size -= length;
}

}  // namespace

std::uint64_t Random::next() {
  const std::uint64_t draw = base::mix(state_);
  state_ += base::kMixStep;
  return draw;
}

// By its upper 32 bits: a division costs more than all the rest.
std::size_t Random::below(std::size_t limit) {
  return static_cast<std::size_t>((next() >> 32) * limit >> 32);
}

void mutate_once(Draft& draft, std::span<const std::uint8_t> other, Random& random) {
  static constexpr std::uint8_t kTelling[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0xfe, 4, 8, 0x40};
  std::uint8_t* const bytes = draft.room.data();
  switch (draft.size == 0 ? 4 : random.below(7)) {
    case 0:
      bytes[random.below(draft.size)] ^= static_cast<std::uint8_t>(1u << random.below(8));
      return;
    case 1:
      bytes[random.below(draft.size)] = kTelling[random.below(std::size(kTelling))];
      return;
    case 2:
      bytes[random.below(draft.size)] = static_cast<std::uint8_t>(random.next());
      return;
    case 3:
      return erase_some(draft, random);
    case 4:
      return insert_from(draft, other, random);
    case 5:
      return insert_byte(draft, random);
    default:
      draft.size = random.below(draft.size + 1);
  }
}

}  // namespace softdat::fuzz
