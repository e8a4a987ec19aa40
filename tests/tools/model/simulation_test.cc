// SPDX-License-Identifier: BSD-2-Clause
// The virtual times of programs whose times can be told by hand, in ns.
#include "tools/softdat/model/simulation.h"

#include <gtest/gtest.h>

#include "simnic/model/network.h"
#include "tools/softdat/model/report.h"

namespace softdat::tools::model {
namespace {

constexpr Costs kCosts{.send = 100,
                       .receive = 50,
                       .latency = 1000,
                       .gap = 10,
                       .per_byte = 1,
                       .fetch = 200,
                       .inline_bytes = 64,
                       .first_per_byte = 0.5,
                       .packet_bytes = 1000};

using Kind = Operation::Kind;

// Programs are made step by step.
class SimulationTest : public testing::Test {
 protected:
  std::size_t add_thread(std::uint32_t host) {
    if (program.hosts.size() <= host) program.hosts.resize(host + 1, "host");
    program.threads.push_back({.host = host, .steps = {}});
    return program.threads.size() - 1;
  }
  // Each pair of hosts has an endpoint on both sides.
  std::size_t post(std::size_t thread, Kind kind, std::uint32_t bytes, std::uint32_t to, std::uint64_t computed = 0) {
    const std::uint32_t from = program.threads[thread].host;
    program.operations.push_back({.kind = kind,
                                  .bytes = bytes,
                                  .from = from,
                                  .to = to,
                                  .endpoint = 100 * (from + 1) + to,
                                  .peer = 100 * (to + 1) + from,
                                  .is_sent = true});
    add(thread, Step::Kind::kPost, program.operations.size() - 1, computed);
    return program.operations.size() - 1;
  }
  void add(std::size_t thread, Step::Kind kind, std::size_t operation, std::uint64_t computed = 0) {
    program.threads[thread].steps.push_back({.kind = kind, .computed = computed, .operation = operation});
  }
  void receive(std::size_t thread, std::size_t operation) { add(thread, Step::Kind::kTakeReceive, operation); }
  void complete(std::size_t thread, std::size_t operation) { add(thread, Step::Kind::kTakeRequest, operation); }

