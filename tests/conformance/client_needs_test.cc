// SPDX-License-Identifier: BSD-2-Clause
// What existing programs do that no other test does (docs/CONFORMANCE.md, "What existing programs need").
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

// Programs have room for eight, and go through as many as the call says.
TEST(ClientNeeds, ListOfProvidersIsNoLongerThanItsRoom) {
  std::array<DAT_PROVIDER_INFO, 8> infos{};
  std::array<DAT_PROVIDER_INFO*, 8> pointers{};
  for (std::size_t i = 0; i < infos.size(); ++i) pointers[i] = &infos[i];
  DAT_COUNT count = -1;
  ASSERT_THAT(dat_registry_list_providers(8, &count, pointers.data()), succeeds());
  EXPECT_GE(count, 1);
  EXPECT_LE(count, 8);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) EXPECT_NE(infos[i].ia_name[0], '\0') << i;
}

TEST(ClientNeeds, AsynchronousDispatcherIsOfAnyLengthAndTakesACno) {
  for (const DAT_COUNT length : {1, 8, 51'200}) {
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    ASSERT_THAT(dat_ia_open(const_cast<char*>(kServerName), length, &async, &ia), succeeds()) << length;
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    ASSERT_THAT(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), succeeds());
    EXPECT_THAT(dat_evd_modify_cno(async, cno), succeeds());
    EXPECT_THAT(dat_evd_modify_cno(async, DAT_HANDLE_NULL), succeeds());
    EXPECT_THAT(dat_cno_free(cno), succeeds());
    EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  }
}

// As many requests under way as the dispatcher is long, and a new one for each completion.
TEST(ClientNeeds, DispatcherHoldsExactlyAsManyWritesAsItIsLong) {
  constexpr DAT_COUNT kLength = 16;
  PeerOptions options;
  options.queue_length = kLength;
  ConnectedPair pair({}, options);
  const DAT_RMR_TRIPLET target = pair.server.memory->remote(0, 64);
  std::uint64_t posted = 0;
  for (; posted < kLength; ++posted) {
    ASSERT_THAT(pair.client.post_write(0, 64, target, posted), succeeds());
  }
  for (std::uint64_t done = 0; done < 1000; ++done) {
    ASSERT_EQ(next_completion(pair.client.request_evd).user_cookie.as_64, done);
    ASSERT_THAT(pair.client.post_write(0, 64, target, posted++), succeeds());
  }
  for (std::uint64_t done = 1000; done < posted; ++done) {
    ASSERT_EQ(next_completion(pair.client.request_evd).user_cookie.as_64, done);
  }
  EXPECT_TRUE(is_quiet(pair.client.adapter.async_evd()));
}

// While events are queued the queue is asked for its length, and made longer.
TEST(ClientNeeds, DispatcherGrowsWhileCompletionsAreQueued) {
  PeerOptions options;
  options.queue_length = 16;
  ConnectedPair pair({}, options);
  const DAT_RMR_TRIPLET target = pair.server.memory->remote(0, 64);
  for (std::uint64_t i = 0; i < 16; ++i) ASSERT_THAT(pair.client.post_write(0, 64, target, i), succeeds());
  DAT_EVD_PARAM param{};
  ASSERT_THAT(dat_evd_query(pair.client.request_evd, DAT_EVD_FIELD_EVD_QLEN, &param), succeeds());
  EXPECT_GE(param.evd_qlen, 16);
  const DAT_RETURN resized = dat_evd_resize(pair.client.request_evd, param.evd_qlen + 16);
  if (type_of(resized) != DAT_MODEL_NOT_SUPPORTED) {
    EXPECT_THAT(resized, succeeds());
  }
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(next_completion(pair.client.request_evd).user_cookie.as_64, i);
  }
}

TEST(ClientNeeds, PrivateDataOfEveryProgramsSizeArrives) {
  for (const std::size_t size : {4u, 28u, 32u, 48u}) {
    Peer server(kServerName);
    Peer client(kClientName);
    const std::string question(size, 'q');
    std::string answer(size, 'a');
    ASSERT_THAT(client.connect(server, server.listen(), question), succeeds());
    const DAT_CR_HANDLE request = server.next_request();
    DAT_CR_PARAM param{};
    ASSERT_THAT(dat_cr_query(request, DAT_CR_FIELD_ALL, &param), succeeds());
    ASSERT_GE(static_cast<std::size_t>(param.private_data_size), size);  // InfiniBand pads with zeros
    EXPECT_EQ(std::string(static_cast<const char*>(param.private_data), size), question);
    ASSERT_THAT(dat_cr_accept(request, server.ep, static_cast<DAT_COUNT>(size), answer.data()), succeeds());
    const DAT_EVENT event = next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    const auto& told = event.event_data.connect_event_data;
    ASSERT_GE(static_cast<std::size_t>(told.private_data_size), size);
    EXPECT_EQ(std::string(static_cast<const char*>(told.private_data), size), answer);
  }
}

// Process numbers, and ranks in the upper half: all 64 bits count.
TEST(ClientNeeds, QualifiersThatProgramsMakeUpAreToldApart) {
  Peer server(kServerName);
  const auto own = static_cast<DAT_CONN_QUAL>(::getpid());
  std::vector<DAT_CONN_QUAL> qualifiers{own, 1024 + own};
  for (DAT_CONN_QUAL rank = 0; rank < 4; ++rank) qualifiers.push_back((rank + 1) << 35 | own << 3);
  for (const DAT_CONN_QUAL qualifier : qualifiers) {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    const DAT_RETURN created =
        dat_psp_create(server.adapter.handle(), qualifier, server.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp);
    if (qualifier <= 0xffff && type_of(created) == DAT_CONN_QUAL_IN_USE) continue;  // another program's TCP port
    ASSERT_THAT(created, succeeds()) << qualifier;
    Peer client(kClientName);
    ASSERT_THAT(client.connect(server, qualifier), succeeds());
    const DAT_EVENT event = next_event(server.cr_evd, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_EQ(event.event_data.cr_arrival_event_data.conn_qual, qualifier);
    EXPECT_EQ(event.event_data.cr_arrival_event_data.sp_handle.psp_handle, psp);
    EXPECT_THAT(reject_cr(event.event_data.cr_arrival_event_data.cr_handle), succeeds());
  }
}

TEST(ClientNeeds, MemoryIsFreedInVainAfterItsAdapterWasClosed) {
  Peer peer(kServerName);
  const DAT_LMR_HANDLE lmr = peer.memory->lmr();
  ASSERT_THAT(dat_ia_close(peer.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  peer.adapter.release();
  EXPECT_THAT(dat_lmr_free(lmr), fails_with(DAT_INVALID_HANDLE));
}

// A graceful close that something hinders leaves the adapter as it was, for an abrupt one.
TEST(ClientNeeds, AdapterWhoseGracefulCloseWasRefusedGoesOn) {
  ConnectedPair pair;
  EXPECT_THAT(dat_ia_close(pair.client.adapter.handle(), DAT_CLOSE_GRACEFUL_FLAG), fails_with(DAT_INVALID_STATE));
  expect_conversation(pair.server, pair.client);
  EXPECT_THAT(dat_ia_close(pair.client.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  pair.client.adapter.release();
}

}  // namespace
}  // namespace softdat::conformance
