// SPDX-License-Identifier: BSD-2-Clause
// The scenes with a plain socket on the other side.
#include "tests/transport/conformance/tcp_world.h"
#include "tests/transport/tcp/golden_stage.h"
#include "transport/tcp/mpa_frame.h"
#include "transport/tcp/private_block.h"

namespace softdat::transport::tcp {
namespace {

// Of a foreign initiator's requests.
const Bytes kHello = make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'hello'"));
const Bytes kReadyWrite = make_fpdu({.opcode = Opcode::kWrite, .stag = 1});
const Bytes kReadyRead = make_fpdu({.opcode = Opcode::kReadRequest, .queue = 1, .sequence = 1},
                                   hex("00000011 0000000000000022 00000000 00000001 0000000000000000"));
const Bytes kWrite = make_fpdu({.opcode = Opcode::kWrite, .stag = 0x11223344, .offset = 0x7f0000001000}, hex("'data'"));
const Bytes kRead = make_fpdu({.opcode = Opcode::kReadRequest, .queue = 1, .sequence = 1},
                              hex("11000001 00007f0000002000 00000040 22000002 00007f0000003000"));
const Bytes kAtomic = make_fpdu({.opcode = Opcode::kAtomicRequest, .queue = 1, .sequence = 1},
                                hex("00000000 00000007 22000002 00007f0000003001 0000000000000001") + Bytes(24));
const Bytes kInvalidate =
    make_fpdu({.opcode = Opcode::kSendInvalidate, .stag = 0x55667788, .sequence = 1}, hex("'void it'"));

}  // namespace

void GoldenStage::open_port() {
  is_raw_client_ = true;
  leave();
  start();
  port_ = std::make_unique<PeerPort>(*carrier_, kPort, 4);
  ASSERT_TRUE(port_->port);
}

void GoldenStage::call_in() {
  port_->requests.clear();
  capture_.begin_connection();
  raw_ = RawPeer(address_, kPort);
  passive_ = std::make_unique<Peer>();
  passive_->offer.ird = 3;
  passive_->offer.ord = 2;
}

void GoldenStage::says(const Bytes& bytes) {
  raw_.send(bytes);
  capture_.add(is_raw_client_, bytes);
}

void GoldenStage::hears(std::size_t frames) {
  const std::size_t wanted = capture_.frames().size() + frames;
  const bool has_come = reach(
      [&] {
        raw_.pump();
        capture_.add(!is_raw_client_, raw_.take(raw_.received().size()));
        return capture_.frames().size() >= wanted;
      },
      &raw_);
  ASSERT_TRUE(has_come) << "after frame " << capture_.frames().size();
}

void GoldenStage::begin_foreign(const Bytes& request, std::size_t reply_frames) {
  call_in();
  says(request);
  ASSERT_TRUE(reach([&] { return port_->requests.size() == 1; }));
  ASSERT_TRUE(passive_->accept(*port_->requests[0]));
  hears(reply_frames);
}

// A first FPDU of ours is held back for a while, which passes here.
bool GoldenStage::outlast_hold(const Peer& peer) {
  return reach([&] {
    if (!peer.is_established) pass(std::chrono::milliseconds(1));
    return peer.is_established;
  });
}

void GoldenStage::establish_foreign(const Bytes& request) {
  begin_foreign(request);
  ASSERT_TRUE(outlast_hold(*passive_));
}

// A Send each way.
void GoldenStage::greet() {
  says(kHello);
  ASSERT_TRUE(reach([&] { return passive_->messages.size() == 1; }));
  passive_->queue_send("you");
  hears(1);
}

void GoldenStage::serve_foreign_initiators() {
  open_port();
  begin_foreign(mpa_request("00 01", hex("'old'")));
  greet();
  begin_foreign(mpa_request("00 02", hex("'bare'")));
  greet();
  begin_foreign(mpa_request("10 02", hex("0007 0006 'reads'")));
  greet();
  begin_foreign(mpa_request("50 02", hex("0007 0006 'crc'")));
  says(make_fpdu({.opcode = Opcode::kSend, .sequence = 1}, hex("'hello'"), true));
  passive_->queue_send("you");
  hears(1);
  begin_foreign(mpa_request("10 02", hex("8004 c004")));
  says(kReadyWrite);
  greet();
  begin_foreign(mpa_request("10 02", hex("8004 4004")));
  says(kReadyRead);
  hears(1);
  greet();
  call_in();
  says(mpa_request("10 02", hex("0007 0006")));
  ASSERT_TRUE(reach([&] { return port_->requests.size() == 1; }));
  port_->requests[0]->reject(hex("'no'"));
  hears(1);
  call_in();
  says(mpa_request("90 02", hex("0007 0006 'markers'")));
  hears(1);
  call_in();
  const Offer elsewhere{.address = {.ipv4 = 0x0a000001, .port = 5}, .service_id = 70000, .features = kNotes};
  says(mpa_request("10 02", hex("8004 8004") + encode_private_data({.offer = elsewhere})));
  hears(1);
}

void GoldenStage::call_out(const TcpOptions& options) {
  is_raw_client_ = false;
  leave();
  start(options);
  listening_ = RawPeer::listening(own_loopback_address(3), kPort);
  capture_.begin_connection();
  active_ = std::make_unique<Peer>();
  active_->offer = {.address = {.ipv4 = 0x0a000001, .port = 5},
                    .features = kNotes | kImmediates | kAtomics,
                    .ird = 4,
                    .ord = 5,
                    .private_data = hex("'request'")};
  active_->connect(*carrier_, {.ipv4 = own_loopback_address(3)}, kPort);
  ASSERT_TRUE(reach([&] { return listening_.adopt(); }));
  raw_ = std::move(listening_);
  hears(1);
}

void GoldenStage::call_foreign_responders() {
  const auto greet_back = [&] {
    ASSERT_TRUE(outlast_hold(*active_));
    active_->queue_send("hello");
    hears(1);
  };
  call_out();
  says(mpa_reply("10 02", hex("8004 8004 'write'")));
  ASSERT_TRUE(outlast_hold(*active_));
  hears(1);
  greet_back();
  call_out();
  says(mpa_reply("10 02", hex("0004 0004")));
  greet_back();
  TcpOptions old;
  old.mpa_revision = 1;
  old.crc = true;
  call_out(old);
  says(mpa_reply("40 01", {}));
  greet_back();
  call_out();
  says(mpa_reply("30 02", hex("0000 0000 'no'")));
  ASSERT_TRUE(reach([&] { return !active_->refusals.empty(); }));
  call_out();
  says(mpa_reply("10 02", hex("8004 4004")));
  hears(1);
}

void GoldenStage::breach(const char* request_flags, const Bytes& bytes) {
  establish_foreign(mpa_request(request_flags, hex("0004 0004")));
  says(bytes);
  hears(1);
  EXPECT_EQ(passive_->closings, std::vector{CloseReason::kProtocolError});
}

void GoldenStage::terminate_breaches() {
  open_port();
  breach("50 02", kHello);                                                                   // CRC
  breach("10 02", hex("000a 4143 00000000 00000000 00000000"));                              // length
  breach("10 02", hex("0012 c240 11223344 00007f0000001000 'data'") + Bytes(4));             // DDP version
  breach("10 02", hex("0017 4243 00000000 00000000 00000001 00000000 'hello'") + Bytes(7));  // the same
  breach("10 02", hex("0017 4183 00000000 00000000 00000001 00000000 'hello'") + Bytes(7));  // RDMAP version
  breach("10 02", hex("0017 414f 00000000 00000000 00000001 00000000 'hello'") + Bytes(7));  // opcode
  breach("10 02", make_fpdu({.opcode = Opcode::kWrite, .stag = 7, .offset = UINT64_MAX}, hex("'ab'")));  // wrap
  breach("10 02", make_fpdu({.opcode = Opcode::kSend, .queue = 4, .sequence = 1}, hex("'x'")));
  breach("10 02", make_fpdu({.opcode = Opcode::kSend, .sequence = 2}, hex("'x'")));
  breach("10 02", make_fpdu({.opcode = Opcode::kSend, .sequence = 1, .message_offset = 5}, hex("'x'")));
  breach("10 02", make_fpdu({.opcode = Opcode::kReadRequest, .is_last = false, .queue = 1, .sequence = 1}, Bytes(28)));
  establish_foreign(mpa_request("10 02", hex("0004 0004")));
  passive_->revoke_from = 0;
  passive_->queue_send("memory that is no longer there");
  EXPECT_EQ(passive_->last_result, SendResult::kFault);
  passive_->channel->terminate({});
  hears(1);
}

// What those above the carrier say to a request of the peer's.
void GoldenStage::refuse_request(const TerminateCode& code, const Bytes& request) {
  establish_foreign(mpa_request("10 02", hex("0004 0004")));
  const auto refuse = [this, code] { passive_->channel->terminate(code); };
  passive_->before_place = [=](const Arrival&) { refuse(); };
  passive_->after_message = refuse;
  says(request);
  hears(1);
}

void GoldenStage::terminate_requests() {
  open_port();
  for (const std::uint8_t code : {0, 1, 2}) refuse_request({1, 1, code}, kWrite);
  refuse_request({0, 1, 2}, kWrite);
  for (const std::uint8_t code : {0, 1, 2, 3, 4}) refuse_request({0, 1, code}, kRead);
  refuse_request({0, 2, 7}, kRead);
  refuse_request({1, 2, 2}, kHello);
  refuse_request({1, 2, 5}, kHello);
  refuse_request({0, 1, 9}, kInvalidate);
  refuse_request({0, 2, 6}, kAtomic);
  refuse_request({0, 2, 0xff}, kAtomic);
}

}  // namespace softdat::transport::tcp
