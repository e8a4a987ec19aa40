// SPDX-License-Identifier: BSD-2-Clause
// What Wireshark's own dissectors make of our wire.
#include <cstdio>
#include <map>
#include <sstream>

#include "tests/transport/conformance/tcp_world.h"
#include "tests/transport/tcp/capture.h"
#include "tests/transport/tcp/tshark.h"

namespace softdat::transport::tcp {
namespace {

// Two carriers with the relay between them.
class WireTest : public RawTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (!has_tshark()) GTEST_SKIP() << "tshark is not installed";
    TcpOptions options;
    options.crc = GetParam();
    start(options);
    options.address = {.ipv4 = own_loopback_address(2)};
    there_ = std::make_unique<TcpCarrier>(*there_reactor_, options);
    relay_ = std::make_unique<Relay>(own_loopback_address(3), own_loopback_address(2), kPort, capture_);
    path_ = testing::TempDir() + "softdat-wire-" + std::to_string(own_loopback_address(0)) + ".pcap";
  }
  void TearDown() override { std::remove(path_.c_str()); }

  bool reach_both(const std::function<bool()>& is_done) {
    return reach([&] {
      there_->turn(now_);
      relay_->pump();
      return is_done();
    });
  }
  void converse();
  std::string atomic_fields(std::initializer_list<std::string> names);
  std::string dissect(const std::string& arguments) { return tcp::dissect(path_, arguments); }

  const std::unique_ptr<Reactor> there_reactor_ = Reactor::create();
  std::unique_ptr<TcpCarrier> there_;
  Capture capture_;
  std::unique_ptr<Relay> relay_;
  std::string path_;
};
std::string name_of(const testing::TestParamInfo<bool>& crc) {
  return crc.param ? "On" : "Off";
}
INSTANTIATE_TEST_SUITE_P(Crc, WireTest, testing::Bool(), name_of);

// One of everything, and the end of it.
void WireTest::converse() {
  PeerPort port(*there_, kPort, 1);
  Peer active, passive;
  active.offer.private_data = hex("'request'");
  passive.offer.private_data = hex("'reply'");
  active.connect(*carrier_, {.ipv4 = own_loopback_address(3)}, kPort);
  ASSERT_TRUE(reach_both([&] { return port.requests.size() == 1; }));
  ASSERT_TRUE(passive.accept(*port.requests[0]));
  ASSERT_TRUE(reach_both([&] { return active.is_established && passive.is_established; }));
  active.queue_send("a send");
  active.queue({.opcode = Opcode::kSendSolicited, .length = 5}, hex("'event'"));
  active.queue({.opcode = Opcode::kSendInvalidate, .length = 1, .stag = 77}, hex("00"));
  active.queue({.opcode = Opcode::kSendSolicitedInvalidate, .length = 1, .stag = 78}, hex("00"));
  active.queue({.opcode = Opcode::kWrite, .length = 150000, .stag = 0x1234, .offset = 0x7f0000001000},
               conformance::make_pattern(150000));
  active.queue({.opcode = Opcode::kReadRequest, .length = 64, .stag = 1, .offset = 2, .source_stag = 3});
  active.queue({.opcode = Opcode::kAtomicRequest,
                .source_stag = 3,
                .source_offset = 0x7f0000002000,
                .request_id = 9,
                .atomic_code = 2,
                .operand = 21,
                .operand_mask = 0x22,
                .compare = 23,
                .compare_mask = 0x24});
  active.queue({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = 5});
  ASSERT_TRUE(reach_both([&] { return passive.messages.size() == 8; }));
  passive.queue({.opcode = Opcode::kReadResponse, .length = 64, .stag = 1, .offset = 2}, Bytes(64));
  passive.queue({.opcode = Opcode::kAtomicResponse, .request_id = 9, .operand = 10});
  ASSERT_TRUE(reach_both([&] { return active.messages.size() == 2; }));
  passive.channel->terminate({1, 1, 0});
  ASSERT_TRUE(reach_both([&] { return !active.closings.empty(); }));
  capture_.write(path_);
}

