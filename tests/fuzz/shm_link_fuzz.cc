// SPDX-License-Identifier: BSD-2-Clause
// A whole link over shared memory whose peer does as it likes: any records, lines and control words in the ring, any
// packets and farewells on the socket, a hang-up at any moment, while our side connects, answers, sends and closes,
// also from within what it is told. The input is a script of both sides; see Script::step().
//
// Whatever comes, each channel hears what transport/channel.h promises, our own records are well-formed, and the end of
// the link leaves nothing behind.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_link.h"
#include "transport/shm/link.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::fuzz {
namespace {

using namespace transport;
using namespace transport::shm;

constexpr std::size_t kChannels = 4;
constexpr std::size_t kMostSteps = 200;
constexpr std::size_t kMemory = std::size_t{64} << 10;
constexpr CarrierId kPeer{1, 2, 3};

// The bytes of the input, one after the other; zeros at its end.
class Reader {
 public:
  explicit Reader(Input input) : left_(input) {}
  bool is_done() const { return left_.empty(); }
  unsigned byte() { return static_cast<unsigned>(number(1)); }
  std::uint64_t number(std::size_t bytes) {
    const Input got = take(bytes);
    std::uint64_t value = 0;
    std::memcpy(&value, got.data(), got.size());
    return value;
  }
  Input take(std::size_t most) {
    const Input got = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(got.size());
    return got;
  }

 private:
  Input left_;
};

// What a channel of ours does when it is told something. It may end the channel from within.
enum class Habit : unsigned { kKeep, kClose, kDestroy, kDiscard, kPieces, kAnswer, kBriefs, kTerminate };

// Our side of one channel.
class OurEnd final : public ChannelSink, public PayloadSource {
 public:
  std::unique_ptr<Channel> channel;
  Habit habit = Habit::kKeep;

  bool is_free() const { return channel == nullptr; }
  void begin() {
    is_established_ = is_over_ = is_blocked_ = false;
    next_ = 0;
  }
  void drop() {
    is_over_ = true;
    channel.reset();
  }
  void send(Opcode opcode, std::uint32_t length) {
    if (!channel) return;
    // A message that is blocked is sent again, as it was.
    if (!is_blocked_) message_ = {.opcode = opcode, .length = std::min<std::uint32_t>(length, kMemory)};
    const SendResult result = channel->send(message_, this);
    is_blocked_ = result == SendResult::kBlocked;
    expect(result != SendResult::kFault && result != SendResult::kFaultMidway, "memory of our own does not fault");
  }

  // Not while a message is blocked.
  void send_short(std::span<const std::byte> payload) {
    if (!is_blocked_) static_cast<void>(channel->send_short({.payload = payload}));
  }

  Placement place(const Arrival& arrival, SliceList& out) override {
    expect_alive();
    expect(carries_payload(arrival.opcode), "only payload is placed");
    expect(arrival.first == (arrival.message_offset == 0) && arrival.message_offset == next_, "payload ascends");
    if (end_within()) return Placement::kDiscard;
    const std::size_t length = habit == Habit::kPieces ? std::min<std::size_t>(arrival.length, 100) : arrival.length;
    expect(arrival.length <= kMostPayload + kWordBytes * MessageHead::kMostWords, "no run is longer than a record");
    next_ += habit == Habit::kDiscard ? arrival.length : length;
    if (habit == Habit::kDiscard) return Placement::kDiscard;
    if (length > 0) out.add(memory().data(), length);
    return Placement::kPlace;
  }
  void on_message(const Message& message) override {
    expect_alive();
    if (carries_payload(message.opcode)) expect(next_ == message.length, "a message is told when it is whole");
    next_ = carries_payload(message.opcode) ? 0 : next_;
    if (end_within()) return;
    if (habit == Habit::kAnswer) send(Opcode::kSend, 100);
  }
  bool on_short_send(const ShortSend& short_send) override {
    expect_alive();
    expect(next_ == 0 && short_send.payload.size() <= kMostRecord, "a short message comes between others");
    return habit == Habit::kBriefs;
  }
  void on_writable() override {
    expect(!is_over_, "a channel that is over is not written to");
    if (!end_within()) send(Opcode::kSend, 10);
  }
  void on_established(const Offer&) override {
    expect(!is_established_ && !is_over_, "a channel is established once");
    is_established_ = true;
    end_within();
  }
  void on_refused(Refusal, std::span<const std::byte>) override {
    expect(!is_established_ && !is_over_, "only a question is refused, once");
    is_over_ = true;
  }
  void on_closed(CloseReason, const TerminateCode&) override {
    expect(!is_over_, "a channel is closed once");
    is_over_ = true;
  }
  bool gather(std::uint64_t offset, std::size_t length, SliceList& out) override {
    expect(offset + length <= kMemory, "no more is asked for than the message has");
    return out.add(memory().data() + offset, length);
  }
  bool is_over() const { return is_over_; }

