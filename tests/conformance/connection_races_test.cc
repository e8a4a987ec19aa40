// SPDX-License-Identifier: BSD-2-Clause
// Connections, endpoints and service points in the hands of many threads at once. What each call answers depends on who
// comes first; that every answer is one of those documented, that nothing is lost for good, and that everything can be
// freed afterwards does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

// Runs each body in a thread of its own until all have ended.
void race(const std::vector<std::function<void()>>& bodies) {
  std::vector<std::thread> threads;
  threads.reserve(bodies.size());
  std::atomic<std::size_t> ready{0};
  for (const auto& body : bodies) {
    threads.emplace_back([&] {
      ready.fetch_add(1);
      while (ready.load() < bodies.size()) std::this_thread::yield();
      body();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

testing::Matcher<DAT_RETURN> succeeds_or_fails_with(DAT_RETURN_TYPE type) {
  return testing::AnyOf(succeeds(), fails_with(type));
}

constexpr int kRounds = 30;

// Of requests that nobody answers: a device may let go of them after 10 s only (docs/BACKENDS.md).
int unanswered_rounds() {
  return is_simulated() ? kRounds : 4;
}

class ConnectionRaces : public testing::Test {
 protected:
  Peer server_{kServerName};
  Peer client_{kClientName};
};

// Whoever frees first wins; nobody else finds more than a dead handle or another state.
TEST_F(ConnectionRaces, ConnectDisconnectResetAndFreeOfOneEndpoint) {
  const DAT_CONN_QUAL qualifier = server_.listen();
  for (int round = 0; round < unanswered_rounds(); ++round) {
    const DAT_EP_HANDLE ep = client_.ep;
    std::atomic<int> freed{0};
    const auto free_it = [&] { freed += dat_ep_free(ep) == DAT_SUCCESS ? 1 : 0; };
    race({[&] { EXPECT_THAT(client_.connect(server_, qualifier), succeeds_or_fails_with(DAT_INVALID_HANDLE)); },
          [&] {
            EXPECT_THAT(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG),
                        testing::AnyOf(succeeds(), fails_with(DAT_INVALID_STATE), fails_with(DAT_INVALID_HANDLE)));
          },
          [&] {
            EXPECT_THAT(dat_ep_reset(ep),
                        testing::AnyOf(succeeds(), fails_with(DAT_INVALID_STATE), fails_with(DAT_INVALID_HANDLE)));
          },
          free_it, free_it});
    EXPECT_EQ(freed.load(), 1);
    drain(client_.connect_evd);
    client_.ep = DAT_HANDLE_NULL;
    client_.renew_endpoint();
  }
  // Requests of the dead are still there to be answered.
  while (const auto event = take_event(server_.cr_evd)) {
    EXPECT_THAT(reject_cr(event->event_data.cr_arrival_event_data.cr_handle), succeeds());
  }
}

// One thread's accept counts, whatever the others do with the same request.
TEST_F(ConnectionRaces, AcceptRejectHandOffAndQueryOfOneRequest) {
  Peer other(kServerName);
  const DAT_CONN_QUAL qualifier = server_.listen();
  const DAT_CONN_QUAL elsewhere = other.listen();
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_THAT(client_.connect(server_, qualifier), succeeds());
    const DAT_CR_HANDLE cr = server_.next_request();
    std::atomic<int> answers{0};
    const auto count = [&](DAT_RETURN result) {
      answers += result == DAT_SUCCESS ? 1 : 0;
      EXPECT_THAT(result, succeeds_or_fails_with(DAT_INVALID_HANDLE));
    };
    race({[&] { count(dat_cr_accept(cr, server_.ep, 0, nullptr)); }, [&] { count(reject_cr(cr)); },
          [&] { count(dat_cr_handoff(cr, elsewhere)); },
          [&] {
            DAT_CR_PARAM param{};
            EXPECT_THAT(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), succeeds_or_fails_with(DAT_INVALID_HANDLE));
          }});
    EXPECT_EQ(answers.load(), 1);
    // Handed off, it is answered there.
    ASSERT_TRUE(eventually([&] {
      if (const auto event = take_event(other.cr_evd)) {
        EXPECT_THAT(reject_cr(event->event_data.cr_arrival_event_data.cr_handle), succeeds());
        return true;
      }
      return client_.state() != DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
    }));
    const DAT_EVENT outcome = next_event(client_.connect_evd);
    EXPECT_THAT(outcome.event_number,
                testing::AnyOf(DAT_CONNECTION_EVENT_ESTABLISHED, DAT_CONNECTION_EVENT_PEER_REJECTED));
    for (Peer* peer : {&server_, &client_}) {
      peer->renew_endpoint();
      drain(peer->connect_evd);
    }
  }
}

// Service points come and go while peers ask for them: each is refused or announced, and nothing waits for ever.
TEST_F(ConnectionRaces, ServicePointsComeAndGoUnderRequests) {
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  std::atomic<bool> is_over{false};
  race({[&] {
          for (int round = 0; round < kRounds; ++round) {
            DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
            ASSERT_THAT(dat_psp_create(server_.adapter.handle(), qualifier, server_.cr_evd,
                                       round % 2 == 0 ? DAT_PSP_CONSUMER_FLAG : DAT_PSP_PROVIDER_FLAG, &psp),
                        succeeds());
            while (const auto event = take_event(server_.cr_evd)) {
              EXPECT_THAT(reject_cr(event->event_data.cr_arrival_event_data.cr_handle), succeeds());
            }
            ASSERT_THAT(dat_psp_free(psp), succeeds());
          }
          is_over = true;
          // Whoever was announced last still gets an answer.
          ASSERT_TRUE(eventually([&] {
            while (const auto event = take_event(server_.cr_evd)) {
              EXPECT_THAT(reject_cr(event->event_data.cr_arrival_event_data.cr_handle), succeeds());
            }
            return client_.state() != DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
          }));
        },
        [&] {
          // A device may drop what came as its listener went, and give no answer at all.
          const auto silence =
              is_simulated() ? DAT_CONNECTION_EVENT_NON_PEER_REJECTED : DAT_CONNECTION_EVENT_UNREACHABLE;
          while (!is_over) {
            ASSERT_THAT(client_.connect(server_, qualifier), succeeds());
            const DAT_EVENT event = next_event(client_.connect_evd);
            EXPECT_THAT(event.event_number, testing::AnyOf(DAT_CONNECTION_EVENT_NON_PEER_REJECTED,
                                                           DAT_CONNECTION_EVENT_PEER_REJECTED, silence));
            ASSERT_THAT(dat_ep_reset(client_.ep), succeeds());
          }
        }});
}

// dat_ep_modify beside posts: every receive that was taken completes once, on one of the two dispatchers.
TEST_F(ConnectionRaces, ModifyMovesReceivesWhileOthersArePosted) {
  const DAT_EVD_HANDLE evds[] = {server_.recv_evd, server_.adapter.make_evd(DAT_EVD_DTO_FLAG)};
  std::atomic<int> posted{0};
  race({[&] {
          DAT_EP_PARAM param{};
          require(dat_ep_query(server_.ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
          for (int round = 1; round <= 20; ++round) {
            param.recv_evd_handle = evds[round % 2];
            EXPECT_THAT(dat_ep_modify(server_.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param),
                        succeeds_or_fails_with(DAT_INSUFFICIENT_RESOURCES));
          }
        },
        [&] {
          for (int i = 0; i < 24; ++i) posted += server_.post_recv(0, 64, 1) == DAT_SUCCESS ? 1 : 0;
        }});
  // A device may change the endpoint for so long that it has taken none yet.
  ASSERT_THAT(server_.post_recv(0, 64, 1), succeeds());
  ++posted;
  establish(server_, client_);
  ASSERT_THAT(dat_ep_disconnect(server_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  EXPECT_EQ(drain(evds[0]) + drain(evds[1]), posted.load());
}

// Both sides disconnect, reset and connect anew from two threads each, while a third asks for everything.
TEST_F(ConnectionRaces, DisconnectsFromAllSidesAreHeardOnce) {
  for (int round = 0; round < kRounds; ++round) {
    establish(server_, client_);
    const auto disconnect = [&](Peer& peer, DAT_CLOSE_FLAGS flags) {
      return [&peer, flags] { EXPECT_THAT(dat_ep_disconnect(peer.ep, flags), succeeds()); };
    };
    race({disconnect(server_, DAT_CLOSE_ABRUPT_FLAG), disconnect(server_, DAT_CLOSE_GRACEFUL_FLAG),
          disconnect(client_, DAT_CLOSE_ABRUPT_FLAG), disconnect(client_, DAT_CLOSE_GRACEFUL_FLAG), [&] {
            DAT_EP_PARAM param{};
            EXPECT_THAT(dat_ep_query(client_.ep, DAT_EP_FIELD_ALL, &param), succeeds());
            EXPECT_THAT(dat_ep_get_status(server_.ep, nullptr, nullptr, nullptr), succeeds());
          }});
    for (Peer* peer : {&server_, &client_}) {
      next_event(peer->connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
      EXPECT_TRUE(is_quiet(peer->connect_evd));
      ASSERT_THAT(dat_ep_reset(peer->ep), succeeds());
    }
  }
}

// A client that leaves as soon as it is connected, by each way out, while the server is still in dat_cr_accept: the
// server's dispatcher has the request, the beginning and the end in this order, and nothing between.
TEST_F(ConnectionRaces, NoEndOvertakesTheBeginningOfAPeerThatLeavesAtOnce) {
  const DAT_CONN_QUAL qualifier = server_.listen();
  for (int round = 0; round < 4 * kRounds; ++round) {
    ASSERT_THAT(client_.connect(server_, qualifier), succeeds());
    const DAT_CR_HANDLE cr = server_.next_request();
    race({[&] { EXPECT_THAT(dat_cr_accept(cr, server_.ep, 0, nullptr), succeeds()); },
          [&] {
            const DAT_EVENT first = next_event(client_.connect_evd);
            EXPECT_EQ(first.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
            if (round % 3 == 2) return client_.renew_endpoint();
            const auto flags = round % 3 == 0 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG;
            EXPECT_THAT(dat_ep_disconnect(client_.ep, flags), succeeds());
            next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
          }});
    next_event(server_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    next_event(server_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_TRUE(is_quiet(server_.connect_evd));
    for (Peer* peer : {&server_, &client_}) ASSERT_THAT(dat_ep_reset(peer->ep), succeeds());
  }
}

// The adapter goes while its endpoints connect.
TEST_F(ConnectionRaces, ClosingTheAdapterWhileItsEndpointsConnect) {
  const DAT_CONN_QUAL qualifier = server_.listen();
  for (int round = 0; round < std::min(10, unanswered_rounds()); ++round) {
    Peer leaving(kClientName);
    const DAT_IA_HANDLE ia = leaving.adapter.handle();
    race({[&] { EXPECT_THAT(leaving.connect(server_, qualifier), succeeds_or_fails_with(DAT_INVALID_HANDLE)); },
          [&] { EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), succeeds()); }});
    leaving.adapter.release();
  }
  server_.stop_listening();  // or one of theirs may yet come, and be taken for the next
  while (const auto event = take_event(server_.cr_evd)) {
    static_cast<void>(reject_cr(event->event_data.cr_arrival_event_data.cr_handle));
  }
  establish(server_, client_);
  expect_conversation(server_, client_);
}

}  // namespace
}  // namespace softdat::conformance
