// SPDX-License-Identifier: BSD-2-Clause
// Memory that runs out for all threads at once, those of the adapters too, at any moment of what they do for a
// consumer. Whoever asked for something hears how it ended, and with memory all is well again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string_view>
#include <thread>

#include "tests/conformance/lacks.h"
#include "tests/conformance/memory_shortage.h"
#include "tests/conformance/peer.h"
#if SOFTDAT_DAT_MAJOR == 2
#include <dat2/dat_ib_extensions.h>
#endif

namespace softdat::conformance {
namespace {

constexpr int kMostAllocations = 300;
constexpr auto kMoment = std::chrono::milliseconds(20);

// Asks until the answer is yes or a moment has passed; takes no memory itself.
template <typename Condition>
bool soon(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kMoment;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class ShortageEverywhere : public testing::Test {
 protected:
  // A client and a server that know of no shortage yet.
  void begin(const PeerOptions& options) {
    server_.emplace(kServerName, options);
    client_.emplace(kClientName, options);
    address_ = server_->adapter.address();  // asking for it takes memory
    qualifier_ = server_->listen();
    require(server_->post_recv(0, 256), "dat_ep_post_recv");
  }

  void end() {
    client_.reset();
    server_.reset();
  }

  bool ask() {
    return dat_ep_connect(client_->ep, address_, qualifier_, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG) == DAT_SUCCESS;
  }

  // Whether the request has come and has been accepted.
  bool answer() {
    DAT_EVENT event{};
    if (!soon([&] { return dat_evd_dequeue(server_->cr_evd, &event) == DAT_SUCCESS; })) return false;
    cr_ = event.event_data.cr_arrival_event_data.cr_handle;
    return dat_cr_accept(cr_, server_->ep, 0, nullptr) == DAT_SUCCESS;
  }

  // How the request ended: requests that nobody has accepted are refused meanwhile.
  DAT_EVENT next_outcome() {
    static_cast<void>(reject_cr(cr_));
    std::optional<DAT_EVENT> outcome;
    const bool has_come = eventually([&] {
      if (const auto late = take_event(server_->cr_evd)) {
        static_cast<void>(reject_cr(late->event_data.cr_arrival_event_data.cr_handle));
      }
      outcome = take_event(client_->connect_evd);
      return outcome.has_value();
    });
    require(has_come ? DAT_SUCCESS : DAT_TIMEOUT_EXPIRED, "an outcome");
    return *outcome;
  }

  // New endpoints, and nothing left of what was.
  void start_afresh() {
    for (Peer* peer : {&*server_, &*client_}) {
      peer->renew_endpoint();
      for (const DAT_EVD_HANDLE evd : {peer->recv_evd, peer->request_evd, peer->connect_evd, peer->cr_evd}) drain(evd);
    }
  }

  void ask_afresh() { require(client_->connect(*server_, qualifier_, kAfresh), "dat_ep_connect"); }
  // The request of ask_afresh(). One that was made during the shortage may arrive only now.
  DAT_CR_HANDLE next_fresh_request() {
    for (;;) {
      const DAT_CR_HANDLE cr = server_->next_request();
      DAT_CR_PARAM param{};
      require(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), "dat_cr_query");
      const std::string_view said(static_cast<const char*>(param.private_data),
                                  static_cast<std::size_t>(param.private_data_size));
      if (said.starts_with(kAfresh)) return cr;
      static_cast<void>(reject_cr(cr));
    }
  }

  static constexpr std::string_view kAfresh = "after the shortage";
  std::optional<Peer> server_;
  std::optional<Peer> client_;
  DAT_IA_ADDRESS_PTR address_ = nullptr;
  DAT_CONN_QUAL qualifier_ = 0;
  DAT_CR_HANDLE cr_ = DAT_HANDLE_NULL;
};

TEST_F(ShortageEverywhere, CostsTheConnectionAtMost) {
  for (int count = 0; count < kMostAllocations; ++count) {
    begin({});
    bool has_asked = false, was_felt = false;
    {
      const GeneralShortage shortage(count);
      has_asked = ask();
      if (has_asked && answer()) {
        soon([&] {
          DAT_EVENT event{};
          DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
          static_cast<void>(dat_evd_dequeue(client_->request_evd, &event));  // moves things on
          return dat_ep_get_status(client_->ep, &state, nullptr, nullptr) == DAT_SUCCESS &&
                 state != DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
        });
        static_cast<void>(client_->post_send(0, 64));
        static_cast<void>(dat_ep_disconnect(client_->ep, DAT_CLOSE_GRACEFUL_FLAG));
      }
      was_felt = shortage.was_felt();
    }
    if (has_asked) {
      const auto outcome = next_outcome().event_number;
      EXPECT_NE(outcome, DAT_CONNECTION_EVENT_TIMED_OUT) << count;
      if (outcome == DAT_CONNECTION_EVENT_ESTABLISHED) next_event(client_->connect_evd);
    }
    start_afresh();
    ask_afresh();
    require(dat_cr_accept(next_fresh_request(), server_->ep, 0, nullptr), "dat_cr_accept");
    next_event(client_->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    next_event(server_->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    expect_conversation(*server_, *client_);
    end();
    if (!was_felt) return;
  }
  ADD_FAILURE() << "there was never memory enough";
}

// An endpoint of the provider's comes with each request, or the request does not come.
TEST_F(ShortageEverywhere, CostsTheRequestForAProvidersEndpointAtMost) {
  for (int count = 0; count < kMostAllocations; ++count) {
    begin({});
    server_->stop_listening();
    require(
        dat_psp_create(server_->adapter.handle(), qualifier_, server_->cr_evd, DAT_PSP_PROVIDER_FLAG, &server_->psp),
        "dat_psp_create");
    bool has_asked = false, was_felt = false;
    DAT_EVENT event{};
    {
      const GeneralShortage shortage(count);
      has_asked = ask();
      if (has_asked) soon([&] { return dat_evd_dequeue(server_->cr_evd, &event) == DAT_SUCCESS; });
      was_felt = shortage.was_felt();
    }
    cr_ = event.event_data.cr_arrival_event_data.cr_handle;
    if (has_asked) {
      EXPECT_NE(next_outcome().event_number, DAT_CONNECTION_EVENT_TIMED_OUT) << count;
    }
    start_afresh();
    ask_afresh();
    EXPECT_THAT(reject_cr(next_fresh_request()), succeeds());
    next_event(client_->connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
    end();
    if (!was_felt) return;
  }
  ADD_FAILURE() << "there was never memory enough";
}

#if SOFTDAT_DAT_MAJOR == 2

const DAT_IB_EXTENSION_EVENT_DATA& extension_of(const DAT_EVENT& event) {
  return reinterpret_cast<const DAT_IB_EXTENSION_EVENT_DATA&>(event.event_extension_data);
}

class ShortageOfDatagrams : public ShortageEverywhere {
 protected:
  static constexpr auto kEstablished = static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED);
  static PeerOptions options() {
    PeerOptions options;
    options.attributes = default_attributes();
    options.attributes->service_type = static_cast<DAT_SERVICE_TYPE>(DAT_IB_SERVICE_TYPE_UD);
    return options;
  }

  DAT_RETURN send_to(const DAT_EVENT& established) {
    DAT_LMR_TRIPLET local = client_->memory->local(0, 64);
    DAT_IB_ADDR_HANDLE to = extension_of(established).remote_ah;
    return dat_ib_post_send_ud(client_->ep, 1, &local, &to, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG);
  }
};

TEST_F(ShortageOfDatagrams, LosesThemAndTheirExchangesAtMost) {
  if (const Lack lack = lack_of_datagrams(); !lack.empty()) GTEST_SKIP() << lack;
  for (int count = 0; count < kMostAllocations; ++count) {
    begin(options());
    bool has_asked = false, was_felt = false, is_established = false;
    DAT_EVENT event{};
    {
      const GeneralShortage shortage(count);
      has_asked = ask();
      const bool has_outcome =
          has_asked && answer() && soon([&] { return dat_evd_dequeue(client_->connect_evd, &event) == DAT_SUCCESS; });
      is_established = has_outcome && event.event_number == kEstablished;
      if (is_established && send_to(event) == DAT_SUCCESS) {
        DAT_EVENT arrival{};
        soon([&] { return dat_evd_dequeue(server_->recv_evd, &arrival) == DAT_SUCCESS; });
      }
      was_felt = shortage.was_felt();
      if (has_outcome) has_asked = false;
    }
    if (has_asked) static_cast<void>(next_outcome());
    start_afresh();
    require(client_->connect(*server_, qualifier_), "dat_ep_connect");
    const DAT_EVENT request = next_event(server_->cr_evd);
    require(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, server_->ep, 0, nullptr),
            "dat_cr_accept");
    event = next_event(client_->connect_evd, kEstablished);
    next_event(server_->connect_evd, kEstablished);
    require(server_->post_recv(0, 256), "dat_ep_post_recv");
    require(send_to(event), "dat_ib_post_send_ud");
    next_event(server_->recv_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT));
    end();
    if (!was_felt) return;
  }
  ADD_FAILURE() << "there was never memory enough";
}

#endif

}  // namespace
}  // namespace softdat::conformance
