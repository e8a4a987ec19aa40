// SPDX-License-Identifier: BSD-2-Clause
// The fuzzer's stream in memory reads as a socket does: the same bytes, rules and cuts give the same result.
#include "tests/fuzz/memory_stream.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/transport/tcp/inbound_harness.h"
#include "tests/transport/tcp/one_of_everything.h"

namespace softdat::transport::tcp {
namespace {

void expect_same(std::span<const std::byte> bytes, InboundHarness& harness) {
  const HarnessResult by_socket = feed_any(bytes);
  fuzz::MemoryStream stream;
  const HarnessResult from_memory = harness.feed_any(stream, bytes);
  EXPECT_EQ(from_memory.status, by_socket.status);
  EXPECT_EQ(from_memory.fault, by_socket.fault);
  EXPECT_EQ(from_memory.messages, by_socket.messages);
  EXPECT_EQ(from_memory.payload, by_socket.payload);
}

TEST(MemoryStreamTest, AValidStreamGivesWhatASocketGivesUnderAllRulesAndCuts) {
  InboundHarness harness;
  for (unsigned choice = 0; choice < 64; ++choice) {
    SCOPED_TRACE(choice);
    const Bytes stream = one_of_everything((choice & 1) != 0);
    expect_same(Bytes{static_cast<std::byte>(choice)} + stream, harness);
  }
}

TEST(MemoryStreamTest, SpoiledStreamsGiveWhatASocketGives) {
  InboundHarness harness;
  std::mt19937_64 random(21);
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    const auto choice = static_cast<unsigned>(random() % 64);
    Bytes stream = Bytes{static_cast<std::byte>(choice)} + one_of_everything((choice & 1) != 0);
    for (std::uint64_t n = random() % 4; n > 0; --n) {
      stream[1 + random() % (random() % 2 == 0 ? 100 : stream.size() - 1)] = static_cast<std::byte>(random());
    }
    stream.resize(1 + random() % stream.size());
    expect_same(stream, harness);
  }
}

}  // namespace
}  // namespace softdat::transport::tcp
