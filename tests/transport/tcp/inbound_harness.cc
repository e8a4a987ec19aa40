// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/tcp/inbound_harness.h"

#include <sys/socket.h>

#include <algorithm>

#include "base/assert.h"
#include "tests/transport/tcp/socket_pair.h"

namespace softdat::transport::tcp {
namespace {

class Recorder final : public InboundSink {
 public:
  Recorder(HarnessResult& result, std::span<std::byte> memory) : result_(result), memory_(memory) {}

  Placement place(const Arrival& arrival, SliceList& out) override {
    base::check(carries_payload(arrival.opcode), "only payload is placed");
    base::check(arrival.first == (arrival.message_offset == 0), "first is the first");
    base::check(arrival.length <= memory_.size(), "no run is longer than a segment", arrival.length);
    result_.payload += arrival.length;
    if (arrival.length % 5 == 4) return Placement::kDiscard;
    if (arrival.length > 0) out.add(memory_.data(), arrival.length);
    return Placement::kPlace;
  }
  void on_fault(const Arrival&) override { base::check(false, "memory of its own does not fault"); }
  bool on_short_send(const ShortSend& short_send) override {
    const std::size_t length = short_send.payload.size();
    if (length % 3 == 2 || length > memory_.size()) return false;
    std::copy(short_send.payload.begin(), short_send.payload.end(), memory_.begin());
    result_.payload += length;
    ++result_.messages;
    return true;
  }
  void on_message(const Message& message) override {
    ++result_.messages;
    if (message.opcode == Opcode::kTerminate) is_receiving_ = false;
  }
  void on_ready_to_receive(const Message&) override { ++result_.messages; }
  bool is_receiving() const override { return is_receiving_; }

 private:
  HarnessResult& result_;
  const std::span<std::byte> memory_;
  bool is_receiving_ = true;
};

class SocketStream final : public ByteStream {
 public:
  int reader() const override { return sockets_.reader.get(); }
  std::size_t send(std::span<const std::byte> bytes) override {
    const auto sent = ::send(sockets_.writer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    base::check(sent > 0, "the pair takes bytes");
    return static_cast<std::size_t>(sent);
  }
  void end() override { sockets_.writer.reset(); }

 private:
  SocketPair sockets_;
};

}  // namespace

HarnessResult InboundHarness::feed(ByteStream& stream, std::span<const std::byte> bytes, const InboundRules& rules,
                                   std::size_t cut) {
  HarnessResult result;
  Recorder recorder(result, memory_);
  Inbound inbound(pool_, recorder);
  inbound.start(rules);
  while (result.status == ReadStatus::kDrained) {
    const auto part = bytes.first(std::min(cut, bytes.size()));
    if (part.empty()) stream.end();
    if (!part.empty()) bytes = bytes.subspan(stream.send(part));
    const ReadOutcome outcome = inbound.read(stream.reader(), 1u << 20);
    result.status = outcome.status == ReadStatus::kMore ? ReadStatus::kDrained : outcome.status;
    result.fault = outcome.fault;
  }
  return result;
}

HarnessResult InboundHarness::feed_any(ByteStream& stream, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const auto choice = std::to_integer<unsigned>(bytes[0]);
  const InboundRules rules{.has_crc = (choice & 1) != 0,
                           .knows_notes = (choice & 2) != 0,
                           .expects_rtr = (choice & 4) != 0,
                           .knows_voids = (choice & 64) != 0,
                           .acks_ride = (choice & 2) != 0 && (choice & 64) != 0};
  static constexpr std::size_t kCuts[] = {1, 3, 17, 1000, 9000, 60000, 100000, 200000};
  // Small pieces of a long stream would take more time than they show.
  constexpr std::size_t kMostPieces = 64;
  return feed(stream, bytes.subspan(1), rules, std::max(kCuts[(choice >> 3) & 7], bytes.size() / kMostPieces));
}

HarnessResult feed(std::span<const std::byte> bytes, const InboundRules& rules, std::size_t cut) {
  SocketStream stream;
  return InboundHarness().feed(stream, bytes, rules, cut);
}

HarnessResult feed_any(std::span<const std::byte> bytes) {
  SocketStream stream;
  return InboundHarness().feed_any(stream, bytes);
}

}  // namespace softdat::transport::tcp
