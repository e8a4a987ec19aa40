// SPDX-License-Identifier: BSD-2-Clause
// Adapters with an IPv6 address: what shows it, and who meets whom. The rest does not know the difference.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/remote_peer.h"

namespace softdat::conformance {
namespace {

sockaddr_in6 ipv6(const char* text, std::uint16_t port = 0) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  inet_pton(AF_INET6, text, &address.sin6_addr);
  return address;
}

DAT_IA_ADDRESS_PTR as_address(sockaddr_in6& address) {
  return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address);
}

bool has_ipv6_loopback() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const sockaddr_in6 address = ipv6("::1");
  const bool has_it = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return has_it;
}

// Of either family.
std::string text_of(DAT_IA_ADDRESS_PTR address) {
  char text[INET6_ADDRSTRLEN] = "";
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  if (address->sa_family == AF_INET) inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  if (address->sa_family == AF_INET6) inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
  return text;
}

// sim0 is at ::1, sim1 where it always is.
class Ipv6 : public testing::Test {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
    if (!has_ipv6_loopback()) GTEST_SKIP() << "this machine has no ::1";
    // A device is where it is; tests/vm/conform lets others of this suite run at its address of IPv6.
    if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
    move_to("::1");
  }
  void TearDown() override {
    if (was_set_) ::setenv("SOFTDAT_ADDRESS", before_.c_str(), 1);
    if (!was_set_) ::unsetenv("SOFTDAT_ADDRESS");
  }
  static void move_to(const char* address) { ::setenv("SOFTDAT_ADDRESS", address, 1); }

  DAT_RETURN connect(Peer& client, sockaddr_in6 address, DAT_CONN_QUAL qualifier) {
    return dat_ep_connect(client.ep, as_address(address), qualifier, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
  }
  DAT_EP_PARAM query(const Peer& peer) {
    DAT_EP_PARAM param{};
    require(dat_ep_query(peer.ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
    return param;
  }

 private:
  const bool was_set_ = std::getenv("SOFTDAT_ADDRESS") != nullptr;
  const std::string before_ = was_set_ ? std::getenv("SOFTDAT_ADDRESS") : "";
};

TEST_F(Ipv6, TheAddressOfTheAdapterIsASockaddrIn6) {
  for (const char* text : {"::1", "[::1]"}) {
    move_to(text);
    const Adapter adapter("sim0");
    ASSERT_EQ(adapter.address()->sa_family, AF_INET6) << text;
    EXPECT_EQ(text_of(adapter.address()), "::1");
    EXPECT_EQ(reinterpret_cast<const sockaddr_in6*>(adapter.address())->sin6_port, 0);
  }
}

TEST_F(Ipv6, AnAddressThatIsNotThisHostsOpensNoAdapter) {
  for (const char* text : {"::", "ff02::1", "100::1", "::1%no-such-interface"}) {
    move_to(text);
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    EXPECT_NE(dat_ia_open(const_cast<DAT_NAME_PTR>("sim0"), 8, &evd, &ia), DAT_SUCCESS) << text;
  }
}

TEST_F(Ipv6, BothEndsSeeIt) {
  Peer server("sim0"), client("sim0");
  ASSERT_THAT(client.connect(server, server.listen()), succeeds());
  const DAT_EVENT event = next_event(server.cr_evd);
  ASSERT_EQ(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
  const auto& arrival = event.event_data.cr_arrival_event_data;
  EXPECT_EQ(text_of(arrival.local_ia_address_ptr), "::1");
  DAT_CR_PARAM asked{};
  ASSERT_THAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &asked), succeeds());
  EXPECT_EQ(text_of(asked.remote_ia_address_ptr), "::1");
  ASSERT_THAT(dat_cr_accept(arrival.cr_handle, server.ep, 0, nullptr), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (const Peer* peer : {&server, &client}) {
    EXPECT_EQ(text_of(query(*peer).local_ia_address_ptr), "::1");
    EXPECT_EQ(text_of(query(*peer).remote_ia_address_ptr), "::1");
  }
  expect_conversation(server, client);
}

TEST_F(Ipv6, AdaptersOfBothFamiliesMeet) {
  Peer six("sim0"), four("sim1");
  establish(six, four);
  EXPECT_EQ(text_of(query(six).remote_ia_address_ptr), "127.0.0.2");
  EXPECT_EQ(text_of(query(four).remote_ia_address_ptr), "::1");
  expect_conversation(six, four);
  ASSERT_THAT(dat_ep_disconnect(six.ep, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  for (Peer* peer : {&six, &four}) {
    next_event(peer->connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    peer->renew_endpoint();
  }
  establish(four, six);
  EXPECT_EQ(text_of(query(six).remote_ia_address_ptr), "127.0.0.2");
  expect_conversation(four, six);
}

TEST_F(Ipv6, AMappedAddressIsTheOneOfIpv4) {
  Peer server("sim1"), client("sim0");
  ASSERT_THAT(connect(client, ipv6("::ffff:127.0.0.2"), server.listen()), succeeds());
  ASSERT_THAT(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(text_of(query(client).remote_ia_address_ptr), "127.0.0.2");
  expect_conversation(server, client);
}

TEST_F(Ipv6, PortInTheAddressIsIgnored) {
  Peer server("sim0"), client("sim0");
  ASSERT_THAT(connect(client, ipv6("::1", 4711), server.listen()), succeeds());
  EXPECT_NE(server.next_request(), DAT_HANDLE_NULL);
}

TEST_F(Ipv6, NobodyListeningIsANonPeerRejection) {
  Peer client("sim0");
  ASSERT_THAT(connect(client, ipv6("::1"), unused_qualifier()), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

TEST_F(Ipv6, AddressesThatCanBeNobodysAreInvalid) {
  Peer client("sim0");
  for (const char* text : {"::", "ff02::1", "::ffff:0.0.0.0"}) {
    EXPECT_THAT(connect(client, ipv6(text), unused_qualifier()), fails_with(DAT_INVALID_ADDRESS)) << text;
  }
  EXPECT_EQ(client.state(), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(Ipv6, AQualifierBelongsToOneAddress) {
  Peer six("sim0"), four("sim1"), client("sim0");
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  six.adapter.make_psp(qualifier, six.cr_evd);
  four.adapter.make_psp(qualifier, four.cr_evd);
  ASSERT_THAT(connect(client, ipv6("::1"), qualifier), succeeds());
  EXPECT_EQ(next_event(six.cr_evd).event_number, DAT_CONNECTION_REQUEST_EVENT);
  EXPECT_TRUE(is_quiet(four.cr_evd));
}

TEST_F(Ipv6, ADuplicateConnectionFindsTheSameAddress) {
  Peer server("sim0"), client("sim0"), other("sim0");
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  server.adapter.make_psp(qualifier, server.cr_evd);
  ASSERT_THAT(connect(client, ipv6("::1"), qualifier), succeeds());
  ASSERT_THAT(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  ASSERT_THAT(dat_ep_dup_connect(other.ep, client.ep, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT), succeeds());
  EXPECT_NE(server.next_request(), DAT_HANDLE_NULL);
}

TEST_F(Ipv6, TwoProcessesMeet) {
  if (const Lack lack = lack_of_other_processes(); !lack.empty()) GTEST_SKIP() << lack;
  RemotePeer remote;
  Peer client("sim1");
  remote.connect(client);
  EXPECT_EQ(text_of(query(client).remote_ia_address_ptr), "::1");
  client.memory->fill(0, 5000, 3);
  ASSERT_THAT(client.post_write(0, 5000, remote.memory(0, 5000)), succeeds());
  EXPECT_EQ(next_completion(client.request_evd).status, DAT_DTO_SUCCESS);
  ASSERT_THAT(client.post_read(8192, 5000, remote.memory(0, 5000)), succeeds());
  EXPECT_EQ(next_completion(client.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(client.memory->holds(8192, 5000, 3));
}

#if SOFTDAT_DAT_MAJOR == 2

TEST_F(Ipv6, CommonServicePointsAreOfTheAdaptersFamily) {
  Peer server("sim0"), client("sim0");
  DAT_COMM tcp6{AF_INET6, SOCK_STREAM, IPPROTO_TCP};
  DAT_COMM tcp4{AF_INET, SOCK_STREAM, IPPROTO_TCP};
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  sockaddr_in6 any = ipv6("::"), other = ipv6("100::1");
  EXPECT_THAT(dat_csp_create(server.adapter.handle(), &tcp4, as_address(any), server.cr_evd, &csp),
              fails_with(DAT_COMM_NOT_SUPPORTED));
  EXPECT_THAT(dat_csp_create(server.adapter.handle(), &tcp6, as_address(other), server.cr_evd, &csp),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  ASSERT_THAT(dat_csp_create(server.adapter.handle(), &tcp6, as_address(any), server.cr_evd, &csp), succeeds());
  DAT_CSP_PARAM param{};
  ASSERT_THAT(dat_csp_query(csp, DAT_CSP_FIELD_ALL, &param), succeeds());
  sockaddr_in6 where = ipv6("::1", ntohs(reinterpret_cast<const sockaddr_in6*>(param.address_ptr)->sin6_port));
  EXPECT_NE(where.sin6_port, 0);
  ASSERT_THAT(dat_ep_common_connect(client.ep, as_address(where), kPatience, 0, nullptr), succeeds());
  ASSERT_THAT(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(query(client).comm.domain, AF_INET6);
}

#endif

}  // namespace
}  // namespace softdat::conformance
