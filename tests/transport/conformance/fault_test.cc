// SPDX-License-Identifier: BSD-2-Clause
// Payload whose memory faults: where it comes from, and where it goes to.
#include <sys/mman.h>

#include <cstring>

#include "base/fault_guard.h"
#include "tests/transport/conformance/carrier_test.h"

namespace softdat::transport::conformance {
namespace {

constexpr std::size_t kPage = 4096;

// So many bytes, the last half of whose pages cannot be reached.
class HalfMemory final : public PayloadSource {
 public:
  explicit HalfMemory(std::size_t pages)
      : bytes_(pages * kPage),
        data_(static_cast<std::byte*>(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_EQ(::mprotect(edge(), bytes_ / 2, PROT_NONE), 0);
  }
  ~HalfMemory() { ::munmap(data_, bytes_); }
  HalfMemory(const HalfMemory&) = delete;
  HalfMemory& operator=(const HalfMemory&) = delete;

  std::byte* edge() const { return data_ + bytes_ / 2; }
  // From here on it is a payload.
  std::byte* start = nullptr;
  bool gather(std::uint64_t offset, std::size_t length, SliceList& out) override {
    return out.add(start + offset, length);
  }

 private:
  const std::size_t bytes_;
  std::byte* const data_;
};

class FaultTest : public CarrierTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(base::install_fault_guard());
    CarrierTest::SetUp();
    connect(active_, passive_);
  }
  void expect_to_go_on() {
    active_.queue_send("goes on");
    ASSERT_TRUE(reach([&] { return !passive_.messages.empty() && passive_.messages.back().text() == "goes on"; }));
    EXPECT_TRUE(active_.closings.empty() && passive_.closings.empty());
  }

  Peer active_;
  Peer passive_;
};
INSTANTIATE_TEST_SUITE_P(All, FaultTest, testing::ValuesIn(worlds()), name_of);

Message send_of(std::size_t length) {
  return {.opcode = Opcode::kSend, .length = static_cast<std::uint32_t>(length)};
}

TEST_P(FaultTest, ASourceThatFaultsAtItsFirstByteIsNotTaken) {
  HalfMemory memory(512);
  memory.start = memory.edge();
  for (const std::size_t length : {std::size_t{1}, std::size_t{8}, std::size_t{1000}, 200 * kPage}) {
    EXPECT_EQ(active_.channel->send(send_of(length), &memory), SendResult::kFault) << length;
  }
  expect_to_go_on();
}

TEST_P(FaultTest, ABriefThatFaultsIsNotTaken) {
  HalfMemory memory(2);
  EXPECT_FALSE(active_.channel->send_short({.payload = {memory.edge() - 10, 20}}));
  expect_to_go_on();
}

// The peer may have the beginning; then it hears why there is no more.
TEST_P(FaultTest, ASourceThatFaultsMidwayEndsWithAReason) {
  HalfMemory memory(1024);
  memory.start = memory.edge() - 300 * kPage;
  SendResult result = SendResult::kBlocked;
  ASSERT_TRUE(reach([&] {
    if (result == SendResult::kBlocked) result = active_.channel->send(send_of(600 * kPage), &memory);
    active_.channel->flush();
    return result != SendResult::kBlocked;
  }));
  ASSERT_EQ(result, SendResult::kFaultMidway);
  active_.channel->terminate({.layer = 0, .type = 1, .code = 0});
  ASSERT_TRUE(reach([&] { return !passive_.closings.empty(); }));
  EXPECT_EQ(passive_.closings, std::vector{CloseReason::kTerminated});
  EXPECT_EQ(passive_.terminate_code, (TerminateCode{.layer = 0, .type = 1, .code = 0}));
  EXPECT_TRUE(passive_.messages.empty());
}

// The socket has taken a part of a frame.
TEST_P(FaultTest, ASourceThatGoesWhileTheChannelIsBlockedEndsWithAReason) {
  constexpr std::size_t kLength = std::size_t{24} << 20;
  HalfMemory memory(2 * kLength / kPage);
  memory.start = memory.edge() - kLength;
  SendResult result = SendResult::kBlocked;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(active_.channel->send(send_of(kLength), &memory), SendResult::kBlocked);
  ASSERT_EQ(::mprotect(memory.start, kLength, PROT_NONE), 0);
  ASSERT_TRUE(reach([&] {
    result = active_.channel->send(send_of(kLength), &memory);
    return result != SendResult::kBlocked;
  }));
  ASSERT_EQ(result, SendResult::kFaultMidway);
  active_.channel->terminate({.layer = 0, .type = 1, .code = 0});
  ASSERT_TRUE(reach([&] { return !passive_.closings.empty(); }));
  EXPECT_EQ(passive_.closings, std::vector{CloseReason::kTerminated});
  EXPECT_EQ(passive_.terminate_code, (TerminateCode{.layer = 0, .type = 1, .code = 0}));
  EXPECT_TRUE(passive_.messages.empty());
}

// The part that the socket has is of the only frame of its message, or of the last one.
TEST_P(FaultTest, ASourceThatGoesWithinTheLastFrameEndsWithAReason) {
  constexpr std::size_t kLength = 60001;
  HalfMemory memory(2 * (kLength / kPage + 1));
  memory.start = memory.edge() - kLength;
  std::size_t taken = 0;
  SendResult result = SendResult::kDone;
  while ((result = active_.channel->send(send_of(kLength), &memory)) == SendResult::kDone) ++taken;
  ASSERT_EQ(result, SendResult::kBlocked);
  ASSERT_EQ(::mprotect(memory.edge() - (kLength / kPage + 1) * kPage, (kLength / kPage + 1) * kPage, PROT_NONE), 0);
  ASSERT_TRUE(reach([&] {
    result = active_.channel->send(send_of(kLength), &memory);
    return result != SendResult::kBlocked;
  }));
  if (result == SendResult::kFault) return expect_to_go_on();  // nothing of it was taken
  ASSERT_EQ(result, SendResult::kFaultMidway);
  active_.channel->terminate({.layer = 0, .type = 1, .code = 0});
  ASSERT_TRUE(reach([&] { return !passive_.closings.empty(); }));
  EXPECT_EQ(passive_.closings, std::vector{CloseReason::kTerminated});
  EXPECT_EQ(passive_.messages.size(), taken);
}

TEST_P(FaultTest, APlaceThatFaultsIsReportedOnceAndTheChannelGoesOn) {
  HalfMemory memory(512);
  for (const std::size_t length : {std::size_t{20}, std::size_t{3000}, 200 * kPage}) {
    passive_.place_at = memory.edge() - 10;
    passive_.discards = false;
    passive_.faults.clear();
    const std::size_t before = passive_.messages.size();
    active_.queue(send_of(length), make_pattern(length));
    ASSERT_TRUE(reach([&] { return passive_.messages.size() > before; })) << length;
    ASSERT_EQ(passive_.faults.size(), 1u);
    EXPECT_EQ(passive_.faults[0].opcode, Opcode::kSend);
  }
  passive_.place_at = nullptr;
  passive_.discards = false;
  expect_to_go_on();
}

}  // namespace
}  // namespace softdat::transport::conformance
