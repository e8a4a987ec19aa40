// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/link.h"

#include <sys/socket.h>

#include <cstring>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/hung_up.h"
#include "transport/shm/carrier_parts.h"

namespace softdat::transport::shm {
namespace {

// Packets that are still read when the link ends: all the farewells that fit into a socket, and bells.
constexpr int kMostLastPackets = 4096;
// More than all conversations together can have to say.
constexpr std::size_t kMostFarewell = std::size_t{256} << 20;
// RFC 5040 section 4.8: remote operation error, catastrophic, localized to the stream.
constexpr TerminateCode kBrokenProtocol{.layer = 0, .type = 2, .code = 7};

}  // namespace

Link::Link(CarrierParts& carrier, LinkParts parts)
    : carrier_(carrier),
      peer_(parts.peer),
      segment_(std::move(parts.segment)),
      socket_(std::move(parts.socket)),
      resources_(std::move(parts.resources)),
      end_(carrier.attention),
      writer_(carrier.attention, end_, socket_, segment_.ring_of(parts.side), parts.fence),
      reader_(segment_.ring_of(other(parts.side)), parts.fence),
      conversations_(carrier, *this, parts.side) {
  refuse_descriptors(socket_.get());
  watch_ = carrier_.reactor.watch(socket_.get(), *this);
  // Out of descriptors or memory in the kernel. The carrier ends the link in its next turn.
  if (!watch_) {
    end_.break_down();
    return;
  }
  watch_->want(kReadable);
  // A pidfd tells of the peer's death even if a child of the peer still holds the socket. Older kernels have none.
  base::UniqueFd process = open_process(socket_.get());
  if (process) {
    death_watch_ = std::make_unique<DeathWatch>(carrier_.reactor, std::move(process), [this] { end_.lose_peer(); });
  }
}

Link::~Link() {
  if (!resources_) return;
  const bool has_gone = is_intact() && base::has_hung_up(socket_.get());
  const bool is_done = carrier_.options.resources->detach_peer(resources_, has_gone);
  if (!is_done && death_watch_) carrier_.departed.add(std::move(death_watch_), resources_);
}

void Link::on_ready(std::uint32_t) {
  // One packet, which is mostly the only bell. What is left behind it is told of at once.
  hear_socket(1);
  if (!end_.is_peer_gone()) watch_->want(kReadable);
}

// Resumes writers, and rings the peer's bell for what has been written. Returns how many writers it has resumed.
[[gnu::noinline]] std::size_t Link::write_on(std::size_t taken) {
  const bool had_writers = writer_.has_writers();
  const std::size_t resumed = writer_.write_on();
  heat_.idle_polls = taken + resumed > 0 || had_writers ? 0 : heat_.idle_polls + 1;
  return resumed;
}

[[gnu::noinline]] std::size_t Link::take_records(std::size_t most) {
  std::size_t count = 0;
  for (; count < most && !end_.is_broken(); ++count) {
    // Acquire: pairs with the release of the record's first word in RingWriter::publish().
    const std::uint64_t first = reader_.peek();
    if (first == 0) break;
    const RecordWord word = unpack(first);
    // The ring is the peer's memory as well: take the word once, and believe no length that leaves the mirrored ring.
    const bool is_sane = word.bytes >= kWordBytes && word.bytes <= kMostRecord;
    const std::span<const std::byte> bytes(reader_.record() + kWordBytes, word.bytes - kWordBytes);
    if (!is_sane) {
      end_.break_down();
      break;
    }
    // Fast path for short sends.
    Inbound* const inbound = word.kind == RecordKind::kMessage ? conversations_.find_inbound(word.channel) : nullptr;
    const bool is_taken = inbound != nullptr && inbound->take_short_send(bytes);
    if (!is_taken && !conversations_.deliver(word, bytes)) {
      end_.break_down();
      break;
    }
    reader_.consume(word.bytes);
    // Room is given back in batches; the peer is rung for it only if it has said that it waits.
    if (reader_.is_publish_due() && reader_.publish()) writer_.ring_quietly();
  }
  if (writer_.may_have_to_write() && !end_.is_due()) [[unlikely]]
    return count + write_on(count);
  heat_.idle_polls = count > 0 ? 0 : heat_.idle_polls + 1;
  return count;
}

void Link::end() {
  // Records that a dead peer has left in the ring still count, and then its farewell; a living peer cannot hold us
  // here, because both are bounded.
  if (is_intact()) hear_socket(kMostLastPackets);
  // Everything that was published before the peer's end was sent, and may complete requests.
  if (!end_.is_broken()) take_records(segment_.ring_of(Side::kConnector).size / kLine);
  if (!end_.is_broken()) deliver_farewell();
  const bool is_broken = end_.is_broken();
  end_.finish();
  writer_.drop();
  conversations_.end_all(is_broken ? CloseReason::kProtocolError : CloseReason::kLost,
                         is_broken ? kBrokenProtocol : TerminateCode{},
                         is_broken ? Refusal::kProtocol : Refusal::kUnreachable);
}

// The program may have closed our descriptor, and have a socket of its own under its number.
void Link::sever() {
  if (is_intact()) ::shutdown(socket_.get(), SHUT_RDWR);
}

// The peer may look at the ring after this process has ended. It reads the socket after the ring.
void Link::say_farewell() const {
  if (!end_.is_due() && is_intact()) writer_.say_farewell();
}

// The packets of an established link are bells and farewells.
void Link::hear_socket(int most_packets) {
  const std::span<std::byte> data = carrier_.packet_buffer;
  for (int i = 0; i < most_packets; ++i) {
    Packet packet;
    const ReceiveResult result = receive_packet(socket_.get(), data, packet);
    if (result == ReceiveResult::kEnd) end_.lose_peer();
    if (result != ReceiveResult::kPacket) return;
    // Descriptors belong to the handshake alone.
    if (packet.fd_count > 0) return end_.break_down();
    if (packet.length == kBellBytes) {
      carrier_.attention.on_bell();
    } else if (!farewell_.add(data.first(packet.length))) {
      return end_.break_down();
    }
  }
}

bool Farewell::add(std::span<const std::byte> records) try {
  if (records_.size() + records.size() > kMostFarewell) return false;
  records_.insert(records_.end(), records.begin(), records.end());
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void Link::deliver_farewell() {
  const Bytes farewell = farewell_.take();
  std::span<const std::byte> left(farewell);
  while (left.size() >= kWordBytes) {
    std::uint64_t first = 0;
    std::memcpy(&first, left.data(), kWordBytes);
    const RecordWord word = unpack(first);
    const bool is_sane = word.bytes >= kWordBytes && word.bytes <= left.size();
    if (!is_sane || !conversations_.deliver(word, left.subspan(kWordBytes, word.bytes - kWordBytes))) {
      return end_.break_down();
    }
    left = left.subspan(word.bytes);
  }
}

}  // namespace softdat::transport::shm
