// SPDX-License-Identifier: BSD-2-Clause
#include "base/pcapng.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace softdat::base::pcapng {
namespace {

std::vector<std::byte> packet_block(const std::string& data, PacketHead head) {
  head.captured = static_cast<std::uint32_t>(data.size());
  std::vector<std::byte> block(packet_size(head));
  std::memcpy(write_packet(head, block.data()), data.data(), data.size());
  return block;
}

TEST(Pcapng, APacketComesBackWithAllThatWasSaidOfIt) {
  for (const std::string data : {"", "a", "abc", "abcd", "abcdefg"}) {
    const auto block = packet_block(data, {.interface = 3,
                                           .time_ns = 0x0123456789abcdef,
                                           .original = 70000,
                                           .flags = kOutbound | kUnicast,
                                           .comment = "why"});
    EXPECT_EQ(block.size() % 4, 0u);
    std::span<const std::byte> rest = block;
    const auto taken = take_block(rest);
    ASSERT_TRUE(taken && rest.empty());
    const auto packet = read_packet(*taken);
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->head.interface, 3u);
    EXPECT_EQ(packet->head.time_ns, 0x0123456789abcdefu);
    EXPECT_EQ(packet->head.original, 70000u);
    EXPECT_EQ(packet->head.flags, kOutbound | kUnicast);
    EXPECT_EQ(packet->head.comment, "why");
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(packet->data.data()), packet->data.size()), data);
  }
}

TEST(Pcapng, InterfacesAndStatisticsComeBack) {
  std::vector<std::byte> file;
  append_section(file, "test");
  append_interface(file, "dtest[1] sim0", "dtest -P sim0", 0);
  append_statistics(file, {.interface = 0, .time_ns = 5, .received = 70, .dropped = 7});
  std::span<const std::byte> rest = file;
  const auto section = take_block(rest);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->type, BlockType::kSection);
  const auto block = take_block(rest);
  ASSERT_TRUE(block);
  const auto interface = read_interface(*block);
  ASSERT_TRUE(interface);
  EXPECT_EQ(interface->name, "dtest[1] sim0");
  EXPECT_EQ(interface->description, "dtest -P sim0");
  const auto last = take_block(rest);
  ASSERT_TRUE(last && rest.empty());
  EXPECT_FALSE(read_packet(*last) || read_interface(*last));
  const auto statistics = read_statistics(*last);
  ASSERT_TRUE(statistics);
  EXPECT_EQ(statistics->received, 70u);
  EXPECT_EQ(statistics->dropped, 7u);
}

// A process that is killed leaves a part of a block; a hostile one leaves anything.
TEST(Pcapng, ADamagedBlockIsNotTaken) {
  const auto whole = packet_block("abcdefgh", {.comment = "comment"});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::span<const std::byte> rest = std::span(whole).first(size);
    EXPECT_FALSE(take_block(rest)) << size;
    EXPECT_EQ(rest.size(), size);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned value : {0u, 1u, 0x7fu, 0xffu}) {
      auto damaged = whole;
      damaged[at] = static_cast<std::byte>(value);
      std::span<const std::byte> rest = damaged;
      const auto block = take_block(rest);
      const auto packet = block ? read_packet(*block) : std::nullopt;
      EXPECT_TRUE(!packet || packet->data.size() <= whole.size());
    }
  }
}

}  // namespace
}  // namespace softdat::base::pcapng
