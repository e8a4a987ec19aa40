// SPDX-License-Identifier: BSD-2-Clause
// dat_ia_open, dat_ia_close, dat_ia_query.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

DAT_RETURN open_adapter(const char* name, DAT_COUNT length, DAT_EVD_HANDLE* evd, DAT_IA_HANDLE* ia) {
  std::string copy = name;
  return dat_ia_open(copy.data(), length, evd, ia);
}

DAT_COUNT queue_length(DAT_EVD_HANDLE evd) {
  DAT_EVD_PARAM param{};
  require(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param), "dat_evd_query");
  return param.evd_qlen;
}

TEST(IaOpen, GivesAHandleAndAnAsynchronousDispatcher) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  ASSERT_THAT(open_adapter(kServerName, 10, &evd, &ia), succeeds());
  EXPECT_NE(ia, DAT_HANDLE_NULL);
  EXPECT_NE(evd, DAT_HANDLE_NULL);
  EXPECT_GE(queue_length(evd), 10);
  EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
}

TEST(IaOpen, SameNameCanBeOpenedAgain) {
  Adapter first(kServerName);
  Adapter second(kServerName);
  EXPECT_NE(first.handle(), second.handle());
  EXPECT_NE(first.async_evd(), second.async_evd());
}

TEST(IaOpen, AsynchronousDispatcherStartsWithoutCno) {
  Adapter adapter;
  DAT_EVD_PARAM param{};
  ASSERT_THAT(dat_evd_query(adapter.async_evd(), DAT_EVD_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.cno_handle, DAT_HANDLE_NULL);
  EXPECT_NE(param.evd_flags & DAT_EVD_ASYNC_FLAG, 0u);
  const DAT_CNO_HANDLE cno = adapter.make_cno();
  EXPECT_THAT(dat_evd_modify_cno(adapter.async_evd(), cno), succeeds());
}

// A further opening may share the dispatcher of an earlier one; closing it leaves it alive.
TEST(IaOpen, TakesAnExistingAsynchronousDispatcher) {
  Adapter first(kServerName);
  DAT_EVD_HANDLE evd = first.async_evd();
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  ASSERT_THAT(open_adapter(kServerName, 1, &evd, &ia), succeeds());
  EXPECT_EQ(evd, first.async_evd());
  EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  EXPECT_TRUE(is_quiet(first.async_evd()));
}

// "The Provider ignores the async_evd_min_qlen value."
TEST(IaOpen, WithAnExistingDispatcherTheLengthIsNotLookedAt) {
  Adapter first(kServerName);
  for (const DAT_COUNT length : {-1, 0x7fffffff}) {
    DAT_EVD_HANDLE evd = first.async_evd();
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    ASSERT_THAT(open_adapter(kServerName, length, &evd, &ia), succeeds()) << length;
    EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  }
}

TEST(IaOpen, DispatcherThatIsNoneIsAnInvalidHandle) {
  Adapter adapter;
  DAT_EVD_HANDLE evd = adapter.make_pz();
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  EXPECT_THAT(open_adapter(kServerName, 1, &evd, &ia), fails_with(DAT_INVALID_HANDLE));
}

TEST(IaOpen, DispatcherWithoutTheAsynchronousStreamIsAnInvalidHandle) {
  Adapter adapter;
  DAT_EVD_HANDLE evd = adapter.make_software_evd();
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  EXPECT_THAT(open_adapter(kServerName, 1, &evd, &ia), fails_with(DAT_INVALID_HANDLE));
}

TEST(IaOpen, DispatcherMayLiveElsewhere) {
  DAT_EVD_HANDLE evd = DAT_EVD_ASYNC_EXISTS;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  ASSERT_THAT(open_adapter(kServerName, 1, &evd, &ia), succeeds());
  DAT_EVD_HANDLE told = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_ia_query(ia, &told, 0, nullptr, 0, nullptr), succeeds());
  EXPECT_EQ(told, DAT_EVD_OUT_OF_SCOPE);
  EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
}

#if SOFTDAT_DAT_MAJOR == 1
// "If the name is prefixed by the string RO_AWARE_, then the prefix is removed prior to being passed down"
TEST(IaOpen, TheMarkOfRelaxedOrderingIsNoPartOfTheName) {
  Adapter marked("RO_AWARE_sim0");
  Adapter plain("sim0");
  const auto name_of = [](const Adapter& adapter) { return std::string(adapter.attributes().adapter_name); };
  EXPECT_EQ(name_of(marked), name_of(plain));
}
#endif

TEST(IaOpen, UnknownNameIsNotFound) {
  for (const char* name : {"40", "x", "xsdf", "x34", "34df", ""}) {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    EXPECT_THAT(open_adapter(name, 1, &evd, &ia), fails_with(DAT_PROVIDER_NOT_FOUND)) << name;
    EXPECT_EQ(ia, DAT_HANDLE_NULL);
  }
}

