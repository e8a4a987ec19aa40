// SPDX-License-Identifier: BSD-2-Clause
// Every connection event there is, each provoked on its own: who hears it, with what, and in which state it leaves the
// endpoint.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/conformance/lacks.h"
#include "tests/conformance/remote_peer.h"

namespace softdat::conformance {
namespace {

class Outcome : public testing::Test {
 protected:
  // The event that `peer` hears next, and only that one, leaves its endpoint in `state`.
  static DAT_CONNECTION_EVENT_DATA expect_only(Peer& peer, DAT_EVENT_NUMBER number, DAT_EP_STATE state) {
    const DAT_EVENT event = next_event(peer.connect_evd);
    EXPECT_EQ(event.event_number, number);
    const auto data = event.event_data.connect_event_data;
    EXPECT_EQ(data.ep_handle, peer.ep);
    EXPECT_EQ(peer.state(), state);
    EXPECT_TRUE(is_quiet(peer.connect_evd));
    return data;
  }
  static void expect_flushed(Peer& peer, std::uint64_t cookie) {
    const auto completion = next_completion(peer.recv_evd);
    EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
    EXPECT_EQ(completion.user_cookie.as_64, cookie);
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
};

TEST_F(Outcome, Established) {
  char answer[] = "welcome";
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  ASSERT_THAT(dat_cr_accept(server_.next_request(), server_.ep, 7, answer), succeeds());
  const auto active = expect_only(client_, DAT_CONNECTION_EVENT_ESTABLISHED, DAT_EP_STATE_CONNECTED);
  ASSERT_EQ(active.private_data_size, 7);
  EXPECT_EQ(std::memcmp(active.private_data, "welcome", 7), 0);
  const auto passive = expect_only(server_, DAT_CONNECTION_EVENT_ESTABLISHED, DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(passive.private_data_size, 0);
}

TEST_F(Outcome, PeerRejected) {
  ASSERT_THAT(client_.post_recv(0, 64, 3), succeeds());
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
#if SOFTDAT_DAT_MAJOR == 2
  char reason[] = "too late";
  ASSERT_THAT(dat_cr_reject(server_.next_request(), 8, reason), succeeds());
  const auto data = expect_only(client_, DAT_CONNECTION_EVENT_PEER_REJECTED, DAT_EP_STATE_DISCONNECTED);
  ASSERT_EQ(data.private_data_size, 8);
  EXPECT_EQ(std::memcmp(data.private_data, "too late", 8), 0);
#else
  ASSERT_THAT(dat_cr_reject(server_.next_request()), succeeds());
  expect_only(client_, DAT_CONNECTION_EVENT_PEER_REJECTED, DAT_EP_STATE_DISCONNECTED);
#endif
  expect_flushed(client_, 3);
  EXPECT_TRUE(is_quiet(server_.connect_evd));
}

// "remote Consumer is not listening on the requested Connection Qualifier"
TEST_F(Outcome, NonPeerRejectedBecauseNobodyListens) {
  ASSERT_THAT(client_.post_recv(0, 64, 3), succeeds());
  ASSERT_THAT(client_.connect(server_, unused_qualifier()), succeeds());
  expect_only(client_, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, DAT_EP_STATE_DISCONNECTED);
  expect_flushed(client_, 3);
}

// A request whose dispatcher goes will never be answered by anybody.
TEST_F(Outcome, NonPeerRejectedBecauseTheRequestWasLeftUnanswered) {
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  server_.next_request();
  ASSERT_THAT(dat_ia_close(server_.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  server_.adapter.release();
  expect_only(client_, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, DAT_EP_STATE_DISCONNECTED);
}

// "When the timeout expired prior to completion of the Connection establishment"
TEST_F(Outcome, TimedOut) {
  ASSERT_THAT(client_.post_recv(0, 64, 3), succeeds());
  ASSERT_THAT(client_.connect(server_, server_.listen(), {}, 50'000), succeeds());
  expect_only(client_, DAT_CONNECTION_EVENT_TIMED_OUT, DAT_EP_STATE_DISCONNECTED);
  expect_flushed(client_, 3);
}

// "When the Provider cannot reach the remote host": the broadcast address of the loopback network has no host.
TEST_F(Outcome, Unreachable) {
  sockaddr_in nowhere{};
  nowhere.sin_family = AF_INET;
  nowhere.sin_addr.s_addr = htonl(0x7fffffff);
  ASSERT_THAT(client_.post_recv(0, 64, 3), succeeds());
  ASSERT_THAT(dat_ep_connect(client_.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&nowhere), unused_qualifier(), kPatience,
                             0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
              succeeds());
  expect_only(client_, DAT_CONNECTION_EVENT_UNREACHABLE, DAT_EP_STATE_DISCONNECTED);
  expect_flushed(client_, 3);
}

// dat_cr_accept: "It can be caused by the active side timeout expiration ... Endpoint transitions into Disconnected
// state and all posted Recv DTOs are flushed."
TEST_F(Outcome, AcceptCompletionErrorBecauseThePeerRanOutOfTime) {
  if (const Lack lack = lack_of_confirmations(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(client_.connect(server_, server_.listen(), {}, 1'000'000), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  expect_only(client_, DAT_CONNECTION_EVENT_TIMED_OUT, DAT_EP_STATE_DISCONNECTED);
  ASSERT_THAT(server_.post_recv(0, 64, 8), succeeds());
  ASSERT_THAT(dat_cr_accept(cr, server_.ep, 0, nullptr), succeeds());
  expect_only(server_, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, DAT_EP_STATE_DISCONNECTED);
  expect_flushed(server_, 8);
}

TEST_F(Outcome, AcceptCompletionErrorBecauseThePeerGaveUp) {
  if (const Lack lack = lack_of_confirmations(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  expect_only(client_, DAT_CONNECTION_EVENT_DISCONNECTED, DAT_EP_STATE_DISCONNECTED);
  ASSERT_THAT(dat_cr_accept(cr, server_.ep, 0, nullptr), succeeds());
  expect_only(server_, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, DAT_EP_STATE_DISCONNECTED);
}

// The answer is on its way when the peer dies.
TEST_F(Outcome, AcceptCompletionErrorBecauseThePeerDied) {
  if (const Lack lack = lack_of_confirmations(); !lack.empty()) GTEST_SKIP() << lack;
  if (const Lack lack = lack_of_other_processes(); !lack.empty()) GTEST_SKIP() << lack;
  RemotePeer dying;
  dying.connect(client_);
  const DAT_CONN_QUAL qualifier = server_.listen();
  const auto* address = reinterpret_cast<const sockaddr_in*>(server_.adapter.address());
  dying.ask("connect " + std::to_string(ntohl(address->sin_addr.s_addr)) + " 0 " + std::to_string(qualifier));
  const DAT_CR_HANDLE cr = server_.next_request();
  dying.process().stop();
  ASSERT_THAT(dat_cr_accept(cr, server_.ep, 0, nullptr), succeeds());
  dying.process().kill();
  expect_only(server_, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, DAT_EP_STATE_DISCONNECTED);
}

TEST_F(Outcome, Disconnected) {
  establish(server_, client_);
  ASSERT_THAT(client_.post_recv(0, 64, 1), succeeds());
  ASSERT_THAT(server_.post_recv(0, 64, 2), succeeds());
  ASSERT_THAT(dat_ep_disconnect(server_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  expect_only(server_, DAT_CONNECTION_EVENT_DISCONNECTED, DAT_EP_STATE_DISCONNECTED);
  expect_only(client_, DAT_CONNECTION_EVENT_DISCONNECTED, DAT_EP_STATE_DISCONNECTED);
  expect_flushed(client_, 1);
  expect_flushed(server_, 2);
}

TEST_F(Outcome, BrokenBecauseOfAViolation) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  establish(server_, client_);
  ASSERT_THAT(server_.post_recv(0, 64, 2), succeeds());
  const DAT_RMR_TRIPLET beyond = server_.memory->remote(server_.memory->size(), 64);
  ASSERT_THAT(client_.post_write(0, 64, beyond, 4), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
  expect_only(client_, DAT_CONNECTION_EVENT_BROKEN, DAT_EP_STATE_DISCONNECTED);
  expect_only(server_, DAT_CONNECTION_EVENT_BROKEN, DAT_EP_STATE_DISCONNECTED);
  expect_flushed(server_, 2);
}

TEST_F(Outcome, BrokenBecauseThePeerDied) {
  if (const Lack lack = lack_of_other_processes(); !lack.empty()) GTEST_SKIP() << lack;
  RemotePeer dying;
  dying.connect(client_);
  ASSERT_THAT(client_.post_recv(0, 64, 2), succeeds());
  dying.process().kill();
  expect_only(client_, end_of_broken_peer(), DAT_EP_STATE_DISCONNECTED);
  expect_flushed(client_, 2);
}

// Whoever wants no connection events still connects, and sees it by the state.
TEST_F(Outcome, NobodyIsToldWithoutADispatcher) {
  DAT_EP_HANDLE silent = DAT_HANDLE_NULL;
  require(dat_ep_create(client_.adapter.handle(), client_.pz, client_.recv_evd, client_.request_evd, DAT_HANDLE_NULL,
                        nullptr, &silent),
          "dat_ep_create");
  client_.ep = silent;
  ASSERT_THAT(client_.connect(server_, server_.listen()), succeeds());
  ASSERT_THAT(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr), succeeds());
  ASSERT_TRUE(eventually([&] { return client_.state() == DAT_EP_STATE_CONNECTED; }));
  EXPECT_TRUE(is_quiet(client_.connect_evd));
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(server_, client_);
}

// Private data of the largest size goes all ways; one byte more is refused by all calls, and changes nothing.
TEST_F(Outcome, PrivateDataUpToTheAttributeAndNotBeyond) {
  const auto most = static_cast<std::size_t>(client_.adapter.max_private_data());
  std::string asked(most, 'a');
  std::string answered(most + 1, 'b');
  const DAT_CONN_QUAL qualifier = server_.listen();
  EXPECT_THAT(client_.connect(server_, qualifier, asked + "!"), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  ASSERT_THAT(client_.connect(server_, qualifier, asked), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  DAT_CR_PARAM param{};
  ASSERT_THAT(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(std::string(static_cast<char*>(param.private_data), static_cast<std::size_t>(param.private_data_size)),
            asked);
#if SOFTDAT_DAT_MAJOR == 2
  EXPECT_THAT(dat_cr_reject(cr, static_cast<DAT_COUNT>(most + 1), answered.data()),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_cr_reject(cr, -1, answered.data()), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_cr_reject(cr, 1, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
#endif
  EXPECT_THAT(dat_cr_accept(cr, server_.ep, static_cast<DAT_COUNT>(most + 1), answered.data()),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  ASSERT_THAT(dat_cr_accept(cr, server_.ep, static_cast<DAT_COUNT>(most), answered.data()), succeeds());
  const auto data = expect_only(client_, DAT_CONNECTION_EVENT_ESTABLISHED, DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(std::string(static_cast<char*>(data.private_data), static_cast<std::size_t>(data.private_data_size)),
            answered.substr(0, most));
}

// Both sides leave at the very same moment, in every mixture of graces: each hears it once.
TEST_F(Outcome, SimultaneousDisconnectsAreHeardOnceEach) {
  for (int round = 0; round < 8; ++round) {
    establish(server_, client_);
    const auto flags_of = [&](int bit) { return (round & bit) != 0 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG; };
    std::thread other([&] { EXPECT_THAT(dat_ep_disconnect(server_.ep, flags_of(1)), succeeds()); });
    EXPECT_THAT(dat_ep_disconnect(client_.ep, flags_of(2)), succeeds());
    other.join();
    expect_only(client_, DAT_CONNECTION_EVENT_DISCONNECTED, DAT_EP_STATE_DISCONNECTED);
    expect_only(server_, DAT_CONNECTION_EVENT_DISCONNECTED, DAT_EP_STATE_DISCONNECTED);
    require(dat_ep_reset(client_.ep), "dat_ep_reset");
    require(dat_ep_reset(server_.ep), "dat_ep_reset");
  }
}

// "If an in-progress DTO is completed unsuccessfully, all follow on in-progress DTOs in the same direction also must be
// completed unsuccessfully", in the order of their posts, requests and receives each.
TEST_F(Outcome, FlushKeepsTheOrderOfThePosts) {
  establish(server_, client_);
  for (std::uint64_t cookie = 1; cookie <= 10; ++cookie) {
    ASSERT_THAT(client_.post_recv(0, 64, cookie), succeeds());
    ASSERT_THAT(client_.post_send(0, 64, cookie), succeeds());
  }
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  bool has_failed = false;
  for (std::uint64_t cookie = 1; cookie <= 10; ++cookie) {
    expect_flushed(client_, cookie);
    const auto sent = next_completion(client_.request_evd);
    EXPECT_EQ(sent.user_cookie.as_64, cookie);
    EXPECT_FALSE(has_failed && sent.status == DAT_DTO_SUCCESS);
    has_failed = has_failed || sent.status != DAT_DTO_SUCCESS;
  }
}

}  // namespace
}  // namespace softdat::conformance