 private:
  static std::array<std::byte, kMemory>& memory() {
    static std::array<std::byte, kMemory> memory;
    return memory;
  }
  void expect_alive() const { expect(is_established_ && !is_over_, "messages come to open channels"); }
  bool end_within() {
    if (!channel) return true;
    if (habit == Habit::kClose) channel->close(CloseMode::kOrderly);
    if (habit == Habit::kTerminate) channel->terminate({.layer = 0, .type = 1, .code = 2});
    if (habit == Habit::kDestroy) channel.reset();
    const bool ends = habit == Habit::kClose || habit == Habit::kTerminate || habit == Habit::kDestroy;
    is_over_ = is_over_ || ends;
    return ends;
  }

  bool is_established_ = false;
  bool is_over_ = false;
  bool is_blocked_ = false;
  std::uint64_t next_ = 0;  // of the payload that arrives
  Message message_;
};

// Keeps requests until the script answers them.
class Desk final : public PortSink {
 public:
  void on_request(std::unique_ptr<InboundRequest> request) override { requests.push_back(std::move(request)); }
  std::vector<std::unique_ptr<InboundRequest>> requests;
};

// What all inputs share.
struct House {
  MemoryReactor reactor;
  ShmCarrier carrier{reactor, {.address = {.ipv4 = 0x7f000001}, .ring_bytes = MemoryLink::kRingBytes}};
  Desk desk;
  const std::uint64_t service = (static_cast<std::uint64_t>(::getpid()) << 20) + 0xf;
  std::unique_ptr<Port> port = carrier.listen(service, 3, desk).port;
};
std::unique_ptr<House> house;

class Script {
 public:
  explicit Script(Input input) : in_(input) {
    Hello hello;
    hello.sender = kPeer;
    hello.is_our_version = true;
    house->carrier.parts().introductions.welcome(PeerSocket(base::UniqueFd(peer_.socket())), std::move(hello));
    Link* const link = house->carrier.parts().links.find(kPeer);
    expect(link != nullptr, "a peer that says Hello gets a link");
    house->carrier.parts().introductions.remember({Address{.ipv4 = 0x7f000001}, house->service + 1}, *link);
    writer_.emplace(peer_.ring_of(Side::kConnector), SleepFence::kBoth);
    reader_.emplace(peer_.ring_of(Side::kAcceptor), SleepFence::kBoth);
  }

  void play() {
    for (std::size_t i = 0; i < kMostSteps && !in_.is_done(); ++i) step(in_.byte());
    end();
  }

 private:
  void step(unsigned choice) {
    switch (choice % 14) {
      case 0:
        return any_record();
      case 1:
        return zeros();
      case 2:
        return raw_line(in_.number(8));
      case 3:
        return message();
      case 4:
        return offer();
      case 5:
        return control_word();
      case 6:
        return turn();
      case 7:
        return connect(end_of(in_.byte()));
      case 8:
        return answer(end_of(in_.byte()));
      case 9:
        return act(end_of(in_.byte()));
      case 10:
        return peer_.send_packet(in_.take(in_.byte()), (choice & 0x80) != 0);
      case 11:
        return farewell();
      case 12:
        return read_ours();
      default:
        if ((choice & 0xc0) == 0xc0) peer_.hang_up();
        return turn();
    }
  }