TEST(IaOpen, OtherVersionIsNotFound) {
  std::string name = kServerName;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_ia_openv(name.data(), 1, &evd, &ia, 7, 3, DAT_THREADSAFE), fails_with(DAT_PROVIDER_NOT_FOUND));
}

TEST(IaOpen, BadArgumentsAreNamed) {
  std::string name = kServerName;
  std::string too_long(DAT_NAME_MAX_LENGTH, 'n');
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_ia_open(nullptr, 1, &evd, &ia), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
  EXPECT_THAT(dat_ia_open(too_long.data(), 1, &evd, &ia), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
  EXPECT_THAT(dat_ia_open(name.data(), 1, &evd, nullptr), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  EXPECT_THAT(dat_ia_open(name.data(), -1, &evd, &ia), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_ia_open(name.data(), 0x7fffffff, &evd, &ia), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST(IaClose, ClosedHandleIsInvalid) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  require(open_adapter(kServerName, 1, &evd, &ia), "dat_ia_open");
  EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), succeeds());
  EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  DAT_PZ_HANDLE pz;
  EXPECT_THAT(dat_pz_create(ia, &pz), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  DAT_EVENT event;
  EXPECT_THAT(dat_evd_dequeue(evd, &event), fails_with(DAT_INVALID_HANDLE, kEvdSubtype));
}

TEST(IaClose, UnknownFlagIsInvalid) {
  Adapter adapter;
  EXPECT_THAT(dat_ia_close(adapter.handle(), static_cast<DAT_CLOSE_FLAGS>(2)),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_NE(adapter.make_pz(), DAT_HANDLE_NULL);
}

// Gracefully only when the consumer has freed what it created; the refusal leaves all in place.
TEST(IaClose, GracefulCloseRefusesWhileAnythingLives) {
  Adapter adapter;
  const DAT_PZ_HANDLE pz = adapter.make_pz();
  EXPECT_THAT(dat_ia_close(adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
  EXPECT_THAT(dat_pz_free(pz), succeeds());
  const DAT_EVD_HANDLE evd = adapter.make_software_evd();
  EXPECT_THAT(dat_ia_close(adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
  EXPECT_THAT(dat_evd_free(evd), succeeds());
  const DAT_CNO_HANDLE cno = adapter.make_cno();
  EXPECT_THAT(dat_ia_close(adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
  EXPECT_THAT(dat_cno_free(cno), succeeds());
  EXPECT_THAT(dat_ia_close(adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  adapter.release();
}

TEST(IaClose, AbruptCloseFreesEverything) {
  Peer peer(kServerName);
  peer.listen();
  ASSERT_THAT(peer.post_recv(0, 64), succeeds());
  ASSERT_THAT(dat_ia_close(peer.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  peer.adapter.release();
  EXPECT_THAT(dat_ep_free(peer.ep), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dat_evd_free(peer.recv_evd), fails_with(DAT_INVALID_HANDLE, kEvdSubtype));
  EXPECT_THAT(dat_pz_free(peer.pz), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  EXPECT_THAT(dat_psp_free(peer.psp), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP));
  EXPECT_THAT(dat_lmr_free(peer.memory->lmr()), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
}

// To the peer an abrupt close of the adapter is the end of the connection, told once.
TEST(IaClose, AbruptCloseEndsTheConnectionsOfItsEndpoints) {
  ConnectedPair pair;
  ASSERT_THAT(pair.server.post_recv(0, 64, 9), succeeds());
  ASSERT_THAT(dat_ia_close(pair.client.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  pair.client.adapter.release();
  const DAT_EVENT event = next_event(pair.server.connect_evd);
  EXPECT_THAT(event.event_number, testing::AnyOf(DAT_CONNECTION_EVENT_DISCONNECTED, DAT_CONNECTION_EVENT_BROKEN));
  EXPECT_EQ(next_completion(pair.server.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  EXPECT_TRUE(is_quiet(pair.server.connect_evd));
}

class IaQuery : public testing::Test {
 protected:
  Adapter adapter_;
};

TEST_F(IaQuery, TellsTheAsynchronousDispatcher) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_ia_query(adapter_.handle(), &evd, 0, nullptr, 0, nullptr), succeeds());
  EXPECT_EQ(evd, adapter_.async_evd());
}

TEST_F(IaQuery, OutputsThatNobodyAskedForMayBeNull) {
  EXPECT_THAT(dat_ia_query(adapter_.handle(), nullptr, 0, nullptr, 0, nullptr), succeeds());
}

TEST_F(IaQuery, AttributesAreThoseThatExistingProgramsNeed) {
  if (const Lack lack = lack_of_own_limits(); !lack.empty()) GTEST_SKIP() << lack;
  const DAT_IA_ATTR attributes = adapter_.attributes();
  EXPECT_STREQ(attributes.adapter_name, kServerName);
  EXPECT_NE(attributes.vendor_name[0], '\0');
  EXPECT_GE(attributes.max_evd_qlen, 51200);
  EXPECT_GE(attributes.max_dto_per_ep, 50000);
  EXPECT_GE(attributes.max_iov_segments_per_dto, 4);
  EXPECT_GE(attributes.max_iov_segments_per_rdma_read, 4);
  EXPECT_GE(attributes.max_iov_segments_per_rdma_write, 4);
  EXPECT_GE(attributes.max_rdma_read_per_ep_in, 4);
  EXPECT_GE(attributes.max_rdma_read_per_ep_out, 4);
  EXPECT_GE(attributes.max_eps, 1000);
  EXPECT_GE(attributes.max_message_size, 4u << 20);
  EXPECT_GE(attributes.max_rdma_size, 4u << 20);
  EXPECT_GE(attributes.max_lmr_block_size, 1u << 30);
}

TEST_F(IaQuery, AddressIsAnUsableIpv4Address) {
  const auto* address = reinterpret_cast<const sockaddr_in*>(adapter_.address());
  ASSERT_NE(address, nullptr);
  EXPECT_EQ(address->sin_family, AF_INET);
  EXPECT_NE(address->sin_addr.s_addr, 0u);
}

TEST_F(IaQuery, ProviderAttributesNameThisVersionOfDat) {
  DAT_PROVIDER_ATTR provider{};
  ASSERT_THAT(dat_ia_query(adapter_.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider), succeeds());
  EXPECT_EQ(provider.dapl_version_major, static_cast<DAT_UINT32>(DAT_VERSION_MAJOR));
  EXPECT_EQ(provider.dapl_version_minor, static_cast<DAT_UINT32>(DAT_VERSION_MINOR));
  EXPECT_EQ(provider.is_thread_safe, DAT_THREADSAFE);
  EXPECT_GE(provider.max_private_data_size, least_private_data());
  EXPECT_GT(provider.optimal_buffer_alignment, 0u);
  EXPECT_EQ(DAT_OPTIMAL_ALIGNMENT % provider.optimal_buffer_alignment, 0u);
}

// Whether two streams may share a dispatcher: the table and dat_evd_create must agree.
TEST_F(IaQuery, StreamMergingTableTellsTheTruth) {
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(adapter_.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider), "dat_ia_query");
  constexpr int kStreams[] = {DAT_EVD_SOFTWARE_FLAG,   DAT_EVD_CR_FLAG,       DAT_EVD_DTO_FLAG,
                              DAT_EVD_CONNECTION_FLAG, DAT_EVD_RMR_BIND_FLAG, DAT_EVD_ASYNC_FLAG};
  for (int row = 0; row < 6; ++row) {
    EXPECT_EQ(provider.evd_stream_merging_supported[row][row], DAT_TRUE);
    for (int column = 0; column < 6; ++column) {
      EXPECT_EQ(provider.evd_stream_merging_supported[row][column], provider.evd_stream_merging_supported[column][row]);
      const auto flags = static_cast<DAT_EVD_FLAGS>(kStreams[row] | kStreams[column]);
      if ((flags & DAT_EVD_ASYNC_FLAG) != 0) continue;
      DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
      const DAT_RETURN result = dat_evd_create(adapter_.handle(), 8, DAT_HANDLE_NULL, flags, &evd);
      EXPECT_EQ(result == DAT_SUCCESS, provider.evd_stream_merging_supported[row][column] == DAT_TRUE)
          << row << " " << column << " " << describe(result);
    }
  }
}

TEST_F(IaQuery, BadArgumentsAreNamed) {
  DAT_IA_ATTR attributes{};
  DAT_PROVIDER_ATTR provider{};
  EXPECT_THAT(dat_ia_query(adapter_.handle(), nullptr, ~DAT_IA_FIELD_ALL, &attributes, 0, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_ia_query(adapter_.handle(), nullptr, DAT_IA_FIELD_ALL, nullptr, 0, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_ia_query(adapter_.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  EXPECT_THAT(dat_ia_query(adapter_.handle(), nullptr, 0, nullptr, ~DAT_PROVIDER_FIELD_ALL, &provider),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(dat_ia_query(adapter_.async_evd(), nullptr, DAT_IA_FIELD_ALL, &attributes, 0, nullptr),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
}

}  // namespace
}  // namespace softdat::conformance
