// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/tcp/golden_stage.h"

#include "simnic/datagram.h"
#include "tests/transport/conformance/tcp_world.h"

namespace softdat::transport::tcp {
namespace {

// So small that a message of three segments does not make a large file.
constexpr std::size_t kPayload = 64;

Offer offer_of(std::uint32_t ipv4, std::uint16_t port, std::uint32_t ird, const char* data) {
  return {.address = {.ipv4 = ipv4, .port = port},
          .features = kNotes | kImmediates | kAtomics,
          .ird = ird,
          .ord = ird + 1,
          .private_data = hex(data)};
}

// Reads are not spoken of there: their numbers are those of the queue pairs.
Offer offer_of_datagrams(std::uint32_t ipv4, std::uint32_t queue_pair, const char* data) {
  Offer offer{.address = {.ipv4 = ipv4, .port = 0}, .features = kDatagrams, .private_data = hex(data)};
  simnic::set_queue_pair_number(offer, queue_pair);
  return offer;
}

Bytes datagram(const simnic::DatagramHead& head, const char* data) {
  const auto encoded = simnic::encode_datagram_head(head);
  Bytes bytes(encoded.begin(), encoded.end());
  const Bytes payload = hex(data);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

}  // namespace

std::span<const GoldenStage::Scene> GoldenStage::scenes() {
  static constexpr Scene kScenes[] = {
      {"conversation", &GoldenStage::converse_without_crc},
      {"conversation_crc", &GoldenStage::converse_with_crc},
      {"handshakes", &GoldenStage::meet_in_other_ways},
      {"refusals", &GoldenStage::be_refused},
      {"datagrams", &GoldenStage::exchange_datagrams},
      {"foreign_initiators", &GoldenStage::serve_foreign_initiators},
      {"foreign_responders", &GoldenStage::call_foreign_responders},
      {"terminated_breaches", &GoldenStage::terminate_breaches},
      {"terminated_requests", &GoldenStage::terminate_requests},
  };
  return kScenes;
}

// Who has gone before a carrier goes is not waited for.
void GoldenStage::leave() {
  active_.reset();
  passive_.reset();
  port_.reset();
  relay_.reset();
  raw_ = {};
  listening_ = {};
}

void GoldenStage::open_pair(const TcpOptions& asked) {
  leave();
  there_.reset();
  TcpOptions options = asked;
  options.max_payload = kPayload;
  start(options);
  options.address = {.ipv4 = own_loopback_address(2)};
  there_reactor_ = Reactor::create();
  there_ = std::make_unique<TcpCarrier>(*there_reactor_, options);
  port_ = std::make_unique<PeerPort>(*there_, kPort, 1);
  ASSERT_TRUE(port_->port);
}

bool GoldenStage::reach_own(const std::function<bool()>& is_done) {
  return reach([&] {
    there_->turn(now_);
    relay_->pump();
    return is_done();
  });
}

void GoldenStage::ask_own() {
  ask_with(offer_of(0x0a000001, 5, 4, "'request'"), offer_of(0x0a000002, 6, 7, "'reply'"));
}

void GoldenStage::ask_with(const Offer& request, const Offer& reply) {
  port_->requests.clear();
  relay_.reset();
  relay_ = std::make_unique<Relay>(own_loopback_address(3), own_loopback_address(2), kPort, capture_);
  active_ = std::make_unique<Peer>();
  passive_ = std::make_unique<Peer>();
  active_->offer = request;
  passive_->offer = reply;
  active_->connect(*carrier_, {.ipv4 = own_loopback_address(3)}, kPort);
  ASSERT_TRUE(reach_own([&] { return port_->requests.size() == 1; }));
}

void GoldenStage::connect_own() {
  ask_own();
  accept_own();
}

void GoldenStage::accept_own() {
  passive_->offer.service_id = kPort;
  ASSERT_TRUE(passive_->accept(*port_->requests[0]));
  // The passive side may wait for the first word.
  ASSERT_TRUE(reach_own([&] { return active_->is_established; }));
}

void GoldenStage::say(Peer& from, Peer& to, const Message& message, Bytes bytes) {
  const std::size_t before = to.messages.size();
  from.queue(message, std::move(bytes));
  ASSERT_TRUE(reach_own([&] { return to.messages.size() == before + 1; })) << static_cast<int>(message.opcode);
}

void GoldenStage::part_own() {
  active_->channel->close(CloseMode::kOrderly);
  ASSERT_TRUE(reach_own([&] { return !passive_->closings.empty(); }));
  EXPECT_EQ(passive_->closings, std::vector{CloseReason::kBye});
}

void GoldenStage::converse(bool has_crc) {
  TcpOptions options;
  options.crc = has_crc;
  open_pair(options);
  connect_own();
  Peer &active = *active_, &passive = *passive_;
  say(active, passive, {.opcode = Opcode::kSend, .length = 6}, hex("'a send'"));
  say(active, passive, {.opcode = Opcode::kSend});
  say(active, passive, {.opcode = Opcode::kSendSolicited, .length = 5}, hex("'event'"));
  say(active, passive, {.opcode = Opcode::kSendInvalidate, .length = 3, .stag = 0x77000001}, hex("'key'"));
  say(active, passive, {.opcode = Opcode::kSendSolicitedInvalidate, .length = 4, .stag = 0x78000002}, hex("'both'"));
  say(active, passive, {.opcode = Opcode::kSend, .length = 100}, conformance::make_pattern(100));
  const Message write{.opcode = Opcode::kWrite, .length = 150, .stag = 0x12340001, .offset = 0x7f0000001000};
  say(active, passive, write, conformance::make_pattern(150));
  say(active, passive,
      {.opcode = Opcode::kReadRequest,
       .length = 100,
       .stag = 0x21000001,
       .offset = 0x7f0000002000,
       .source_stag = 0x22000002,
       .source_offset = 0x7f0000003000});
  say(passive, active, {.opcode = Opcode::kReadResponse, .length = 100, .stag = 0x21000001, .offset = 0x7f0000002000},
      conformance::make_pattern(100));
  say(active, passive, write, conformance::make_pattern(150, 2));
  say(active, passive, {.opcode = Opcode::kImmediate, .operand = 0x11223344});
  say(active, passive, {.opcode = Opcode::kImmediateSolicited, .operand = 0x55667788});
  exchange_atomics();
  exchange_notes();
  part_own();
}

void GoldenStage::exchange_atomics() {
  const Message add{.opcode = Opcode::kAtomicRequest,
                    .source_stag = 0x31000001,
                    .source_offset = 0x7f0000004000,
                    .request_id = 8,
                    .atomic_code = kFetchAddCode,
                    .operand = 20};
  say(*active_, *passive_, add);
  say(*passive_, *active_, {.opcode = Opcode::kAtomicResponse, .request_id = 8, .operand = 1});
  Message swap = add;
  swap.request_id = 9;
  swap.atomic_code = kCompareSwapCode;
  swap.operand_mask = swap.compare_mask = ~std::uint64_t{0};
  swap.compare = 21;
  say(*active_, *passive_, swap);
  say(*passive_, *active_, {.opcode = Opcode::kAtomicResponse, .request_id = 9, .operand = 21});
}

void GoldenStage::exchange_notes() {
  say(*passive_, *active_, {.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = 12});
  say(*passive_, *active_, {.opcode = Opcode::kNote, .note = NoteKind::kResend, .note_value = 13});
  say(*active_, *passive_, {.opcode = Opcode::kNote, .note = NoteKind::kResent, .note_value = 13});
}

void GoldenStage::meet_in_other_ways() {
  TcpOptions old;
  old.mpa_revision = 1;
  TcpOptions plain;
  plain.is_peer_to_peer = false;
  TcpOptions old_with_crc = old;
  old_with_crc.crc = true;
  for (const TcpOptions& options : {old, old_with_crc, plain}) {
    open_pair(options);
    connect_own();
    say(*active_, *passive_, {.opcode = Opcode::kSend, .length = 5}, hex("'hello'"));
    say(*passive_, *active_, {.opcode = Opcode::kSend, .length = 3}, hex("'you'"));
    part_own();
  }
}

void GoldenStage::be_refused() {
  open_pair({});
  ask_own();
  port_->requests[0]->reject(hex("'no, thanks'"));
  ASSERT_TRUE(reach_own([&] { return !active_->refusals.empty(); }));
  EXPECT_EQ(active_->refusals, std::vector{Refusal::kByConsumer});
  ask_own();
  port_->requests.clear();
  ASSERT_TRUE(reach_own([&] { return !active_->refusals.empty(); }));
  EXPECT_EQ(active_->refusals, std::vector{Refusal::kBusy});
}

// Both ways, with the addresses of either adapter, and one whose receive completes as a solicited one. The longest is
// cut into several FPDUs, as any Send.
void GoldenStage::exchange_datagrams() {
  open_pair({});
  ask_with(offer_of_datagrams(0x0a000001, 0x123456, "'who is there?'"), offer_of_datagrams(0x0a000002, 7, "'I am'"));
  accept_own();
  const auto send = [&](Peer& from, Peer& to, const simnic::DatagramHead& head, const char* data) {
    const Bytes bytes = datagram(head, data);
    say(from, to, {.opcode = Opcode::kSend, .length = static_cast<std::uint32_t>(bytes.size())}, bytes);
  };
  send(*active_, *passive_, {.to = 7, .from = 0x123456, .from_ipv4 = 0x0a000001, .length = 5}, "'hello'");
  send(*passive_, *active_, {.to = 0x123456, .from = 7, .from_ipv4 = 0x0a000002, .length = 3, .is_solicited = true},
       "'you'");
  send(*active_, *passive_, {.to = 7, .from = 0x123456, .from_ipv4 = 0, .length = 0}, "");
  send(*active_, *passive_, {.to = 8, .from = 0x123456, .from_ipv4 = 0x0a000001, .length = 60},
       "'a datagram of several FPDUs goes to another queue pair there'");
  part_own();
}

}  // namespace softdat::transport::tcp
