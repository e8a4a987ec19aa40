// SPDX-License-Identifier: BSD-2-Clause
// The last records of a carrier that closes while the ring is full. The peer may look at the ring after this process
// has ended, so records that found no room are sent through the socket. The peer reads them after the ring.
#include <algorithm>
#include <cstring>
#include <new>

#include "transport/shm/link.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::transport::shm {
namespace {

// More than all conversations together can have to say.
constexpr std::size_t kMostFarewell = std::size_t{256} << 20;

void append(Bytes& to, const RecordWord& word, const Bytes& bytes) {
  const std::uint64_t first = pack(word);
  const auto* head = reinterpret_cast<const std::byte*>(&first);
  to.insert(to.end(), head, head + kWordBytes);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

void Link::say_farewell() {
  if (is_ending() || !is_intact()) return;
  Bytes packet;
  for (const Waiting& last : outbox_) {
    const std::size_t length = kWordBytes + last.bytes.size();
    if (packet.size() + length > kMostPacketBytes) {
      // A full socket, or a peer that has gone. Its conversations then end as lost.
      if (!send_packet(socket_.get(), packet, {})) return;
      packet.clear();
    }
    append(packet, {.bytes = static_cast<std::uint32_t>(length), .kind = last.kind, .channel = last.number},
           last.bytes);
  }
  if (!packet.empty()) static_cast<void>(send_packet(socket_.get(), packet, {}));
}

// The packets of an established link are bells and farewells.
void Link::hear_socket(int most_packets) {
  const std::span<std::byte> data = carrier_.packet_buffer();
  for (int i = 0; i < most_packets; ++i) {
    Packet packet;
    const ReceiveResult result = receive_packet(socket_.get(), data, packet);
    if (result == ReceiveResult::kEnd) lose_peer();
    if (result != ReceiveResult::kPacket) return;
    // Descriptors belong to the handshake alone.
    if (packet.fd_count > 0) return break_down();
    if (packet.length == kBellBytes) {
      carrier_.on_bell();
    } else if (!add_farewell(data.first(packet.length))) {
      return break_down();
    }
  }
}

bool Link::add_farewell(std::span<const std::byte> records) try {
  if (farewell_.size() + records.size() > kMostFarewell) return false;
  farewell_.insert(farewell_.end(), records.begin(), records.end());
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void Link::deliver_farewell() {
  const Bytes farewell = std::move(farewell_);
  std::span<const std::byte> left(farewell);
  while (left.size() >= kWordBytes) {
    std::uint64_t first = 0;
    std::memcpy(&first, left.data(), kWordBytes);
    const RecordWord word = unpack(first);
    const bool is_sane = word.bytes >= kWordBytes && word.bytes <= left.size();
    if (!is_sane || !deliver(word, left.subspan(kWordBytes, word.bytes - kWordBytes))) return break_down();
    left = left.subspan(word.bytes);
  }
}

}  // namespace softdat::transport::shm
