// SPDX-License-Identifier: BSD-2-Clause
// What the peer's memory protection refuses, and what each side sees of it: the initiator an error
// completion that says so, everything behind it flushed, both sides one broken connection.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

enum class Fault { kUnknownKey, kBeyondTheEnd, kBeforeTheStart, kWrapsAround, kNoRight, kOtherZone, kFreed };

struct Violation {
  const char* name;
  bool is_write;
  Fault fault;
};

std::ostream& operator<<(std::ostream& out, const Violation& violation) {
  return out << violation.name;
}

class RemoteViolation : public testing::TestWithParam<Violation> {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  }

  static constexpr std::size_t kSize = 4096;

  // A remote buffer of 64 bytes that must not be accessible as the parameter says.
  DAT_RMR_TRIPLET make_target() {
    Peer& server = pair_.server;
    int privileges = DAT_MEM_PRIV_ALL_FLAG;
    DAT_PZ_HANDLE pz = server.pz;
    if (GetParam().fault == Fault::kNoRight) {
      const int forbidden = GetParam().is_write ? DAT_MEM_PRIV_REMOTE_WRITE_FLAG : DAT_MEM_PRIV_REMOTE_READ_FLAG;
      privileges &= ~forbidden;
    }
    if (GetParam().fault == Fault::kOtherZone) pz = server.adapter.make_pz();
    memory_ = std::make_unique<Memory>(server.adapter.handle(), pz, kSize, privileges);
    std::fill_n(memory_->data(), kSize, static_cast<unsigned char>(0xcc));
    const DAT_RMR_TRIPLET whole = memory_->remote(0, 64);
    const DAT_RMR_CONTEXT key = memory_->rmr_context();
    switch (GetParam().fault) {
      case Fault::kUnknownKey:
        return make_remote(memory_->data(), 64, key ^ 0x00ffff00u);
      case Fault::kBeyondTheEnd:
        return make_remote(memory_->data() + kSize - 63, 64, key);
      case Fault::kBeforeTheStart:
        return make_remote(memory_->data() - 1, 64, key);
      case Fault::kWrapsAround:
        return make_remote(~std::uint64_t{0} - 31, 64, key);
      case Fault::kFreed:
        memory_->deregister();
        return whole;
      default:
        return whole;
    }
  }

  DAT_RETURN post(std::uint64_t cookie, const DAT_RMR_TRIPLET& target) {
    return GetParam().is_write ? pair_.client.post_write(0, 64, target, cookie)
                               : pair_.client.post_read(0, 64, target, cookie);
  }

  ConnectedPair pair_;
  std::unique_ptr<Memory> memory_;
};

TEST_P(RemoteViolation, InitiatorLearnsItAndBothConnectionsBreak) {
  const DAT_RMR_TRIPLET target = make_target();
  pair_.client.memory->fill(0, 64, 1);
  ASSERT_THAT(pair_.server.post_recv(0, 64, 5), succeeds());
  ASSERT_THAT(post(1, target), succeeds());
  // May race with the refusal: then it is flushed at once, with the same outcome.
  ASSERT_THAT(pair_.client.post_send(0, 64, 2), succeeds());
  const auto refused = next_completion(pair_.client.request_evd);
  EXPECT_EQ(refused.user_cookie.as_64, 1u);
  EXPECT_EQ(refused.status, DAT_DTO_ERR_REMOTE_ACCESS);
  const auto flushed = next_completion(pair_.client.request_evd);
  EXPECT_EQ(flushed.user_cookie.as_64, 2u);
  EXPECT_EQ(flushed.status, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(next_completion(pair_.server.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  for (Peer* peer : {&pair_.client, &pair_.server}) {
    EXPECT_EQ(next_event(peer->connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_EQ(peer->state(), DAT_EP_STATE_DISCONNECTED);
    EXPECT_TRUE(is_quiet(peer->connect_evd));
  }
}

// No completion tells the target; its adapter's asynchronous dispatcher does.
TEST_P(RemoteViolation, TargetsAdapterHearsOfItAsynchronously) {
  ASSERT_THAT(post(1, make_target()), succeeds());
  const DAT_EVENT event = next_event(pair_.server.adapter.async_evd(), DAT_ASYNC_ERROR_EP_BROKEN);
  EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, pair_.server.ep);
  EXPECT_EQ(event.event_data.asynch_error_event_data.reason, DAT_EP_TRANSFER_TO_ERROR);
  next_event(pair_.client.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_TRUE(is_quiet(pair_.client.adapter.async_evd()));
  EXPECT_TRUE(is_quiet(pair_.server.adapter.async_evd()));
}

TEST_P(RemoteViolation, MemoryStaysUntouched) {
  const DAT_RMR_TRIPLET target = make_target();
  pair_.client.memory->fill(0, 64, 1);
  ASSERT_THAT(post(1, target), succeeds());
  EXPECT_EQ(next_completion(pair_.client.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
  EXPECT_TRUE(std::all_of(memory_->data(), memory_->data() + kSize, [](unsigned char byte) { return byte == 0xcc; }));
  EXPECT_TRUE(pair_.client.memory->holds(0, 64, 1));
}

TEST_P(RemoteViolation, EndpointsConnectAgainAfterwards) {
  ASSERT_THAT(post(1, make_target()), succeeds());
  for (Peer* peer : {&pair_.client, &pair_.server}) {
    next_event(peer->connect_evd, DAT_CONNECTION_EVENT_BROKEN);
    require(dat_ep_reset(peer->ep), "dat_ep_reset");
    drain(peer->request_evd);
  }
  establish(pair_.server, pair_.client);
  expect_conversation(pair_.server, pair_.client);
}

INSTANTIATE_TEST_SUITE_P(Every, RemoteViolation,
                         testing::Values(Violation{"WriteWithUnknownKey", true, Fault::kUnknownKey},
                                         Violation{"WriteBeyondTheEnd", true, Fault::kBeyondTheEnd},
                                         Violation{"WriteBeforeTheStart", true, Fault::kBeforeTheStart},
                                         Violation{"WriteThatWrapsAround", true, Fault::kWrapsAround},
                                         Violation{"WriteWithoutRight", true, Fault::kNoRight},
                                         Violation{"WriteIntoAnotherZone", true, Fault::kOtherZone},
                                         Violation{"WriteIntoFreedMemory", true, Fault::kFreed},
                                         Violation{"ReadWithUnknownKey", false, Fault::kUnknownKey},
                                         Violation{"ReadBeyondTheEnd", false, Fault::kBeyondTheEnd},
                                         Violation{"ReadBeforeTheStart", false, Fault::kBeforeTheStart},
                                         Violation{"ReadThatWrapsAround", false, Fault::kWrapsAround},
                                         Violation{"ReadWithoutRight", false, Fault::kNoRight},
                                         Violation{"ReadFromAnotherZone", false, Fault::kOtherZone},
                                         Violation{"ReadFromFreedMemory", false, Fault::kFreed}),
                         [](const auto& which) { return std::string(which.param.name); });

// Memory without remote rights has no context for the peer at all.
TEST(RemoteRights, NoneMeansNoContext) {
  Peer peer(kServerName);
  Memory memory(peer.adapter.handle(), peer.pz, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  EXPECT_EQ(memory.rmr_context(), 0u);
}

}  // namespace
}  // namespace softdat::conformance
