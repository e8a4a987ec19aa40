// SPDX-License-Identifier: BSD-2-Clause
// dat_evd_dequeue, sentence by sentence, and what both it and dat_evd_wait promise about the data
// of connection events (docs/CONFORMANCE.md).
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/conformance/jump_out.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

class EvdDequeue : public testing::Test {
 protected:
  Adapter adapter_;
  DAT_EVD_HANDLE evd_ = adapter_.make_software_evd(8);
  DAT_EVENT event_{};
};

TEST_F(EvdDequeue, TakesTheFirstEventOfTheQueue) {
  post_software_event(evd_, 1);
  post_software_event(evd_, 2);
  ASSERT_THAT(dat_evd_dequeue(evd_, &event_), succeeds());
  EXPECT_EQ(software_value(event_), 1u);
  ASSERT_THAT(dat_evd_dequeue(evd_, &event_), succeeds());
  EXPECT_EQ(software_value(event_), 2u);
}

TEST_F(EvdDequeue, FillsEveryFieldOfTheEvent) {
  std::memset(&event_, 0x5a, sizeof event_);
  post_software_event(evd_, 3);
  ASSERT_THAT(dat_evd_dequeue(evd_, &event_), succeeds());
  EXPECT_EQ(event_.event_number, DAT_SOFTWARE_EVENT);
  EXPECT_EQ(event_.evd_handle, evd_);
}

TEST_F(EvdDequeue, EmptyQueueSaysSoForEveryKindOfStream) {
  EXPECT_THAT(dat_evd_dequeue(evd_, &event_), is_empty_queue());
  for (const int flags : {DAT_EVD_DTO_FLAG, DAT_EVD_CR_FLAG, DAT_EVD_CONNECTION_FLAG, DAT_EVD_RMR_BIND_FLAG})
    EXPECT_THAT(dat_evd_dequeue(adapter_.make_evd(flags), &event_), is_empty_queue());
  EXPECT_THAT(dat_evd_dequeue(adapter_.async_evd(), &event_), is_empty_queue());
}

TEST_F(EvdDequeue, WaiterExcludesDequeuing) {
  EvdWaiter waiter(evd_);
  waiter.await_blocked();
  EXPECT_THAT(dat_evd_dequeue(evd_, &event_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER));
  post_software_event(evd_, 4);
  EXPECT_THAT(waiter.join(), succeeds());
}

TEST_F(EvdDequeue, IsLeftByAHandlerWhenTheEventCannotBeWritten) {
  if (std::getenv("SOFTDAT_SANITIZE") != nullptr) GTEST_SKIP() << "the sanitizer has the EVD pinned while it writes";
  ConnectedPair pair;
  ASSERT_THAT(pair.client.post_recv(0, 8), succeeds());
  ASSERT_THAT(pair.server.post_send(0, 8), succeeds());
  jump_out_of([&](void* nowhere) {
    while (DAT_GET_TYPE(dat_evd_dequeue(pair.client.recv_evd, static_cast<DAT_EVENT*>(nowhere))) == DAT_QUEUE_EMPTY) {
    }
  });
  EXPECT_THAT(dat_evd_dequeue(pair.client.recv_evd, &event_), is_empty_queue());
  expect_conversation(pair.server, pair.client);
}