// The values of the one frame that has them.
std::string WireTest::atomic_fields(std::initializer_list<std::string> names) {
  std::string fields;
  for (const std::string& name : names) fields += " -e iwarp_rdma.atomic." + name;
  const std::string first = "iwarp_rdma.atomic." + *names.begin();
  std::string values = dissect("-Y " + first + " -T fields -E separator=' '" + fields);
  while (!values.empty() && values.back() == '\n') values.pop_back();
  return values;
}

TEST_P(WireTest, IsReadToTheLastByte) {
  converse();
  const std::string frames = dissect("-V -O iwarp_mpa,iwarp_ddp_rdmap");
  EXPECT_EQ(count(frames, "Malformed"), 0u) << frames;
  EXPECT_EQ(count(frames, "Request frame"), 1u);
  EXPECT_EQ(count(frames, "Reply frame"), 1u);
  // RTR, 4 sends, 3 parts of the write, read request, atomic, note; response, atomic, terminate.
  const std::size_t fpdus = 1 + 4 + 3 + 3 + 3;
  EXPECT_EQ(count(frames, "ULPDU length:"), fpdus);
  EXPECT_EQ(count(frames, "Good CRC32"), GetParam() ? fpdus : 0u);
  EXPECT_EQ(count(frames, "Bad CRC"), 0u);
}

TEST_P(WireTest, EveryMessageIsRecognised) {
  converse();
  std::map<std::string, int> seen;
  std::istringstream words(dissect("-T fields -E aggregator=' ' -e iwarp_rdma.opcode"));
  for (std::string word; words >> word;) ++seen[word];
  const std::map<std::string, int> expected = {{"0x00", 5}, {"0x01", 1}, {"0x02", 1}, {"0x03", 1}, {"0x04", 1},
                                               {"0x05", 1}, {"0x06", 1}, {"0x07", 1}, {"0x0a", 1}, {"0x0b", 1}};
  EXPECT_EQ(seen, expected);
}

TEST_P(WireTest, FieldsStandWhereTheyAreLookedFor) {
  converse();
  const std::string write = dissect("-Y 'iwarp_ddp.stag==0x1234' -T fields -e iwarp_ddp.tagged_offset");
  EXPECT_NE(write.find("0x00007f0000001000"), std::string::npos) << write;
  const std::string read = dissect("-Y 'iwarp_rdma.opcode==1' -T fields -e iwarp_rdma.rdmardsz -e iwarp_rdma.srcstag");
  EXPECT_NE(read.find("64"), std::string::npos) << read;
  EXPECT_NE(read.find("0x00000003"), std::string::npos) << read;
  EXPECT_EQ(atomic_fields({"opcode", "request_identifier", "remote_stag", "remote_tagged_offset", "swap_data",
                           "swap_mask", "compare_data", "compare_mask"}),
            "2 9 3 139637976735744 21 0x0000000000000022 23 0x0000000000000024");
  EXPECT_EQ(atomic_fields({"original_request_identifier", "original_remote_data_value"}), "9 10");
  const std::string terminate = dissect("-Y 'iwarp_rdma.opcode==7' -V -O iwarp_ddp_rdmap");
  EXPECT_NE(terminate.find("Layer: DDP"), std::string::npos) << terminate;
  EXPECT_NE(terminate.find("Tagged Buffer Error"), std::string::npos);
  EXPECT_NE(terminate.find("Invalid STag"), std::string::npos);
  const std::string invalidate = dissect("-Y 'iwarp_rdma.opcode==4' -T fields -e iwarp_rdma.inval_stag");
  EXPECT_NE(invalidate.find("77"), std::string::npos) << invalidate;
}

}  // namespace
}  // namespace softdat::transport::tcp
