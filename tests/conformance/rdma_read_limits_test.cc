// SPDX-License-Identifier: BSD-2-Clause
// max_rdma_read_in and max_rdma_read_out: what an endpoint asks for, what it gets, and what becomes of more.
#include <gtest/gtest.h>

#include <set>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

PeerOptions with_reads(DAT_COUNT in, DAT_COUNT out) {
  PeerOptions options;
  options.attributes = default_attributes();
  options.attributes->max_rdma_read_in = in;
  options.attributes->max_rdma_read_out = out;
  return options;
}

DAT_EP_ATTR attributes_of(DAT_EP_HANDLE ep) {
  DAT_EP_PARAM param{};
  require(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
  return param.ep_attr;
}

// Many more reads than may be outstanding at once: they wait for each other and all succeed.
void expect_many_reads(Peer& reader, Peer& target) {
  constexpr std::uint64_t kReads = 20;
  target.memory->fill(0, 64, 5);
  for (std::uint64_t cookie = 1; cookie <= kReads; ++cookie) {
    ASSERT_THAT(reader.post_read(1024 + cookie * 64, 64, target.memory->remote(0, 64), cookie), succeeds());
  }
  for (std::uint64_t cookie = 1; cookie <= kReads; ++cookie) {
    const auto completion = next_completion(reader.request_evd);
    EXPECT_EQ(completion.status, DAT_DTO_SUCCESS) << cookie;
    EXPECT_EQ(completion.user_cookie.as_64, cookie);
    EXPECT_TRUE(reader.memory->holds(1024 + cookie * 64, 64, 5)) << cookie;
  }
}

TEST(ReadLimits, AreTakenAsAskedFor) {
  Peer peer(kServerName, with_reads(3, 7));
  EXPECT_EQ(attributes_of(peer.ep).max_rdma_read_in, 3);
  EXPECT_EQ(attributes_of(peer.ep).max_rdma_read_out, 7);
  Peer none(kServerName, with_reads(0, 0));
  EXPECT_EQ(attributes_of(none.ep).max_rdma_read_in, 0);
  EXPECT_EQ(attributes_of(none.ep).max_rdma_read_out, 0);
}

TEST(ReadLimits, BeyondTheAdaptersAreInvalid) {
  Peer peer(kServerName);
  const DAT_IA_ATTR limits = peer.adapter.attributes();
  for (DAT_COUNT DAT_EP_ATTR::*field : {&DAT_EP_ATTR::max_rdma_read_in, &DAT_EP_ATTR::max_rdma_read_out}) {
    const bool is_in = field == &DAT_EP_ATTR::max_rdma_read_in;
    DAT_EP_ATTR attributes = default_attributes();
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    for (const DAT_COUNT wild : {-1, (is_in ? limits.max_rdma_read_per_ep_in : limits.max_rdma_read_per_ep_out) + 1}) {
      attributes.*field = wild;
      EXPECT_THAT(dat_ep_create(peer.adapter.handle(), peer.pz, peer.recv_evd, peer.request_evd, peer.connect_evd,
                                &attributes, &ep),
                  fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6))
          << wild;
    }
  }
}

// The sides need not agree upon their numbers: the smaller one counts.
TEST(ReadLimits, SmallerSideDecides) {
  for (const auto& [server_in, client_out] : {std::pair{1, 16}, std::pair{16, 1}, std::pair{2, 2}}) {
    ConnectedPair pair(with_reads(server_in, 1), with_reads(1, client_out));
    expect_many_reads(pair.client, pair.server);
    expect_many_reads(pair.server, pair.client);
    expect_conversation(pair.server, pair.client);
  }
}

// "If the Consumer does not care about posting RDMA Read operations or remote RDMA Read operations on the connection,
// it can set the two outstanding RDMA Read attribute values to 0." Everything else works then.
TEST(ReadLimits, ZeroOutRefusesReadsAndNothingElse) {
  ConnectedPair pair(with_reads(4, 4), with_reads(4, 0));
  EXPECT_THAT(pair.client.post_read(0, 64, pair.server.memory->remote(0, 64), 1),
              fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
  ASSERT_THAT(pair.client.post_write(0, 64, pair.server.memory->remote(0, 64), 2), succeeds());
  EXPECT_EQ(next_completion(pair.client.request_evd).user_cookie.as_64, 2u);
  expect_many_reads(pair.server, pair.client);
  expect_conversation(pair.server, pair.client);
}

TEST(ReadLimits, ZeroInBreaksTheConnectionOfWhoReadsAllTheSame) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  ConnectedPair pair(with_reads(0, 4), with_reads(4, 4));
  expect_many_reads(pair.server, pair.client);
  ASSERT_THAT(pair.client.post_read(0, 64, pair.server.memory->remote(0, 64), 1), succeeds());
  const auto completion = next_completion(pair.client.request_evd);
  EXPECT_EQ(completion.status, DAT_DTO_ERR_REMOTE_RESPONDER);
  EXPECT_EQ(completion.user_cookie.as_64, 1u);
  next_event(pair.client.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
  next_event(pair.server.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
}

// dat_ep_modify settles the numbers until the connection is asked for.
TEST(ReadLimits, CanBeModifiedBeforeConnecting) {
  Peer server(kServerName);
  Peer client(kClientName);
  DAT_EP_PARAM param{};
  require(dat_ep_query(client.ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
  param.ep_attr.max_rdma_read_out = 0;
  ASSERT_THAT(dat_ep_modify(client.ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, &param), succeeds());
  establish(server, client);
  EXPECT_THAT(client.post_read(0, 64, server.memory->remote(0, 64), 1), fails_with(DAT_INSUFFICIENT_RESOURCES));
}

// dat_psp_create: "The Provider sets up Endpoint attributes to match the Active side connection request."
TEST(ReadLimits, ProvidersEndpointMatchesTheRequest) {
  Peer server(kServerName);
  Peer client(kClientName, with_reads(3, 5));
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  require(dat_psp_create(server.adapter.handle(), qualifier, server.cr_evd, DAT_PSP_PROVIDER_FLAG, &psp),
          "dat_psp_create");
  ASSERT_THAT(client.connect(server, qualifier), succeeds());
  DAT_CR_PARAM asked{};
  ASSERT_THAT(dat_cr_query(server.next_request(), DAT_CR_FIELD_ALL, &asked), succeeds());
  EXPECT_EQ(attributes_of(asked.local_ep_handle).max_rdma_read_in, 5);
  EXPECT_EQ(attributes_of(asked.local_ep_handle).max_rdma_read_out, 3);
}

}  // namespace
}  // namespace softdat::conformance
