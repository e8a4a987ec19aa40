// SPDX-License-Identifier: BSD-2-Clause
// One dispatcher for streams that notify in different ways: each completion wakes a waiter and the CNO, or does not, by
// its own flags.
#include <gtest/gtest.h>

#include "tests/conformance/lacks.h"
#include "tests/conformance/memory_shortage.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

// Receives, requests and connection events on one dispatcher.
PeerOptions on_one_dispatcher(DAT_COMPLETION_FLAGS recv, DAT_COMPLETION_FLAGS request) {
  PeerOptions options;
  options.one_dispatcher = true;
  options.attributes = default_attributes();
  options.attributes->recv_completion_flags = recv;
  options.attributes->request_completion_flags = request;
  return options;
}

std::uint64_t cookie_of(const DAT_EVENT& event) {
  return event.event_data.dto_completion_event_data.user_cookie.as_64;
}

// The waiter, which was not woken by the completion with cookie `quiet`, has it first and the one that woke it next.
void expect_woken_by_second(EvdWaiter& waiter, DAT_EVD_HANDLE evd, std::uint64_t quiet, std::uint64_t loud) {
  ASSERT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(cookie_of(waiter.event()), quiet);
  EXPECT_EQ(waiter.more(), 1);
  EXPECT_EQ(next_completion(evd).user_cookie.as_64, loud);
}

class EvdMixedStreams : public testing::Test {
 protected:
  void use(DAT_COMPLETION_FLAGS recv, DAT_COMPLETION_FLAGS request) {
    server_.emplace(kServerName);
    client_.emplace(kClientName, on_one_dispatcher(recv, request));
    establish(*server_, *client_);
  }
  // The server has received what the client sent, so that the client's completion is there or will be told to nobody.
  void take_at_server() { EXPECT_EQ(next_completion(server_->recv_evd).status, DAT_DTO_SUCCESS); }

  std::optional<Peer> server_;
  std::optional<Peer> client_;
};

TEST_F(EvdMixedStreams, UnsignalledRequestBesideReceivesThatNotify) {
  use(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG);
  ASSERT_THAT(server_->post_recv(0, 64), succeeds());
  ASSERT_THAT(client_->post_recv(0, 64, 2), succeeds());
  EvdWaiter waiter(client_->recv_evd);
  waiter.await_blocked();
  ASSERT_THAT(client_->post_send(0, 64, 1, DAT_COMPLETION_UNSIGNALLED_FLAG), succeeds());
  take_at_server();
  ASSERT_THAT(server_->post_send(0, 64), succeeds());
  expect_woken_by_second(waiter, client_->recv_evd, 1, 2);
}

TEST_F(EvdMixedStreams, EachRequestOfAnUnsignalledStreamChooses) {
  use(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG);
  ASSERT_THAT(server_->post_recv(0, 64), succeeds());
  ASSERT_THAT(server_->post_recv(0, 64), succeeds());
  EvdWaiter waiter(client_->recv_evd);
  waiter.await_blocked();
  ASSERT_THAT(client_->post_send(0, 64, 1, DAT_COMPLETION_UNSIGNALLED_FLAG), succeeds());
  take_at_server();
  ASSERT_THAT(client_->post_send(0, 64, 2), succeeds());
  expect_woken_by_second(waiter, client_->recv_evd, 1, 2);
}

// Verbs does not tell whether a receive was solicited, so there every one of such a mixture wakes.
TEST_F(EvdMixedStreams, UnsolicitedReceiveBesideRequestsThatNotify) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  use(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  ASSERT_THAT(client_->post_recv(0, 64, 1), succeeds());
  ASSERT_THAT(server_->post_recv(0, 64), succeeds());
  EvdWaiter waiter(client_->recv_evd);
  waiter.await_blocked();
  ASSERT_THAT(server_->post_send(0, 64), succeeds());
  next_completion(server_->request_evd);
  ASSERT_THAT(client_->post_send(0, 64, 2), succeeds());
  expect_woken_by_second(waiter, client_->recv_evd, 1, 2);
}