  Program program;
};

TEST_F(SimulationTest, SmallMessageTakesItsParts) {
  const auto sender = add_thread(0), receiver = add_thread(1);
  const auto message = post(sender, Kind::kSend, 8, 1);
  complete(sender, message);
  receive(receiver, message);
  const Prediction prediction = simulate(program, kCosts);
  const Times& times = prediction.operations[message];
  EXPECT_DOUBLE_EQ(times.posted, 0);
  EXPECT_DOUBLE_EQ(times.arrived, 100 + 1000 + 8 * 0.5 + 8);
  EXPECT_DOUBLE_EQ(times.completed, times.arrived + 1000);
  EXPECT_DOUBLE_EQ(prediction.hosts[1].total, times.arrived + 50);
  EXPECT_DOUBLE_EQ(prediction.hosts[1].waiting, times.arrived);
  EXPECT_DOUBLE_EQ(prediction.total, times.completed + 50);
}

TEST_F(SimulationTest, LargeMessageIsFetchedAndItsFirstPacketStored) {
  const auto sender = add_thread(0);
  add_thread(1);
  const auto message = post(sender, Kind::kWrite, 5000, 1);
  EXPECT_DOUBLE_EQ(simulate(program, kCosts).operations[message].arrived, 100 + 200 + 1000 + 1000 * 0.5 + 5000);
}

TEST_F(SimulationTest, ReadGoesThereAndBack) {
  const auto reader = add_thread(0);
  add_thread(1);
  const auto read = post(reader, Kind::kRead, 500, 1);
  complete(reader, read);
  const double back = 200 + 1000 + 500 * 0.5 + 500;
  EXPECT_DOUBLE_EQ(simulate(program, kCosts).operations[read].completed, 100 + 1000 + back);
}

TEST_F(SimulationTest, OnePortSendsOneMessageAfterTheOther) {
  const auto sender = add_thread(0);
  add_thread(1);
  std::size_t last = 0;
  for (int i = 0; i < 10; ++i) last = post(sender, Kind::kWrite, 1000, 1);
  const Prediction prediction = simulate(program, kCosts);
  // The first leaves after its post; the port is busy from then on.
  EXPECT_DOUBLE_EQ(prediction.operations[last].arrived, 100 + 9 * 1000 + 200 + 1000 + 500 + 1000);
}

TEST_F(SimulationTest, SendersOfOneReceiverShareItsPort) {
  constexpr std::uint32_t kSenders = 8;
  std::vector<std::size_t> messages;
  add_thread(kSenders);
  for (std::uint32_t i = 0; i < kSenders; ++i) messages.push_back(post(add_thread(i), Kind::kWrite, 10000, kSenders));
  const Prediction prediction = simulate(program, kCosts);
  double last = 0;
  for (const auto message : messages) last = std::max(last, prediction.operations[message].arrived);
  EXPECT_DOUBLE_EQ(last, 100 + 200 + 1000 + 500 + kSenders * 10000.0);
}

TEST_F(SimulationTest, MessagesBetweenOtherHostsDoNotWaitForEachOther) {
  const auto a = add_thread(0), b = add_thread(2);
  add_thread(1), add_thread(3);
  const auto first = post(a, Kind::kWrite, 10000, 1), second = post(b, Kind::kWrite, 10000, 3);
  const Prediction prediction = simulate(program, kCosts);
  EXPECT_DOUBLE_EQ(prediction.operations[first].arrived, prediction.operations[second].arrived);
}

TEST_F(SimulationTest, SmallMessageDoesNotOvertakeLargeOneOfItsEndpoint) {
  const auto sender = add_thread(0);
  add_thread(1);
  const auto large = post(sender, Kind::kWrite, 4000, 1), small = post(sender, Kind::kSend, 8, 1);
  const Prediction prediction = simulate(program, kCosts);
  EXPECT_GE(prediction.operations[small].arrived, prediction.operations[large].arrived);
}

TEST_F(SimulationTest, ComputingDelaysWhatComesAfterIt) {
  const auto sender = add_thread(0), receiver = add_thread(1);
  const auto message = post(sender, Kind::kSend, 0, 1, 7000);
  receive(receiver, message);
  const Prediction prediction = simulate(program, kCosts);
  EXPECT_DOUBLE_EQ(prediction.operations[message].posted, 7000);
  EXPECT_DOUBLE_EQ(prediction.hosts[0].computing, 7000);
  Costs half = kCosts;
  half.compute = 0.5;
  EXPECT_DOUBLE_EQ(simulate(program, half).operations[message].posted, 3500);
}

TEST_F(SimulationTest, PingPongIsLatencyTimesRounds) {
  const auto a = add_thread(0), b = add_thread(1);
  constexpr int kRounds = 1000;
  for (int i = 0; i < kRounds; ++i) {
    const auto ping = post(a, Kind::kSend, 0, 1);
    receive(b, ping);
    receive(a, post(b, Kind::kSend, 0, 0));
  }
  EXPECT_DOUBLE_EQ(simulate(program, kCosts).total, 2.0 * kRounds * (100 + 1000 + 50));
}

TEST_F(SimulationTest, WaitForUntoldMessageTakesNoTimeAndIsCounted) {
  const auto sender = add_thread(0), receiver = add_thread(1);
  const auto message = post(sender, Kind::kSend, 8, 1);
  program.operations[message].is_sent = false;
  receive(receiver, message);
  const Prediction prediction = simulate(program, kCosts);
  EXPECT_EQ(prediction.untold, 1u);
  EXPECT_DOUBLE_EQ(prediction.hosts[1].total, 50);
}

TEST_F(SimulationTest, SameProgramHasSameTimes) {
  for (std::uint32_t i = 0; i < 6; ++i) add_thread(i);
  for (std::uint32_t round = 0; round < 100; ++round) {
    for (std::uint32_t i = 0; i < 6; ++i) {
      const auto message = post(i, Kind::kSend, 100 + round, (i + 1 + round % 5) % 6);
      receive(program.operations[message].to, message);
    }
  }
  const Prediction first = simulate(program, kCosts), second = simulate(program, kCosts);
  EXPECT_EQ(first.total, second.total);
  EXPECT_EQ(first.untold, 0u);
}

TEST(NetworkTest, BuiltInsAreReadAndHaveSources) {
  for (const auto& known : simnic::model::built_in_networks()) {
    const auto network = simnic::model::find_network(std::string(known.name));
    ASSERT_TRUE(network) << network.reason();
    EXPECT_EQ(network.value().name, known.name);
    for (const auto& info : simnic::model::network_fields()) {
      EXPECT_FALSE(network.value().at(info.field).source.empty()) << known.name << " " << info.name;
    }
    EXPECT_LE(costs_of(network.value(), Bound::kLow, 1).per_byte, costs_of(network.value(), Bound::kHigh, 1).per_byte);
  }
}

TEST(NetworkTest, MistakesNameLineValueAndRemedy) {
  const auto reason = [](const std::string& text) {
    const auto network = simnic::model::read_network("my.toml", text);
    return network ? std::string("read") : network.reason();
  };
  EXPECT_EQ(reason("name = \"a\"\n[network]\nsend_nss = 3\n"),
            "my.toml:3: \"send_nss\" is no part of [network], did you mean \"send_ns\"?; allowed: send_ns, receive_ns, "
            "latency_ns, gap_ns, rate_gbit, fetch_ns, inline_bytes, first_packet_ns_per_kib, packet_bytes");
  EXPECT_EQ(reason("name = \"a\"\n[network]\nsend_ns = -3\n"), "my.toml:3: \"send_ns\" takes a number from 0 to 1e+09");
  EXPECT_EQ(
      reason("name = \"a\"\n[network]\nsend_ns = { low = 3, typical = 2 }\n"),
      "my.toml:3: of \"send_ns\", low is 3, typical 2, high 2; low must be at most typical, and typical at most high");
  EXPECT_EQ(reason("name = \"a\"\n[network]\n"), "my.toml:2: [network] has no \"send_ns\"");
  EXPECT_EQ(reason("[network]\n"), "my.toml:1: there is no name");
}

// What the published curves say, and what the network says of the same message. docs/TIMING.md has the table.
TEST_F(SimulationTest, PublishedLatenciesAreMet) {
  const auto network = simnic::model::find_network("edr-100");
  ASSERT_TRUE(network);
  struct Point {
    std::uint32_t bytes;
    double us;  // ib_send_lat on ConnectX-4, half a round trip
  };
  for (const auto& [bytes, us] : {Point{32, 0.83}, Point{1024, 1.61}, Point{4096, 2.28}, Point{32768, 4.57}}) {
    program = {};
    const auto a = add_thread(0), b = add_thread(1);
    receive(b, post(a, Kind::kSend, bytes, 1));
    const double half_round = simulate(program, costs_of(network.value(), Bound::kTypical, 1)).total / 1e3;
    EXPECT_NEAR(half_round, us, us * 0.05) << bytes;
  }
}

}  // namespace
}  // namespace softdat::tools::model