  // The peer's part.
  RecordKind kind() { return static_cast<RecordKind>(in_.byte() % 12); }
  // Mostly the numbers of conversations that may be there: ours have bit 31.
  std::uint32_t number() {
    const unsigned choice = in_.byte();
    if (choice == 0xff) return static_cast<std::uint32_t>(in_.number(4));
    return (choice & 7) | ((choice & 0x80) != 0 ? 0x80000000u : 0);
  }
  void record(RecordKind kind, std::uint32_t number, std::span<const std::byte> bytes) {
    const std::size_t length = kWordBytes + bytes.size();
    if (!writer_->has_room(length)) return;
    std::copy(bytes.begin(), bytes.end(), writer_->begin(length) + kWordBytes);
    writer_->publish(pack({.bytes = static_cast<std::uint32_t>(length), .kind = kind, .channel = number}), length);
    count_units("records", 1);
  }
  void any_record() {
    const RecordKind kind = this->kind();
    const std::uint32_t channel = number();
    record(kind, channel, in_.take(in_.byte()));
  }
  void zeros() {
    const RecordKind kind = this->kind();
    const std::uint32_t channel = number();
    record(kind, channel, std::span(zeros_).first(std::min<std::size_t>(in_.number(2), zeros_.size())));
  }
  // Any first word, whatever stands behind it.
  void raw_line(std::uint64_t word) {
    const std::size_t length = kWordBytes * (1 + in_.byte());
    if (word == 0 || !writer_->has_room(length)) return;
    static_cast<void>(writer_->begin(length));
    writer_->publish(word, length);
    count_units("records", 1);
  }
  void message() {
    const unsigned opcode = in_.byte();
    const std::uint32_t channel = number();
    const auto length = static_cast<std::uint32_t>(in_.number(2));
    const std::uint16_t acks = static_cast<std::uint16_t>(in_.byte());
    const MessageHead head = encode_head({.opcode = kOpcodes[opcode % kOpcodes.size()], .length = length}, acks);
    std::copy_n(std::as_bytes(std::span(head.words)).begin(), head.bytes(), scratch_.begin());
    const std::size_t payload = std::min<std::size_t>(in_.number(2), scratch_.size() - head.bytes());
    record(RecordKind::kMessage, channel, std::span(scratch_).first(head.bytes() + payload));
  }
  void offer() {
    const unsigned choice = in_.byte();
    const RecordKind kind = (choice & 1) != 0 ? RecordKind::kAccept : RecordKind::kConnect;
    const std::uint32_t channel = number();
    Offer offer{.service_id = house->service + (choice >> 1 & 1), .features = in_.byte()};
    const Input data = in_.take(choice >> 2);
    offer.private_data.assign(data.begin(), data.end());
    record(kind, channel, encode_offer(offer));
  }
  // The words that the peer writes, and by a mistake or by intent those that it should not.
  void control_word() {
    const unsigned choice = in_.byte();
    RingControl& control = *peer_.ring_of((choice & 1) != 0 ? Side::kConnector : Side::kAcceptor).control;
    switch (choice >> 1 & 3) {
      case 0:
        return control.pulse.store(in_.number(8));
      case 1:
        return control.wants_room.store(static_cast<std::uint32_t>(in_.number(4)));
      case 2:
        return control.head.store(in_.number((choice & 8) != 0 ? 8 : 3));
      default:
        return control.is_asleep.store(static_cast<std::uint32_t>(in_.number(4)));
    }
  }
  void farewell() {
    const RecordKind kind = this->kind();
    const std::uint32_t channel = number();
    const Input bytes = in_.take(in_.byte());
    const std::uint64_t word =
        pack({.bytes = static_cast<std::uint32_t>(kWordBytes + bytes.size()), .kind = kind, .channel = channel});
    auto& packet = farewells_.emplace_back(kWordBytes + bytes.size());
    std::memcpy(packet.data(), &word, kWordBytes);
    std::copy(bytes.begin(), bytes.end(), packet.begin() + kWordBytes);
    peer_.send_packet(packet, false);
    count_units("records", 1);
  }
  // Our own records are what they should be, whatever the peer has done.
  void read_ours() {
    while (const std::uint64_t first = reader_->peek()) {
      const RecordWord word = unpack(first);
      expect(word.bytes >= kWordBytes && word.bytes <= kMostRecord, "our records have a length");
      expect(word.kind >= RecordKind::kConnect && word.kind <= RecordKind::kMore, "our records have a kind");
      reader_->consume(word.bytes);
    }
    reader_->publish();
  }