TEST_F(EvdMixedStreams, SolicitedReceiveBesideRequestsThatNotify) {
  use(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  ASSERT_THAT(client_->post_recv(0, 64, 1), succeeds());
  EvdWaiter waiter(client_->recv_evd);
  waiter.await_blocked();
  ASSERT_THAT(server_->post_send(0, 64, 0, DAT_COMPLETION_SOLICITED_WAIT_FLAG), succeeds());
  ASSERT_THAT(waiter.join(), succeeds());
  EXPECT_EQ(cookie_of(waiter.event()), 1u);
}

TEST_F(EvdMixedStreams, UnsignalledReceiveBesideRequestsThatNotify) {
  use(DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  ASSERT_THAT(client_->post_recv(0, 64, 1, DAT_COMPLETION_UNSIGNALLED_FLAG), succeeds());
  ASSERT_THAT(server_->post_recv(0, 64), succeeds());
  EvdWaiter waiter(client_->recv_evd);
  waiter.await_blocked();
  ASSERT_THAT(server_->post_send(0, 64), succeeds());
  next_completion(server_->request_evd);
  ASSERT_THAT(client_->post_send(0, 64, 2), succeeds());
  expect_woken_by_second(waiter, client_->recv_evd, 1, 2);
}

TEST_F(EvdMixedStreams, ConnectionEventsWakeTheWaiter) {
  for (const DAT_COMPLETION_FLAGS recv : {DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG}) {
    use(recv, DAT_COMPLETION_UNSIGNALLED_FLAG);
    EvdWaiter waiter(client_->connect_evd);
    waiter.await_blocked();
    ASSERT_THAT(dat_ep_disconnect(server_->ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
    ASSERT_THAT(waiter.join(), succeeds());
    EXPECT_EQ(waiter.event().event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
  }
}

TEST_F(EvdMixedStreams, TriggerTheCnoOnlyForWhatNotifies) {
  use(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG);
  const DAT_CNO_HANDLE cno = client_->adapter.make_cno();
  ASSERT_THAT(dat_evd_modify_cno(client_->recv_evd, cno), succeeds());
  ASSERT_THAT(server_->post_recv(0, 64), succeeds());
  ASSERT_THAT(client_->post_recv(0, 64, 2), succeeds());
  ASSERT_THAT(client_->post_send(0, 64, 1, DAT_COMPLETION_UNSIGNALLED_FLAG), succeeds());
  take_at_server();
  DAT_EVD_HANDLE triggered = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_cno_wait(cno, kShortWait, &triggered), is_empty_queue());
  ASSERT_THAT(server_->post_send(0, 64), succeeds());
  ASSERT_THAT(dat_cno_wait(cno, kPatience, &triggered), succeeds());
  EXPECT_EQ(triggered, client_->recv_evd);
  EXPECT_EQ(next_completion(triggered).user_cookie.as_64, 1u);
  EXPECT_EQ(next_completion(triggered).user_cookie.as_64, 2u);
}

// The endpoints of one dispatcher may differ too.
TEST_F(EvdMixedStreams, ThresholdMustBeOneWhileOneOfThemIsControlled) {
  Peer peer(kServerName);
  DAT_EVENT event;
  DAT_COUNT more;
  EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 2, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
  for (const DAT_COMPLETION_FLAGS flags : {DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG}) {
    DAT_EP_ATTR attributes = default_attributes();
    attributes.recv_completion_flags = flags;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    ASSERT_THAT(dat_ep_create(peer.adapter.handle(), peer.pz, peer.recv_evd, peer.request_evd, peer.connect_evd,
                              &attributes, &ep),
                succeeds());
    const bool is_unsignalled = flags == DAT_COMPLETION_UNSIGNALLED_FLAG;
    EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 2, &event, &more),
                fails_with(DAT_INVALID_STATE, is_unsignalled ? DAT_INVALID_STATE_EVD_CONFIG_NOTIFY
                                                             : DAT_INVALID_STATE_EVD_CONFIG_SOLICITED));
    EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 1, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
    ASSERT_THAT(dat_ep_free(ep), succeeds());
    EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 2, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
  }
}

TEST_F(EvdMixedStreams, ModifyMakesOneOfThemControlledAndBack) {
  Peer peer(kServerName);
  DAT_EP_HANDLE other = DAT_HANDLE_NULL;
  ASSERT_THAT(
      dat_ep_create(peer.adapter.handle(), peer.pz, peer.recv_evd, peer.request_evd, peer.connect_evd, nullptr, &other),
      succeeds());
  DAT_EVENT event;
  DAT_COUNT more;
  DAT_EP_PARAM change{};
  change.ep_attr = default_attributes();
  for (const DAT_COMPLETION_FLAGS flags : {DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG}) {
    change.ep_attr.recv_completion_flags = flags;
    ASSERT_THAT(dat_ep_modify(peer.ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &change), succeeds());
    EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 2, &event, &more), fails_with(DAT_INVALID_STATE));
  }
  change.ep_attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
  ASSERT_THAT(dat_ep_modify(peer.ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &change), succeeds());
  EXPECT_THAT(dat_evd_wait(peer.recv_evd, 0, 2, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
}

// Completions and other events have room apart, and a refused resize leaves both as they were.
TEST_F(EvdMixedStreams, ARefusedResizeTakesNoRoomAndNoMemory) {
  if (const Lack lack = lack_of_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  constexpr DAT_COUNT kLength = 64;
  constexpr int kCompletions = 20;
  server_.emplace(kServerName);
  PeerOptions options;
  options.queue_length = kLength;
  client_.emplace(kClientName, options);
  Adapter& adapter = client_->adapter;
  client_->request_evd = adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, kLength);
  client_->renew_endpoint();
  establish(*server_, *client_);
  for (int i = 0; i < kCompletions; ++i) {
    ASSERT_THAT(server_->post_recv(0, 64), succeeds());
    ASSERT_THAT(client_->post_send(0, 64), succeeds());
    take_at_server();
  }
  ASSERT_TRUE(eventually([&] {
    DAT_EVENT event;
    DAT_COUNT waiting = 0;
    return dat_evd_wait(client_->request_evd, 0, kLength, &event, &waiting) != DAT_SUCCESS && waiting == kCompletions;
  }));
  DAT_EVD_PARAM param{};
  for (int count = 0; count < 8; ++count) {
    DAT_RETURN result;
    {
      const MemoryShortage shortage(count);
      result = dat_evd_resize(client_->request_evd, kCompletions / 2);
    }
    EXPECT_NE(result, DAT_SUCCESS) << count;
  }
  ASSERT_THAT(dat_evd_query(client_->request_evd, DAT_EVD_FIELD_EVD_QLEN, &param), succeeds());
  ASSERT_GE(param.evd_qlen, kLength);
  for (DAT_COUNT i = 0; i < param.evd_qlen; ++i) {
    post_software_event(client_->request_evd, static_cast<std::uintptr_t>(i));
  }
  EXPECT_EQ(drain(client_->request_evd), kCompletions + param.evd_qlen);
}

// Also while the sanitizer watches, which takes what is left in a dispatcher that ends.
TEST_F(EvdMixedStreams, ARefusedFreeTakesNoEvents) {
  server_.emplace(kServerName);
  client_.emplace(kClientName, on_one_dispatcher(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
  ASSERT_THAT(client_->connect(*server_, server_->listen()), succeeds());
  ASSERT_THAT(dat_cr_accept(server_->next_request(), server_->ep, 0, nullptr), succeeds());
  next_event(server_->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  DAT_EVENT event;
  DAT_COUNT waiting = 0;
  ASSERT_TRUE(eventually(
      [&] { return dat_evd_wait(client_->recv_evd, 0, 2, &event, &waiting) != DAT_SUCCESS && waiting == 1; }));
  EXPECT_THAT(dat_evd_free(client_->recv_evd), fails_with(DAT_INVALID_STATE));
  next_event(client_->recv_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
}

}  // namespace
}  // namespace softdat::conformance
