// SPDX-License-Identifier: BSD-2-Clause
// The captures in golden/: each is what a scene of GoldenStage says, and stands beside what tshark reads in it
// (docs/WIRE.md, "Captures"). golden/renew writes both anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "tests/transport/tcp/golden_stage.h"
#include "tests/transport/tcp/tshark.h"
#include "transport/tcp/fault.h"
#include "transport/tcp/fpdu.h"

namespace softdat::transport::tcp {
namespace {

std::string golden(const std::string& name, const char* ending) {
  return (std::filesystem::path(SOFTDAT_GOLDEN_DIRECTORY) / (name + ending)).string();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const Capture::Frame& frame) {
  return std::to_string(frame.connection) + (frame.is_from_client ? " > " : " < ") + to_hex(frame.bytes);
}

std::vector<Capture::Frame> frames_of_all() {
  std::vector<Capture::Frame> all;
  for (const auto& scene : GoldenStage::scenes()) {
    const auto frames = Capture::read(golden(scene.name, ".pcap"));
    EXPECT_FALSE(frames.empty()) << scene.name;
    all.insert(all.end(), frames.begin(), frames.end());
  }
  return all;
}

bool is_fpdu(const Capture::Frame& frame) {
  return frame.bytes[0] != std::byte{'M'} || frame.bytes[1] != std::byte{'P'};
}

int opcode_of(const Capture::Frame& frame) {
  return std::to_integer<int>(frame.bytes[3]) & 0xf;
}

class GoldenTest : public GoldenStage, public testing::WithParamInterface<GoldenStage::Scene> {
 protected:
  void renew() {
    const std::string pcap = golden(GetParam().name, ".pcap");
    capture_.write(pcap);
    std::ofstream out(golden(GetParam().name, ".txt"));
    for (const std::string& line : dissected_frames(pcap)) out << line << '\n';
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, GoldenTest,
                         testing::ValuesIn(GoldenStage::scenes().begin(), GoldenStage::scenes().end()),
                         [](const auto& scene) { return std::string(scene.param.name); });

TEST_P(GoldenTest, TodaysCodeStillSaysTheSame) {
  (this->*GetParam().play)();
  if (HasFatalFailure()) return;
  if (std::getenv("RENEW_GOLDEN") != nullptr) return renew();
  const auto expected = Capture::read(golden(GetParam().name, ".pcap"));
  const auto& said = capture_.frames();
  ASSERT_FALSE(expected.empty());
  for (std::size_t i = 0; i < std::min(said.size(), expected.size()); ++i) {
    ASSERT_EQ(text_of(said[i]), text_of(expected[i])) << "frame " << i;
  }
  EXPECT_EQ(said.size(), expected.size());
}

TEST_P(GoldenTest, TsharkReadsWhatIsWrittenBesideIt) {
  if (!has_tshark()) GTEST_SKIP() << "tshark is not installed";
  const auto seen = dissected_frames(golden(GetParam().name, ".pcap"));
  const auto expected = lines_of(golden(GetParam().name, ".txt"));
  ASSERT_FALSE(expected.empty());
  for (std::size_t i = 0; i < std::min(seen.size(), expected.size()); ++i) EXPECT_EQ(seen[i], expected[i]);
  EXPECT_EQ(seen.size(), expected.size());
}

TEST_P(GoldenTest, TsharkFindsEveryFrameAndEveryCrcGood) {
  if (!has_tshark()) GTEST_SKIP() << "tshark is not installed";
  const auto expected = lines_of(golden(GetParam().name, ".txt"));
  EXPECT_EQ(expected.size(), Capture::read(golden(GetParam().name, ".pcap")).size());
  const auto has_crc = [](const std::string& line) { return line.find(" crc_check=") != std::string::npos; };
  // One of them is bad on purpose, which Terminate 2 0 02 answers.
  const std::size_t bad = GetParam().name == std::string("terminated_breaches") ? 1 : 0;
  const auto checked = static_cast<std::size_t>(std::count_if(expected.begin(), expected.end(), has_crc));
  const std::string text = dissect(golden(GetParam().name, ".pcap"), "-V -O iwarp_mpa,iwarp_ddp_rdmap");
  EXPECT_EQ(count(text, "Bad CRC32"), bad);
  EXPECT_EQ(count(text, "Good CRC32"), checked - bad);
}

TEST(GoldenCaptures, HoldEveryMessage) {
  std::set<int> opcodes;
  for (const auto& frame : frames_of_all()) {
    if (is_fpdu(frame)) opcodes.insert(opcode_of(frame));
  }
  for (int opcode = 0; opcode <= 0xb; ++opcode) EXPECT_TRUE(opcodes.contains(opcode)) << opcode;
}

TEST(GoldenCaptures, HoldEveryTerminateThatDocsSay) {
  std::set<std::string> codes;
  for (const auto& frame : frames_of_all()) {
    if (is_fpdu(frame) && opcode_of(frame) == 7) codes.insert(to_hex(std::span(frame.bytes).subspan(20, 2)));
  }
  for (const char* code : {"00 00", "01 00", "01 01", "01 02", "01 03", "01 04", "01 09", "02 05", "02 06",
                           "02 07", "02 ff", "11 00", "11 01", "11 02", "11 03", "11 04", "12 01", "12 02",
                           "12 03", "12 04", "12 05", "12 06", "20 02", "20 03", "20 07"}) {
    EXPECT_TRUE(codes.contains(code)) << code;
  }
}

// tshark 4.0 calls opcodes 8 and 9 unknown: RFC 7306 section 7, byte by byte.
TEST(GoldenCaptures, HoldImmediateDataAsRfc7306WritesIt) {
  std::vector<std::string> found;
  for (const auto& frame : Capture::read(golden("conversation", ".pcap"))) {
    const bool is_immediate = is_fpdu(frame) && (opcode_of(frame) == 8 || opcode_of(frame) == 9);
    if (is_immediate) found.push_back(to_hex(frame.bytes));
  }
  const std::vector<std::string> expected = {
      to_hex(hex("001a 4148 00000000 00000000 00000007 00000000 00000000 11223344 00000000")),
      to_hex(hex("001a 4149 00000000 00000000 00000008 00000000 00000000 55667788 00000000"))};
  EXPECT_EQ(found, expected);
}

// A Send whose payload begins with both numbers, the sender's address and the length (docs/WIRE.md, "Datagrams").
TEST(GoldenCaptures, HoldDatagramsAsDocsSay) {
  std::vector<std::string> sends;
  for (const auto& frame : Capture::read(golden("datagrams", ".pcap"))) {
    if (is_fpdu(frame) && opcode_of(frame) == 3) sends.push_back(to_hex(frame.bytes));
  }
  ASSERT_GE(sends.size(), 3u);
  EXPECT_EQ(sends[0], to_hex(hex("0027 4143 00000000 00000000 00000001 00000000"
                                 "00000007 00123456 0a000001 00000005 'hello' 000000 00000000")));
  EXPECT_EQ(sends[1], to_hex(hex("0025 4143 00000000 00000000 00000001 00000000"
                                 "00123456 00000007 0a000002 80000003 'you' 00 00000000")));
  EXPECT_EQ(sends[2], to_hex(hex("0022 4143 00000000 00000000 00000002 00000000"
                                 "00000007 00123456 00000000 00000000 00000000")));
}

// Feature 8 alone, and the halves of the queue pair's number in place of the reads.
TEST(GoldenCaptures, OfferDatagramsAsDocsSay) {
  const auto frames = Capture::read(golden("datagrams", ".pcap"));
  ASSERT_GT(frames.size(), 2u);
  for (const auto& [frame, data, halves] : {std::tuple{0, 13, "04 56 01 23"}, std::tuple{1, 4, "00 07 00 00"}}) {
    const auto block =
        std::span(frames[static_cast<std::size_t>(frame)].bytes).subspan(24u + static_cast<unsigned>(data));
    EXPECT_EQ(to_hex(block.subspan(0, 4)), "53 44 41 54");
    EXPECT_EQ(to_hex(block.subspan(8, 4)), "00 00 00 08");
    EXPECT_EQ(to_hex(block.subspan(26, 4)), halves);
  }
}

// tshark 4.0 takes the header that a remote protection error quotes for one of 14 bytes, whichever it is.
TEST(GoldenCaptures, QuoteTheWholeReadRequestThatTheyRefuse) {
  std::string found;
  for (const auto& frame : Capture::read(golden("terminated_requests", ".pcap"))) {
    const std::string text = to_hex(frame.bytes);
    if (is_fpdu(frame) && text.substr(60, 5) == "01 00") found = text;
  }
  EXPECT_EQ(found, to_hex(hex("0046 4147 00000000 00000002 00000001 00000000 0100e000 002e"
                              "4141 00000000 00000001 00000001 00000000"
                              "11000001 00007f0000002000 00000040 22000002 00007f0000003000 00000000")));
}

// tshark 4.0 shows the S bit as reserved and the four bytes of RFC 6581 as private data.
TEST(GoldenCaptures, HoldTheEnhancedFourBytesWhereRfc6581PutsThem) {
  const auto frames = Capture::read(golden("foreign_responders", ".pcap"));
  ASSERT_GT(frames.size(), 2u);
  // A, 4 reads in; a Write first, 5 reads out. The reply takes the Write, which then comes.
  EXPECT_EQ(to_hex(std::span(frames[0].bytes).subspan(16, 8)).substr(0, 5), "10 02");
  EXPECT_EQ(to_hex(std::span(frames[0].bytes).subspan(20, 4)), "80 04 80 05");
  EXPECT_EQ(to_hex(std::span(frames[1].bytes).subspan(20, 4)), "80 04 80 04");
  EXPECT_EQ(to_hex(frames[2].bytes), to_hex(hex("000e c140 00000000 0000000000000000 00000000")));
}

}  // namespace
}  // namespace softdat::transport::tcp
