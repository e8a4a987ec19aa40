// SPDX-License-Identifier: BSD-2-Clause
// Several adapters, and several openings of one, in one process.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <list>
#include <set>
#include <string>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

std::uint32_t ipv4_of(DAT_IA_ADDRESS_PTR address) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

void connect(Peer& server, Peer& client) {
  require(client.connect(server, server.listen()), "dat_ep_connect");
  require(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), "dat_cr_accept");
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
}

TEST(Adapters, EachNameHasAnAddressOfItsOwn) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  std::set<std::uint32_t> addresses;
  std::list<Adapter> adapters;
  for (const char* name : {"sim0", "sim1", "sim2", "sim3"}) {
    adapters.emplace_back(name);
    EXPECT_TRUE(addresses.insert(ipv4_of(adapters.back().address())).second) << name;
  }
}

// The same qualifier on another address is another service point.
TEST(Adapters, QualifiersBelongToAnAddress) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  Peer first("sim0");
  Peer second("sim1");
  Peer client("sim2");
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  first.adapter.make_psp(qualifier, first.cr_evd);
  second.adapter.make_psp(qualifier, second.cr_evd);
  ASSERT_THAT(client.connect(second, qualifier), succeeds());
  EXPECT_EQ(next_event(second.cr_evd).event_number, DAT_CONNECTION_REQUEST_EVENT);
  EXPECT_TRUE(is_quiet(first.cr_evd));
}

TEST(Adapters, EveryPairOfAdaptersConnects) {
  std::list<Peer> peers;
  for (const char* server_name : {"sim0", "sim1", "sim2"}) {
    for (const char* client_name : {"sim0", "sim1", "sim2"}) {
      Peer& server = peers.emplace_back(server_name);
      Peer& client = peers.emplace_back(client_name);
      connect(server, client);
      expect_conversation(server, client);
      DAT_EP_PARAM param{};
      require(dat_ep_query(server.ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
      EXPECT_EQ(ipv4_of(param.remote_ia_address_ptr), ipv4_of(client.adapter.address()));
      EXPECT_EQ(ipv4_of(param.local_ia_address_ptr), ipv4_of(server.adapter.address()));
    }
  }
  // All of them at once, still.
  for (auto server = peers.begin(); server != peers.end(); std::advance(server, 2)) {
    expect_conversation(*server, *std::next(server));
  }
}

TEST(Adapters, OneOpeningGoesAndTheOthersStay) {
  Peer server("sim0");
  Peer client("sim0");
  {
    Peer leaving("sim0");
    connect(leaving, client);
  }
  next_event(client.connect_evd);
  require(dat_ep_reset(client.ep), "dat_ep_reset");
  connect(server, client);
  expect_conversation(server, client);
}

// An endpoint connects to another of the very same opening, and the two can be told apart.
TEST(Adapters, OneOpeningConnectsToItself) {
  Peer self("sim0");
  DAT_EP_HANDLE other = DAT_HANDLE_NULL;
  const DAT_EVD_HANDLE evd = self.adapter.make_evd(DAT_EVD_CONNECTION_FLAG);
  require(dat_ep_create(self.adapter.handle(), self.pz, self.recv_evd, self.request_evd, evd, nullptr, &other),
          "dat_ep_create");
  ASSERT_THAT(self.connect(self, self.listen()), succeeds());
  ASSERT_THAT(dat_cr_accept(self.next_request(), other, 0, nullptr), succeeds());
  EXPECT_EQ(next_event(self.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED).event_data.connect_event_data.ep_handle,
            self.ep);
  EXPECT_EQ(next_event(evd, DAT_CONNECTION_EVENT_ESTABLISHED).event_data.connect_event_data.ep_handle, other);
  ASSERT_THAT(dat_ep_disconnect(other, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  next_event(evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  next_event(self.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// Multipathing may be wished for, and need not be had; who insists on it (2.0) is told that there is none.
TEST(Adapters, MultipathIsGrantedAsFarAsTheAttributeSays) {
  Peer server("sim0");
  Peer client("sim1");
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(client.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider),
          "dat_ia_query");
  EXPECT_EQ(provider.supports_multipath, DAT_FALSE);
  const DAT_CONN_QUAL qualifier = server.listen();
  const auto connect_with = [&](DAT_CONNECT_FLAGS flags) {
    return dat_ep_connect(client.ep, server.adapter.address(), qualifier, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                          flags);
  };
#if SOFTDAT_DAT_MAJOR == 2
  EXPECT_THAT(connect_with(DAT_CONNECT_MULTIPATH_REQUIRED_FLAG), fails_with(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(client.state(), DAT_EP_STATE_UNCONNECTED);
#endif
  ASSERT_THAT(connect_with(DAT_CONNECT_MULTIPATH_FLAG), succeeds());
  ASSERT_THAT(reject_cr(server.next_request()), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

// "If the local Provider or Transport does not support the requested qos ... DAT_MODEL_NOT_SUPPORTED."
TEST(Adapters, QualityNobodyKnowsIsNotSupported) {
  Peer client("sim1");
  EXPECT_THAT(dat_ep_connect(client.ep, client.adapter.address(), unused_qualifier(), kPatience, 0, nullptr,
                             static_cast<DAT_QOS>(0x40), DAT_CONNECT_DEFAULT_FLAG),
              fails_with(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(client.state(), DAT_EP_STATE_UNCONNECTED);
}

}  // namespace
}  // namespace softdat::conformance
