// SPDX-License-Identifier: BSD-2-Clause
#include "base/pcapng.h"

#include <cstring>

#include "base/assert.h"

namespace softdat::base::pcapng {
namespace {

constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint16_t kMajorVersion = 1;
constexpr std::uint16_t kApplication = 4;     // of a section
constexpr std::uint16_t kTimeResolution = 9;  // of an interface
constexpr std::uint8_t kNanoseconds = 9;      // 10 to the power of -9
constexpr std::size_t kOptionHead = 4;
constexpr std::size_t kPacketFields = 20;  // from the interface to the original length
constexpr std::size_t kBlockFrame = 12;    // type, and the length twice

constexpr std::size_t padded(std::size_t length) {
  return (length + 3) / 4 * 4;
}

template <typename T>
T load(std::span<const std::byte> from, std::size_t at) {
  T value;
  std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}

template <typename T>
void put(std::byte*& to, T value) {
  std::memcpy(to, &value, sizeof value);
  to += sizeof value;
}

void put_option(std::byte*& to, std::uint16_t code, const void* value, std::size_t length) {
  put(to, code);
  put(to, static_cast<std::uint16_t>(length));
  // memcpy with a null pointer is undefined, even for no bytes: the end of options has no value.
  if (length > 0) std::memcpy(to, value, length);
  std::memset(to + length, 0, padded(length) - length);
  to += padded(length);
}

// Times are two halves, the upper one first.
void put_time(std::byte*& to, std::uint64_t time_ns) {
  put(to, static_cast<std::uint32_t>(time_ns >> 32));
  put(to, static_cast<std::uint32_t>(time_ns));
}

std::uint64_t load_time(std::span<const std::byte> from, std::size_t at) {
  return (std::uint64_t{load<std::uint32_t>(from, at)} << 32) | load<std::uint32_t>(from, at + 4);
}

// A block of few bytes, put together at the end of a vector. Out of memory it leaves the vector as it was.
class BlockBuilder {
 public:
  BlockBuilder(std::vector<std::byte>& to, BlockType type) : to_(to), start_(to.size()) {
    constexpr std::size_t kHead = 2 * sizeof(std::uint32_t);  // the type, and the length, which finish() knows
    to_.resize(start_ + kHead);
    std::memcpy(to_.data() + start_, &type, sizeof type);
  }
  ~BlockBuilder() {
    SOFTDAT_DEBUG_CHECK(to_.size() >= start_ && (!is_finished_ || (to_.size() - start_) % 4 == 0),
                        "a block has whole words", to_.size(), start_);
    if (!is_finished_) to_.resize(start_);
  }
  BlockBuilder(const BlockBuilder&) = delete;
  BlockBuilder& operator=(const BlockBuilder&) = delete;
  template <typename T>
  void add(T value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    to_.insert(to_.end(), bytes, bytes + sizeof value);
  }
  void add_option(std::uint16_t code, const void* value, std::size_t length) {
    to_.resize(to_.size() + kOptionHead + padded(length));
    std::byte* at = to_.data() + to_.size() - kOptionHead - padded(length);
    put_option(at, code, value, length);
  }
  void add_option(std::uint16_t code, std::string_view text) {
    // An option's length has 16 bits.
    const std::string_view most = text.substr(0, 60000);
    if (!most.empty()) add_option(code, most.data(), most.size());
  }
  void finish() {
    add_option(kEndOfOptions, nullptr, 0);
    const auto length = static_cast<std::uint32_t>(to_.size() - start_ + sizeof(std::uint32_t));
    add(length);
    std::memcpy(to_.data() + start_ + sizeof(std::uint32_t), &length, sizeof length);
    is_finished_ = true;
  }

