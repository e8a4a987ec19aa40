// SPDX-License-Identifier: BSD-2-Clause
// What replay_main.cc promises of its inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/fuzz/input_rooms.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/poison.h"

namespace softdat::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(InputRoomsTest, AnInputHasItsBytes) {
  InputRooms rooms(100);
  for (std::size_t size = 0; size <= 100; ++size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * size);
    const auto input = rooms.enter(bytes);
    EXPECT_TRUE(std::equal(input.begin(), input.end(), bytes.begin(), bytes.end()));
    rooms.leave();
  }
}

#ifdef SOFTDAT_POISONS
TEST(InputRoomsTest, NothingBeyondAnInputCanBeRead) {
  InputRooms rooms(100);
  for (std::size_t size = 0; size <= 100; ++size) {
    const auto input = rooms.enter(Bytes(size));
    for (std::size_t i = 0; i < size; ++i) EXPECT_FALSE(__asan_address_is_poisoned(input.data() + i));
    for (std::size_t i = size; i < size + 32; ++i) EXPECT_TRUE(__asan_address_is_poisoned(input.data() + i)) << size;
    for (std::size_t i = 1; i <= 32; ++i) EXPECT_TRUE(__asan_address_is_poisoned(input.data() - i)) << size;
    rooms.leave();
  }
}

TEST(InputRoomsTest, AnInputThatHasEndedCannotBeRead) {
  InputRooms rooms(100);
  const auto first = rooms.enter(Bytes(9));
  rooms.leave();
  const auto second = rooms.enter(Bytes(100));
  EXPECT_NE(first.data(), second.data());
  for (const std::uint8_t& byte : first) EXPECT_TRUE(__asan_address_is_poisoned(&byte));
}
#endif

TEST(MutateTest, NoInputOutgrowsItsRoom) {
  Random random(7);
  const Bytes other(40, 0xee);
  Bytes room(50);
  constexpr std::size_t kFence = 16;
  for (std::size_t most = 0; most <= room.size() - kFence; ++most) {
    std::fill(room.begin(), room.end(), std::uint8_t{0x55});
    Draft draft{std::span(room).first(most), most / 2};
    for (int i = 0; i < 2000; ++i) {
      mutate_once(draft, other, random);
      ASSERT_LE(draft.size, most);
    }
    EXPECT_EQ(std::count(room.begin() + static_cast<std::ptrdiff_t>(most), room.end(), 0x55),
              static_cast<std::ptrdiff_t>(room.size() - most));
  }
}

TEST(MutateTest, EveryValueCanCome) {
  Random random(7);
  std::vector<int> seen(10);
  for (int i = 0; i < 1000; ++i) ++seen.at(random.below(10));
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 50);
  EXPECT_EQ(random.below(0), 0u);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(MutateTest, TheSameSeedMakesTheSameInputs) {
  Bytes rooms[2] = {Bytes(64), Bytes(64)};
  std::size_t sizes[2];
  for (std::size_t i = 0; i < 2; ++i) {
    Random random(3);
    Draft draft{rooms[i], 10};
    for (int n = 0; n < 100; ++n) mutate_once(draft, Bytes{1, 2, 3}, random);
    sizes[i] = draft.size;
  }
  EXPECT_EQ(sizes[0], sizes[1]);
  EXPECT_EQ(rooms[0], rooms[1]);
}

}  // namespace
}  // namespace softdat::fuzz
