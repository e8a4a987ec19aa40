// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace softdat::simnic::capture {
namespace {

namespace fs = std::filesystem;
namespace pcapng = base::pcapng;

struct Captured {
  std::uint64_t time_ns = 0;
  std::uint32_t flags = 0;
  std::string text;
  bool is_own() const { return (flags & pcapng::kPromiscuous) == 0; }
  bool is_outbound() const { return (flags & pcapng::kOutbound) != 0; }
};

class StreamTest : public testing::Test {
 protected:
  StreamTest() {
    EXPECT_NE(::mkdtemp(directory_.data()), nullptr);
    recorder_ = std::make_unique<Recorder>(RecorderOptions{.directory = directory_, .ring_size = 65536});
    place_ = std::make_unique<Place>(Place{.recorder = *recorder_, .interface = recorder_->add_interface("one", "")});
  }
  ~StreamTest() override {
    recorder_.reset();
    fs::remove_all(directory_);
  }

  std::vector<Captured> captured() {
    recorder_->flush();
    std::ifstream file(directory_ + "/000000.pcapng", std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    std::vector<Captured> packets;
    while (const auto block = pcapng::take_block(rest)) {
      const auto packet = pcapng::read_packet(*block);
      if (!packet) continue;
      packets.push_back({.time_ns = packet->head.time_ns,
                         .flags = packet->head.flags,
                         .text{reinterpret_cast<const char*>(packet->data.data()), packet->data.size()}});
    }
    return packets;
  }

  // The packets of a connection that is accepted at 2000 and whose responder sends at 3000, as this side captures them.
  std::vector<Captured> answered_connection(bool is_initiator) {
    const transport::Address address{.ipv4 = 0x7f000001};
    Stream stream(*place_, address.with_port(40000), address.with_port(50000), 2, is_initiator);
    const transport::Offer request{.address = address, .service_id = 50000}, reply{.address = address};
    stream.begin(request, 1000, "shm");
    stream.accept(request, reply, 0, 2000);
    const transport::Message message{.opcode = transport::Opcode::kSend};
    stream.add(is_initiator ? Stream::Way::kIn : Stream::Way::kOut, message, {}, 3000);
    return captured();
  }

  std::string directory_ = testing::TempDir() + "softdat_stream_XXXXXX";
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<Place> place_;
};

// Wireshark decodes nothing of a connection whose first message comes before the reply.
TEST_F(StreamTest, TheResponderIsTheAuthorOfItsReplyAndOfWhatFollows) {
  const auto packets = answered_connection(false);
  ASSERT_EQ(packets.size(), 6u);
  const Captured& reply = packets[4];
  EXPECT_NE(reply.text.find("MPA ID Rep"), std::string::npos);
  EXPECT_TRUE(reply.is_own() && reply.is_outbound());
  EXPECT_EQ(reply.time_ns, 2000u);
  EXPECT_TRUE(packets[5].is_own());
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(packets[static_cast<std::size_t>(i)].is_own()) << i;
}

TEST_F(StreamTest, TheInitiatorIsTheAuthorOfTheHandshakeButForTheReply) {
  const auto packets = answered_connection(true);
  ASSERT_EQ(packets.size(), 6u);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(packets[static_cast<std::size_t>(i)].is_own()) << i;
  EXPECT_FALSE(packets[4].is_own());
  EXPECT_FALSE(packets[5].is_own());
}

// A foreign peer may send 512 bytes of private data. Beside our block there is room for 128.
TEST_F(StreamTest, PrivateDataOfAForeignPeerIsCutToWhatFits) {
  const transport::Address address{.ipv4 = 0x7f000001};
  const std::vector<std::byte> most(512, std::byte{'x'});
  const transport::Offer long_offer{.address = address, .service_id = 50000, .private_data = most};
  Stream accepted(*place_, address.with_port(40000), address.with_port(50000), 2, false);
  accepted.begin(long_offer, 1000, "tcp");
  accepted.accept(long_offer, long_offer, 0, 2000);
  Stream rejected(*place_, address.with_port(40001), address.with_port(50000), 2, false);
  rejected.begin(long_offer, 3000, "tcp");
  rejected.reject(long_offer, most);
  std::size_t frames = 0;
  for (const Captured& packet : captured()) {
    if (packet.text.find("MPA ID") == std::string::npos) continue;
    ++frames;
    EXPECT_EQ(std::ranges::count(packet.text, 'x'), 128);
  }
  EXPECT_EQ(frames, 4u);
}

}  // namespace
}  // namespace softdat::simnic::capture
