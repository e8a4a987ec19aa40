// SPDX-License-Identifier: BSD-2-Clause
// The blocks of a pcapng file (draft-ietf-opsawg-pcapng): writing those of a capture, and walking through those of a
// file that somebody else wrote. Numbers are in this host's byte order. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace softdat::base::pcapng {

enum class BlockType : std::uint32_t {
  kInterface = 1,
  kStatistics = 5,
  kPacket = 6,
  kSection = 0x0a0d0d0a,
};

// Options. Codes below 2 are the same in all blocks.
inline constexpr std::uint16_t kEndOfOptions = 0;
inline constexpr std::uint16_t kComment = 1;
inline constexpr std::uint16_t kInterfaceName = 2;
inline constexpr std::uint16_t kInterfaceDescription = 3;
inline constexpr std::uint16_t kPacketFlags = 2;
inline constexpr std::uint16_t kReceived = 4;  // of a statistics block
inline constexpr std::uint16_t kDropped = 5;

// Bits of kPacketFlags.
inline constexpr std::uint32_t kInbound = 0x1;
inline constexpr std::uint32_t kOutbound = 0x2;
inline constexpr std::uint32_t kUnicast = 0x1 << 2;
inline constexpr std::uint32_t kPromiscuous = 0x4 << 2;

// Packets begin with an IP header.
inline constexpr std::uint16_t kLinkRaw = 101;

void append_section(std::vector<std::byte>& to, std::string_view application);
// `snap_length` 0: no limit. Times have the unit nanosecond.
void append_interface(std::vector<std::byte>& to, std::string_view name, std::string_view description,
                      std::uint32_t snap_length);
struct Statistics {
  std::uint32_t interface = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t received = 0;
  std::uint64_t dropped = 0;
};
void append_statistics(std::vector<std::byte>& to, const Statistics& statistics);

struct PacketHead {
  std::uint32_t interface = 0;
  std::uint64_t time_ns = 0;   // since 1970
  std::uint32_t captured = 0;  // bytes that the block has
  std::uint32_t original = 0;  // bytes of the packet
  std::uint32_t flags = 0;     // kPacketFlags
  std::string_view comment{};  // empty: none
};
// The size of the block.
std::size_t packet_size(const PacketHead& head);
// Writes all of the block but the bytes of the packet. Returns where those belong. REQUIRES: packet_size() bytes.
std::byte* write_packet(const PacketHead& head, std::byte* to);

// One block of a file.
struct Block {
  BlockType type{};                    // or a number that is none of these
  std::span<const std::byte> whole{};  // with type and lengths
  std::span<const std::byte> body{};
};
// Takes the first block off `rest`. Nothing: the file ends here, or is damaged from here on.
std::optional<Block> take_block(std::span<const std::byte>& rest);

// A packet block, whose spans and views lie in the block. Nothing: it is damaged.
struct Packet {
  PacketHead head{};
  std::span<const std::byte> data{};
};
std::optional<Packet> read_packet(const Block& block);
std::optional<Statistics> read_statistics(const Block& block);
// Name and description of an interface block; empty where it has none.
struct Interface {
  std::string_view name{};
  std::string_view description{};
  std::uint32_t snap_length = 0;
};
std::optional<Interface> read_interface(const Block& block);

}  // namespace softdat::base::pcapng
