// SPDX-License-Identifier: BSD-2-Clause
// A program that tells its peer where it will listen, and listens a moment later: the peer's connect finds it all the
// same (docs/decisions/0012-connect-grace.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <optional>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/setting.h"

namespace softdat::conformance {
namespace {

// A grace longer than any test has patience: what ends before it was ended by something else.
constexpr const char* kLongGrace = "60000";

class ConnectGrace : public testing::Test {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
    client_.emplace(kClientName);
  }
  // Long enough for the first tries to be refused.
  void expect_nothing_yet() {
    DAT_EVENT event;
    DAT_COUNT more;
    EXPECT_THAT(dat_evd_wait(client_->connect_evd, kShortWait, 1, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
    EXPECT_EQ(client_->state(), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  }
  void expect_established(Peer& server) {
    const DAT_EVENT request = next_event(server.cr_evd, DAT_CONNECTION_REQUEST_EVENT);
    ASSERT_THAT(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, server.ep, 0, nullptr), succeeds());
    next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    next_event(client_->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_TRUE(is_quiet(server.cr_evd));
    expect_conversation(server, *client_);
  }

  const Setting grace_{"SOFTDAT_CONNECT_GRACE", kLongGrace};
  std::optional<Peer> client_;
  DAT_CONN_QUAL qualifier_ = unused_qualifier();
};

TEST_F(ConnectGrace, FindsAServicePointThatIsCreatedLater) {
  Peer server(kServerName);
  ASSERT_THAT(client_->connect(server, qualifier_, "early"), succeeds());
  expect_nothing_yet();
  server.adapter.make_psp(qualifier_, server.cr_evd);
  expect_established(server);
}

TEST_F(ConnectGrace, FindsAReservedServicePointThatIsCreatedLater) {
  Peer server(kServerName);
  ASSERT_THAT(client_->connect(server, qualifier_), succeeds());
  expect_nothing_yet();
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_rsp_create(server.adapter.handle(), qualifier_, server.ep, server.cr_evd, &rsp), succeeds());
  const DAT_EVENT request = next_event(server.cr_evd, DAT_CONNECTION_REQUEST_EVENT);
  ASSERT_THAT(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, DAT_HANDLE_NULL, 0, nullptr),
              succeeds());
  next_event(client_->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// Its process is there, and has a connection with us already.
TEST_F(ConnectGrace, FindsASecondServiceOfAPeerThatIsConnectedAlready) {
  Peer server(kServerName);
  Peer other(kClientName);
  establish(server, other);
  Peer second(kServerName);
  ASSERT_THAT(client_->connect(second, qualifier_), succeeds());
  expect_nothing_yet();
  second.adapter.make_psp(qualifier_, second.cr_evd);
  expect_established(second);
}

// Nobody has that address yet. On a loop it is unreachable.
TEST_F(ConnectGrace, FindsAnAdapterThatIsOpenedLater) {
  if (const Lack lack = lack_of_other_processes(); !lack.empty()) GTEST_SKIP() << lack;
  sockaddr_in6 address{};
  {
    const Adapter model(kServerName);
    const DAT_IA_ADDRESS_PTR own = model.address();
    std::memcpy(&address, own, own->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  }
  ASSERT_THAT(dat_ep_connect(client_->ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier_, kPatience, 0,
                             nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
              succeeds());
  expect_nothing_yet();
  Peer server(kServerName);
  server.adapter.make_psp(qualifier_, server.cr_evd);
  expect_established(server);
}

// Each try chooses its carrier anew.
TEST_F(ConnectGrace, FindsAServiceOnWhicheverCarrierItAppears) {
  if (const Lack lack = lack_of_other_processes(); !lack.empty()) GTEST_SKIP() << lack;
  for (const char* carrier : {"tcp", "shm", "auto"}) {
    std::optional<Setting> transport(std::in_place, "SOFTDAT_TRANSPORT", "auto");
    client_.emplace(kClientName);
    transport.emplace("SOFTDAT_TRANSPORT", carrier);
    Peer server(kServerName);
    ASSERT_THAT(client_->connect(server, qualifier_), succeeds());
    expect_nothing_yet();
    server.adapter.make_psp(qualifier_, server.cr_evd);
    expect_established(server);
  }
}

// A try whose refusal comes after the time-out has timed out.
TEST_F(ConnectGrace, EndsWithTheCallersTimeOut) {
  Peer server(kServerName);
  ASSERT_THAT(client_->connect(server, qualifier_, {}, kShortWait), succeeds());
  EXPECT_THAT(next_event(client_->connect_evd).event_number,
              testing::AnyOf(DAT_CONNECTION_EVENT_NON_PEER_REJECTED, DAT_CONNECTION_EVENT_TIMED_OUT));
  EXPECT_EQ(client_->state(), DAT_EP_STATE_DISCONNECTED);
}

TEST_F(ConnectGrace, ZeroIsNone) {
  const Setting none("SOFTDAT_CONNECT_GRACE", "0");
  client_.emplace(kClientName);
  Peer server(kServerName);
  ASSERT_THAT(client_->connect(server, qualifier_), succeeds());
  next_event(client_->connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

TEST_F(ConnectGrace, DisconnectEndsIt) {
  Peer server(kServerName);
  for (const DAT_CLOSE_FLAGS how : {DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG}) {
    ASSERT_THAT(client_->connect(server, qualifier_), succeeds());
    expect_nothing_yet();
    ASSERT_THAT(dat_ep_disconnect(client_->ep, how), succeeds());
    next_event(client_->connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    ASSERT_THAT(dat_ep_reset(client_->ep), succeeds());
  }
  // A try that was under way may still arrive. It is to find no service point.
  EXPECT_TRUE(is_quiet(server.cr_evd));
  server.adapter.make_psp(qualifier_, server.cr_evd);
  ASSERT_THAT(client_->connect(server, qualifier_), succeeds());
  expect_established(server);
}

TEST_F(ConnectGrace, FreeAndCloseEndIt) {
  Peer server(kServerName);
  ASSERT_THAT(client_->connect(server, qualifier_), succeeds());
  expect_nothing_yet();
  ASSERT_THAT(dat_ep_free(client_->ep), succeeds());
  client_->ep = DAT_HANDLE_NULL;
  client_->renew_endpoint();
  ASSERT_THAT(client_->connect(server, qualifier_), succeeds());
  expect_nothing_yet();
  ASSERT_THAT(dat_ia_close(client_->adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  client_->adapter.release();
  EXPECT_TRUE(is_quiet(server.cr_evd));
  server.adapter.make_psp(qualifier_, server.cr_evd);
  EXPECT_TRUE(is_quiet(server.cr_evd));
}

}  // namespace
}  // namespace softdat::conformance