  // Our part.
  OurEnd& end_of(unsigned choice) {
    OurEnd& end = ends_[choice % kChannels];
    end.habit = static_cast<Habit>(choice >> 2 & 7);
    return end;
  }
  void turn() {
    while (house->reactor.dispatch(true) > 0) {
    }
    house->carrier.turn(base::Time{});
    for (OurEnd& end : ends_) {
      if (end.is_over()) end.drop();
    }
  }
  void connect(OurEnd& end) {
    if (!end.is_free() || house->carrier.parts().links.find(kPeer) == nullptr) return;
    end.begin();
    auto begun = house->carrier.try_connect({.ipv4 = 0x7f000001}, {.service_id = house->service + 1}, end);
    if (begun.ok()) end.channel = std::move(begun).value();
  }
  void answer(OurEnd& end) {
    auto& requests = house->desk.requests;
    if (requests.empty()) return;
    const auto request = std::move(requests.back());
    requests.pop_back();
    if (end.habit == Habit::kDiscard) return;  // unanswered
    if (end.habit == Habit::kTerminate) return request->reject(std::span(zeros_).first(20));
    if (!end.is_free()) return request->reject({});
    end.begin();
    end.channel = request->accept({.service_id = house->service}, end);
  }
  void act(OurEnd& end) {
    if (!end.channel) return;
    const unsigned choice = in_.byte();
    switch (choice % 6) {
      case 0:
        return end.send(Opcode::kSend, static_cast<std::uint32_t>(in_.number(2)));
      case 1:
        return end.send(Opcode::kReadRequest, 100);
      case 2:
        return end.channel->flush();
      case 3:
        end.channel->terminate({.layer = 1, .type = 2, .code = 3});
        return end.drop();
      case 4:
        end.channel->close(CloseMode::kOrderly);
        return end.drop();
      default:
        end.send_short(std::span(zeros_).first(choice));
    }
  }

  // The peer goes, and what we have of it goes with it.
  void end() {
    read_ours();
    peer_.hang_up();
    for (int i = 0; i < 3; ++i) turn();
    house->desk.requests.clear();
    turn();
    expect(house->carrier.parts().links.find(kPeer) == nullptr && house->carrier.parts().links.is_empty(),
           "the link ends with its peer");
    for (OurEnd& end : ends_) expect(end.is_over() || end.is_free(), "each channel hears of it");
  }

  static constexpr std::array kOpcodes{Opcode::kWrite,     Opcode::kReadRequest,    Opcode::kReadResponse,
                                       Opcode::kSend,      Opcode::kSendInvalidate, Opcode::kSendSolicited,
                                       Opcode::kImmediate, Opcode::kAtomicRequest,  Opcode::kAtomicResponse,
                                       Opcode::kNote,      Opcode::kSendPlaced};
  static inline std::array<std::byte, std::size_t{24} << 10> zeros_{};
  static inline std::array<std::byte, std::size_t{20} << 10> scratch_{};

  Reader in_;
  MemoryLink peer_;
  std::deque<std::vector<std::byte>> farewells_;
  std::array<OurEnd, kChannels> ends_;
  std::optional<RingWriter> writer_;
  std::optional<RingReader> reader_;
};

}  // namespace

void run_input(Input input) {
  if (!house) house = std::make_unique<House>();
  Script(input).play();
}

void finish() {
  house.reset();
}

}  // namespace softdat::fuzz