TEST_F(EvdDequeue, NullEventIsInvalidAndTakesNothing) {
  post_software_event(evd_, 5);
  EXPECT_THAT(dat_evd_dequeue(evd_, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_TRUE(take_event(evd_).has_value());
}

TEST_F(EvdDequeue, FreedDispatcherIsAnInvalidHandle) {
  ASSERT_THAT(dat_evd_free(evd_), succeeds());
  EXPECT_THAT(dat_evd_dequeue(evd_, &event_), fails_with(DAT_INVALID_HANDLE, kEvdSubtype));
}

TEST_F(EvdDequeue, WorksOnDisabledAndUnwaitableDispatchers) {
  ASSERT_THAT(dat_evd_disable(evd_), succeeds());
  ASSERT_THAT(dat_evd_set_unwaitable(evd_), succeeds());
  post_software_event(evd_, 6);
  EXPECT_THAT(dat_evd_dequeue(evd_, &event_), succeeds());
}

class ConnectionEvents : public testing::Test {
 protected:
  // The client asks with `question`; returns the server's request event.
  DAT_CR_ARRIVAL_EVENT_DATA ask(const std::string& question) {
    qualifier_ = server_.listen();
    require(client_.connect(server_, qualifier_, question), "dat_ep_connect");
    return next_event(server_.cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  }

  DAT_RETURN accept(DAT_CR_HANDLE cr, std::string answer) {
    return dat_cr_accept(cr, server_.ep, static_cast<DAT_COUNT>(answer.size()), answer.data());
  }

  static std::string text_of(const DAT_CONNECTION_EVENT_DATA& data) {
    return {static_cast<const char*>(data.private_data), static_cast<std::size_t>(data.private_data_size)};
  }

  DAT_CONNECTION_EVENT_DATA established(Peer& peer) {
    return next_event(peer.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED).event_data.connect_event_data;
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  DAT_CONN_QUAL qualifier_ = 0;
};

// The request that arrives is an object of its own: queryable, of type CR, with what the event says.
TEST_F(ConnectionEvents, RequestEventCarriesALiveConnectionRequest) {
  const auto arrival = ask("hello");
  DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_IA;
  EXPECT_THAT(dat_get_handle_type(arrival.cr_handle, &type), succeeds());
  EXPECT_EQ(type, DAT_HANDLE_TYPE_CR);
  EXPECT_EQ(arrival.conn_qual, qualifier_);
  EXPECT_EQ(arrival.sp_handle.psp_handle, server_.psp);
  EXPECT_NE(arrival.local_ia_address_ptr, nullptr);
}

TEST_F(ConnectionEvents, AcceptingDestroysTheConnectionRequest) {
  const auto arrival = ask("");
  ASSERT_THAT(accept(arrival.cr_handle, ""), succeeds());
  DAT_CR_PARAM param;
  EXPECT_THAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &param),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
  EXPECT_THAT(accept(arrival.cr_handle, ""), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
}

TEST_F(ConnectionEvents, RejectingDestroysTheConnectionRequest) {
  const auto arrival = ask("");
  ASSERT_THAT(reject_cr(arrival.cr_handle), succeeds());
  DAT_CR_PARAM param;
  EXPECT_THAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &param),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
  EXPECT_THAT(reject_cr(arrival.cr_handle), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
}

TEST_F(ConnectionEvents, ActiveSideGetsTheAnswersPrivateData) {
  const auto arrival = ask("question");
  ASSERT_THAT(accept(arrival.cr_handle, "the answer"), succeeds());
  const auto data = established(client_);
  EXPECT_EQ(data.ep_handle, client_.ep);
  EXPECT_EQ(text_of(data), "the answer");
}

TEST_F(ConnectionEvents, PassiveSidesPrivateDataSizeIsZero) {
  const auto arrival = ask("question");
  ASSERT_THAT(accept(arrival.cr_handle, "the answer"), succeeds());
  const auto data = established(server_);
  EXPECT_EQ(data.ep_handle, server_.ep);
  EXPECT_EQ(data.private_data_size, 0);
}

// The provider keeps the active side's private data while the endpoint is connected and after the
// disconnect, until it is reset or freed.
TEST_F(ConnectionEvents, PrivateDataLivesUntilTheEndpointIsReset) {
  const auto arrival = ask("question");
  ASSERT_THAT(accept(arrival.cr_handle, "kept for long"), succeeds());
  const auto data = established(client_);
  established(server_);
  EXPECT_EQ(text_of(data), "kept for long");
  expect_conversation(server_, client_);
  EXPECT_EQ(text_of(data), "kept for long");
  ASSERT_THAT(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(text_of(data), "kept for long");
}

// All of the private data is passed, up to the provider's limit and both ways.
TEST_F(ConnectionEvents, PrivateDataIsPassedWhole) {
  const auto limit = static_cast<std::size_t>(client_.adapter.max_private_data());
  ASSERT_GE(limit, static_cast<std::size_t>(least_private_data()));
  std::string question(limit, '\0');
  std::string answer(limit, '\0');
  for (std::size_t i = 0; i < limit; ++i) {
    question[i] = static_cast<char>(i + 1);
    answer[i] = static_cast<char>(255 - i);
  }
  const auto arrival = ask(question);
  DAT_CR_PARAM param{};
  ASSERT_THAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &param), succeeds());
  ASSERT_EQ(static_cast<std::size_t>(param.private_data_size), limit);
  EXPECT_EQ(std::memcmp(param.private_data, question.data(), limit), 0);
  ASSERT_THAT(accept(arrival.cr_handle, answer), succeeds());
  EXPECT_EQ(text_of(established(client_)), answer);
}

TEST_F(ConnectionEvents, PrivateDataBeyondTheLimitIsInvalidAndChangesNothing) {
  const std::string too_long(static_cast<std::size_t>(client_.adapter.max_private_data()) + 1, 'x');
  EXPECT_THAT(client_.connect(server_, 1, too_long), fails_with(DAT_INVALID_PARAMETER));
  EXPECT_EQ(client_.state(), DAT_EP_STATE_UNCONNECTED);
  const auto arrival = ask("fits");
  EXPECT_THAT(accept(arrival.cr_handle, too_long), fails_with(DAT_INVALID_PARAMETER));
  EXPECT_EQ(server_.state(), DAT_EP_STATE_UNCONNECTED);
  ASSERT_THAT(accept(arrival.cr_handle, "fits too"), succeeds());
  EXPECT_EQ(text_of(established(client_)), "fits too");
}

}  // namespace
}  // namespace softdat::conformance