 private:
  std::vector<std::byte>& to_;
  const std::size_t start_;
  bool is_finished_ = false;
};

std::string_view comment_of(const PacketHead& head) {
  return head.comment.substr(0, 60000);
}

std::size_t size_of_options(const PacketHead& head) {
  const std::size_t comment = comment_of(head).empty() ? 0 : kOptionHead + padded(comment_of(head).size());
  return kOptionHead + sizeof(std::uint32_t) + comment + kOptionHead;
}

// Calls `take(code, value)` for each option.
template <typename Take>
void for_each_option(std::span<const std::byte> options, Take take) {
  while (options.size() >= kOptionHead) {
    const auto code = load<std::uint16_t>(options, 0);
    const auto length = load<std::uint16_t>(options, 2);
    options = options.subspan(kOptionHead);
    if (code == kEndOfOptions || padded(length) > options.size()) return;
    take(code, options.first(length));
    options = options.subspan(padded(length));
  }
}

std::string_view text_of(std::span<const std::byte> value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

}  // namespace

void append_section(std::vector<std::byte>& to, std::string_view application) {
  BlockBuilder block(to, BlockType::kSection);
  block.add(kByteOrder);
  block.add(kMajorVersion);
  block.add(std::uint16_t{0});
  block.add(~std::uint64_t{0});  // the section's length is not said
  block.add_option(kApplication, application);
  block.finish();
}

void append_interface(std::vector<std::byte>& to, std::string_view name, std::string_view description,
                      std::uint32_t snap_length) {
  BlockBuilder block(to, BlockType::kInterface);
  block.add(kLinkRaw);
  block.add(std::uint16_t{0});
  block.add(snap_length);
  block.add_option(kInterfaceName, name);
  block.add_option(kInterfaceDescription, description);
  block.add_option(kTimeResolution, &kNanoseconds, sizeof kNanoseconds);
  block.finish();
}

void append_statistics(std::vector<std::byte>& to, const Statistics& statistics) {
  BlockBuilder block(to, BlockType::kStatistics);
  block.add(statistics.interface);
  block.add(static_cast<std::uint32_t>(statistics.time_ns >> 32));
  block.add(static_cast<std::uint32_t>(statistics.time_ns));
  block.add_option(kReceived, &statistics.received, sizeof statistics.received);
  block.add_option(kDropped, &statistics.dropped, sizeof statistics.dropped);
  block.finish();
}

std::size_t packet_size(const PacketHead& head) {
  return kBlockFrame + kPacketFields + padded(head.captured) + size_of_options(head);
}

// Leaves room for the packet's bytes and returns where they go, so they are copied once.
std::byte* write_packet(const PacketHead& head, std::byte* to) {
  const auto length = static_cast<std::uint32_t>(packet_size(head));
  put(to, static_cast<std::uint32_t>(BlockType::kPacket));
  put(to, length);
  put(to, head.interface);
  put_time(to, head.time_ns);
  put(to, head.captured);
  put(to, head.original);
  std::byte* const data = to;
  to += padded(head.captured);
  std::memset(data + head.captured, 0, padded(head.captured) - head.captured);
  put_option(to, kPacketFlags, &head.flags, sizeof head.flags);
  const std::string_view comment = comment_of(head);
  if (!comment.empty()) put_option(to, kComment, comment.data(), comment.size());
  put_option(to, kEndOfOptions, nullptr, 0);
  put(to, length);
  return data;
}

std::optional<Block> take_block(std::span<const std::byte>& rest) {
  if (rest.size() < kBlockFrame) return std::nullopt;
  const auto length = load<std::uint32_t>(rest, 4);
  if (length < kBlockFrame || length % 4 != 0 || length > rest.size()) return std::nullopt;
  // The length stands at both ends of a block; a file that was cut, or is none of these, differs here.
  if (load<std::uint32_t>(rest, length - 4) != length) return std::nullopt;
  Block block;
  block.type = static_cast<BlockType>(load<std::uint32_t>(rest, 0));
  block.whole = rest.first(length);
  block.body = rest.subspan(8, length - kBlockFrame);
  // Files of the other byte order are not read: this library writes its own order only.
  if (block.type == BlockType::kSection &&
      (block.body.size() < sizeof kByteOrder || load<std::uint32_t>(block.body, 0) != kByteOrder)) {
    return std::nullopt;
  }
  rest = rest.subspan(length);
  return block;
}

// Files may be cut or damaged: no length is used before it has been compared with what is there.
std::optional<Packet> read_packet(const Block& block) {
  if (block.type != BlockType::kPacket || block.body.size() < kPacketFields) return std::nullopt;
  Packet packet;
  packet.head.interface = load<std::uint32_t>(block.body, 0);
  packet.head.time_ns = load_time(block.body, 4);
  packet.head.captured = load<std::uint32_t>(block.body, 12);
  packet.head.original = load<std::uint32_t>(block.body, 16);
  const auto rest = block.body.subspan(kPacketFields);
  if (packet.head.captured > rest.size() || padded(packet.head.captured) > rest.size()) return std::nullopt;
  packet.data = rest.first(packet.head.captured);
  for_each_option(rest.subspan(padded(packet.head.captured)),
                  [&](std::uint16_t code, std::span<const std::byte> value) {
                    if (code == kComment) packet.head.comment = text_of(value);
                    if (code == kPacketFlags && value.size() == 4) packet.head.flags = load<std::uint32_t>(value, 0);
                  });
  return packet;
}

std::optional<Statistics> read_statistics(const Block& block) {
  if (block.type != BlockType::kStatistics || block.body.size() < 12) return std::nullopt;
  Statistics statistics{.interface = load<std::uint32_t>(block.body, 0), .time_ns = load_time(block.body, 4)};
  for_each_option(block.body.subspan(12), [&](std::uint16_t code, std::span<const std::byte> value) {
    if (value.size() != 8) return;
    if (code == kReceived) statistics.received = load<std::uint64_t>(value, 0);
    if (code == kDropped) statistics.dropped = load<std::uint64_t>(value, 0);
  });
  return statistics;
}

std::optional<Interface> read_interface(const Block& block) {
  if (block.type != BlockType::kInterface || block.body.size() < 8) return std::nullopt;
  Interface interface { .snap_length = load<std::uint32_t>(block.body, 4) };
  for_each_option(block.body.subspan(8), [&](std::uint16_t code, std::span<const std::byte> value) {
    if (code == kInterfaceName) interface.name = text_of(value);
    if (code == kInterfaceDescription) interface.description = text_of(value);
  });
  return interface;
}

}  // namespace softdat::base::pcapng
