// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/flush.h"

namespace softdat::base {
namespace {

using Kind = Timeline::Kind;

class Timelines : public testing::Test {
 protected:
  static constexpr Timeline::Endpoint kEndpoint = 7;

  void SetUp() override {
    char name[] = "/tmp/softdat-timeline-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    own_.port = 1;
    peer_.port = 2;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void connect(Timeline& initiator, Timeline& responder) const {
    initiator.endpoints().bind(kEndpoint, own_);
    responder.endpoints().bind(kEndpoint, peer_);
    initiator.endpoints().established(own_, peer_, true);
    responder.endpoints().established(peer_, own_, false);
  }

  std::string bytes(Timeline& timeline) const {
    flush(timeline.file());
    const std::string name = "/00000" + std::to_string(timeline.file().number()) + ".perfetto-trace";
    std::ifstream file(directory_ + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Of the events that have one, in the order of the file.
  std::vector<std::uint64_t> flows(Timeline& timeline) const {
    std::string key;
    trace::put_varint(key, std::uint64_t{trace::field::kFlow} << 3 | 1);
    const std::string all = bytes(timeline);
    std::vector<std::uint64_t> found;
    for (std::size_t at = all.find(key); at != std::string::npos; at = all.find(key, at + key.size() + 8)) {
      std::uint64_t flow = 0;
      std::memcpy(&flow, all.data() + at + key.size(), sizeof flow);
      found.push_back(flow);
    }
    return found;
  }

  std::string directory_;
  IpAddress own_{}, peer_{};
};

TEST_F(Timelines, ARefusedWriteWithImmediateDataTakesBackBothNumbers) {
  Timeline initiator({.directory = directory_}), responder({.directory = directory_});
  connect(initiator, responder);
  initiator.post(kEndpoint, {.kind = Kind::kSend, .writes_first = true});
  initiator.take_back(kEndpoint, false);
  for (const Kind kind : {Kind::kWrite, Kind::kSend}) {
    initiator.post(kEndpoint, {.kind = kind});
    responder.endpoints().place(peer_, kind, 8, Timeline::now());
  }
  const auto posted = flows(initiator), placed = flows(responder);
  ASSERT_EQ(posted.size(), 3u);
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(posted[1], placed[0]);
  EXPECT_EQ(posted[2], placed[1]);
}

TEST_F(Timelines, TheWriteBeforeImmediateDataIsNoOtherWrite) {
  Timeline initiator({.directory = directory_}), responder({.directory = directory_});
  connect(initiator, responder);
  initiator.post(kEndpoint, {.kind = Kind::kSend, .writes_first = true});
  initiator.post(kEndpoint, {.kind = Kind::kWrite});
  for (const Kind kind : {Kind::kWrite, Kind::kSend, Kind::kWrite}) initiator.endpoints().wire(own_, kind);
  const auto all = flows(initiator);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_NE(all[0], all[1]);
  EXPECT_EQ(all[2], all[0]);
  EXPECT_EQ(all[3], all[1]);
}

TEST_F(Timelines, NoEndpointIsMadeOfAHandleThatIsNone) {
  Timeline timeline({.directory = directory_});
  timeline.post(kEndpoint, {});
  timeline.take_back(kEndpoint, true);
  timeline.endpoints().complete(kEndpoint, {});
  timeline.dequeue(kEndpoint, 0);
  EXPECT_TRUE(flows(timeline).empty());
  EXPECT_EQ(bytes(timeline).find("endpoint 1"), std::string::npos);
}

TEST_F(Timelines, AHandleThatIsUsedAgainIsAnotherEndpoint) {
  Timeline timeline({.directory = directory_});
  timeline.endpoints().bind(kEndpoint, own_);
  timeline.endpoints().bind(kEndpoint, peer_);
  const std::string all = bytes(timeline);
  EXPECT_NE(all.find("endpoint 1"), std::string::npos);
  EXPECT_NE(all.find("endpoint 2"), std::string::npos);
}

}  // namespace
}  // namespace softdat::base
