// SPDX-License-Identifier: BSD-2-Clause
// dat_csp_create, dat_csp_query, dat_csp_free and dat_ep_common_connect (DAT 2.0): connections between programs that
// know each other by address and port.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

#include "tests/conformance/peer.h"

#if SOFTDAT_DAT_MAJOR == 2

namespace softdat::conformance {
namespace {

DAT_IA_ADDRESS_PTR as_address(sockaddr_in& address) {
  return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address);
}

sockaddr_in copy_of(DAT_IA_ADDRESS_PTR address) {
  sockaddr_in copy{};
  std::memcpy(&copy, address, sizeof copy);
  return copy;
}

class Csp : public testing::Test {
 protected:
  DAT_RETURN create(sockaddr_in address) {
    return dat_csp_create(server_.adapter.handle(), &tcp_, as_address(address), server_.cr_evd, &csp_);
  }
  // The adapter's own address with that port.
  sockaddr_in at(std::uint16_t port) const {
    sockaddr_in address = copy_of(server_.adapter.address());
    address.sin_port = htons(port);
    return address;
  }
  DAT_CSP_PARAM query() const {
    DAT_CSP_PARAM param{};
    require(dat_csp_query(csp_, DAT_CSP_FIELD_ALL, &param), "dat_csp_query");
    return param;
  }
  DAT_RETURN connect(sockaddr_in address, DAT_TIMEOUT timeout = kPatience, std::string data = {}) {
    return dat_ep_common_connect(client_.ep, as_address(address), timeout, static_cast<DAT_COUNT>(data.size()),
                                 data.empty() ? nullptr : data.data());
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  DAT_COMM tcp_{AF_INET, SOCK_STREAM, IPPROTO_TCP};
  DAT_CSP_HANDLE csp_ = DAT_HANDLE_NULL;
};

TEST_F(Csp, QueryTellsWhatItWasMadeWith) {
  ASSERT_THAT(create(at(0)), succeeds());
  const DAT_CSP_PARAM param = query();
  EXPECT_EQ(param.ia_handle, server_.adapter.handle());
  EXPECT_EQ(param.evd_handle, server_.cr_evd);
  ASSERT_NE(param.comm, nullptr);
  EXPECT_EQ(param.comm->domain, AF_INET);
  EXPECT_EQ(param.comm->type, SOCK_STREAM);
  EXPECT_EQ(param.comm->protocol, IPPROTO_TCP);
  ASSERT_NE(param.address_ptr, nullptr);
  EXPECT_EQ(copy_of(param.address_ptr).sin_addr.s_addr, at(0).sin_addr.s_addr);
  EXPECT_GE(ntohs(copy_of(param.address_ptr).sin_port), 1024) << "port 0 asks for a free one";
  EXPECT_THAT(dat_csp_query(csp_, static_cast<DAT_CSP_PARAM_MASK>(0x10), nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_csp_query(csp_, DAT_CSP_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Csp, PeersConnectByAddressAndPort) {
  ASSERT_THAT(create(at(0)), succeeds());
  const sockaddr_in where = copy_of(query().address_ptr);
  ASSERT_THAT(connect(where, kPatience, "hello"), succeeds());
  EXPECT_EQ(client_.state(), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  const auto arrival = next_event(server_.cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.sp_handle.csp_handle, csp_);
  EXPECT_EQ(arrival.conn_qual, ntohs(where.sin_port));
  DAT_CR_PARAM asked{};
  ASSERT_THAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &asked), succeeds());
  ASSERT_EQ(asked.private_data_size, 5);
  EXPECT_EQ(std::memcmp(asked.private_data, "hello", 5), 0);
  EXPECT_EQ(asked.local_ep_handle, DAT_HANDLE_NULL);
  ASSERT_THAT(dat_cr_accept(arrival.cr_handle, server_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (const DAT_EP_HANDLE ep : {client_.ep, server_.ep}) {
    DAT_EP_PARAM param{};
    ASSERT_THAT(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), succeeds());
    EXPECT_EQ(param.comm.domain, AF_INET);
    EXPECT_EQ(param.comm.type, SOCK_STREAM);
    EXPECT_EQ(param.comm.protocol, IPPROTO_TCP);
  }
  expect_conversation(server_, client_);
}

TEST_F(Csp, WildcardAddressAndDefaultProtocolWillDo) {
  sockaddr_in any{};
  any.sin_family = AF_INET;
  tcp_.protocol = 0;
  ASSERT_THAT(create(any), succeeds());
  ASSERT_THAT(connect(at(ntohs(copy_of(query().address_ptr).sin_port))), succeeds());
  ASSERT_THAT(reject_cr(server_.next_request()), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

TEST_F(Csp, PortInUseIsRefused) {
  ASSERT_THAT(create(at(0)), succeeds());
  const sockaddr_in taken = copy_of(query().address_ptr);
  const DAT_CSP_HANDLE first = csp_;
  EXPECT_THAT(create(taken), fails_with(DAT_PORT_IN_USE));
  EXPECT_EQ(csp_, first);
  // A port is the qualifier of that number, for public service points too.
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  EXPECT_THAT(
      dat_psp_create(server_.adapter.handle(), ntohs(taken.sin_port), server_.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp),
      fails_with(DAT_CONN_QUAL_IN_USE));
  ASSERT_THAT(dat_csp_free(csp_), succeeds());
  EXPECT_THAT(create(taken), succeeds());
}

TEST_F(Csp, OtherWaysOfCommunicatingAreNotSupported) {
  for (const DAT_COMM comm : {DAT_COMM{AF_INET6, SOCK_STREAM, 0}, DAT_COMM{AF_INET, SOCK_DGRAM, 0},
                              DAT_COMM{AF_INET, SOCK_STREAM, IPPROTO_UDP}, DAT_COMM{77, SOCK_STREAM, 0}}) {
    tcp_ = comm;
    EXPECT_THAT(create(at(0)), fails_with(DAT_COMM_NOT_SUPPORTED)) << comm.domain << " " << comm.type;
  }
  EXPECT_EQ(csp_, DAT_HANDLE_NULL);
}

TEST_F(Csp, BadArgumentsAreNamed) {
  const DAT_IA_HANDLE ia = server_.adapter.handle();
  sockaddr_in good = at(0);
  sockaddr_in foreign = at(0);
  foreign.sin_addr.s_addr = htonl(0x7f0000fe);
  sockaddr_in family = at(0);
  family.sin_family = AF_INET6;
  EXPECT_THAT(dat_csp_create(ia, nullptr, as_address(good), server_.cr_evd, &csp_),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_csp_create(ia, &tcp_, nullptr, server_.cr_evd, &csp_),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(create(foreign), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(create(family), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_csp_create(ia, &tcp_, as_address(good), server_.recv_evd, &csp_),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_THAT(dat_csp_create(ia, &tcp_, as_address(good), server_.cr_evd, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_EQ(csp_, DAT_HANDLE_NULL);
}

TEST_F(Csp, FreedPointNoLongerListensButItsRequestsLive) {
  ASSERT_THAT(create(at(0)), succeeds());
  const sockaddr_in where = copy_of(query().address_ptr);
  ASSERT_THAT(connect(where), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  ASSERT_THAT(dat_csp_free(csp_), succeeds());
  EXPECT_THAT(dat_csp_free(csp_), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP));
  EXPECT_THAT(dat_csp_query(csp_, DAT_CSP_FIELD_ALL, nullptr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP));
  ASSERT_THAT(dat_cr_accept(cr, server_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  Peer late(kClientName);
  sockaddr_in address = where;
  ASSERT_THAT(dat_ep_common_connect(late.ep, as_address(address), kPatience, 0, nullptr), succeeds());
  next_event(late.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

TEST_F(Csp, ConnectingRefusesBadArgumentsAndChangesNothing) {
  char data[8] = {};
  sockaddr_in where = at(4711);
  EXPECT_THAT(dat_ep_common_connect(client_.ep, nullptr, kPatience, 0, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(connect(where, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_ep_common_connect(client_.ep, as_address(where), kPatience, -1, data),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_ep_common_connect(client_.ep, as_address(where), kPatience, 8, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(connect(at(0)), fails_with(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED));
  where.sin_family = AF_APPLETALK;
  EXPECT_THAT(connect(where), fails_with(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
  EXPECT_EQ(client_.state(), DAT_EP_STATE_UNCONNECTED);
  establish(server_, client_);
  EXPECT_THAT(connect(at(4711)), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED));
}

// dat_ep_dup_connect goes where the model went.
TEST_F(Csp, ConnectionCanBeDuplicated) {
  ASSERT_THAT(create(at(0)), succeeds());
  ASSERT_THAT(connect(copy_of(query().address_ptr)), succeeds());
  ASSERT_THAT(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  Peer second(kClientName);
  ASSERT_THAT(dat_ep_dup_connect(second.ep, client_.ep, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT), succeeds());
  const auto arrival = next_event(server_.cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.sp_handle.csp_handle, csp_);
}

TEST_F(Csp, ClosingTheAdapterEndsIt) {
  ASSERT_THAT(create(at(0)), succeeds());
  EXPECT_THAT(dat_ia_close(server_.adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
  ASSERT_THAT(dat_ia_close(server_.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  server_.adapter.release();
  EXPECT_THAT(dat_csp_free(csp_), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP));
}

}  // namespace
}  // namespace softdat::conformance

#endif
