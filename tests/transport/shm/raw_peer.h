// SPDX-License-Identifier: BSD-2-Clause
// A peer that says what it likes: speaks the handshake by hand and then writes any record it wants
// into the ring.
#pragma once

#include <memory>
#include <optional>

#include "transport/shm/handshake.h"
#include "transport/shm/record.h"
#include "transport/shm/rendezvous.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"
#include "transport/shm/segment.h"
#include "transport/shm/unix_socket.h"

namespace softdat::transport::shm {

class RawPeer {
 public:
  // Reaches the rendezvous and says Hello.
  RawPeer(std::uint32_t ipv4, std::uint64_t service, bool joins_fences = false)
      : socket_(Rendezvous().connect({.ipv4 = ipv4}, service).fd) {
    static_cast<void>(send_hello(socket_.get(), {.id = make_carrier_id(), .joins_fences = joins_fences}, {}));
  }

  // Once the other side has turned: takes its Welcome. False when there is none.
  bool take_welcome() {
    Welcome welcome;
    if (receive_welcome(socket_.get(), welcome) != ReceiveResult::kPacket) return false;
    segment_ = Segment::attach(std::move(welcome.memory), places_);
    if (!segment_) return false;
    writer_ = std::make_unique<RingWriter>(segment_->ring_of(Side::kConnector), SleepFence::kBoth);
    reader_ = std::make_unique<RingReader>(segment_->ring_of(Side::kAcceptor), SleepFence::kBoth);
    return true;
  }

  // A record as it should be, whatever is in it.
  bool write(RecordKind kind, std::uint32_t channel, const Bytes& bytes) {
    const auto length = static_cast<std::uint32_t>(kWordBytes + bytes.size());
    return write_word(pack({.bytes = length, .kind = kind, .channel = channel}), bytes);
  }
  // Any first word.
  bool write_word(std::uint64_t word, const Bytes& bytes) {
    const std::size_t length = kWordBytes + bytes.size();
    if (!writer_->has_room(length)) return false;
    std::copy(bytes.begin(), bytes.end(), writer_->begin(length) + kWordBytes);
    writer_->publish(word, length);
    return true;
  }
  // Reads and forgets what the other side says; the kind of the last record.
  std::optional<RecordKind> drain() {
    std::optional<RecordKind> last;
    while (const std::uint64_t word = reader_->peek()) {
      last = unpack(word).kind;
      reader_->consume(unpack(word).bytes);
      reader_->publish();
    }
    return last;
  }

  int socket() const { return socket_.get(); }
  Segment& segment() { return *segment_; }

 private:
  base::UniqueFd socket_;
  SegmentPlaces places_;
  std::optional<Segment> segment_;
  std::unique_ptr<RingWriter> writer_;
  std::unique_ptr<RingReader> reader_;
};

}  // namespace softdat::transport::shm
