// SPDX-License-Identifier: BSD-2-Clause
// dat_extension_op with the InfiniBand extensions of DAT 2.0: writes with immediate data, atomics,
// queries without an open IA, and what all of them answer to mistakes.
#include "tests/conformance/api_version.h"

#if SOFTDAT_DAT_MAJOR == 2

#include <dat2/dat_ib_extensions.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

constexpr int kAtomicRights = int(DAT_MEM_PRIV_ALL_FLAG) | int(DAT_IB_MEM_PRIV_REMOTE_ATOMIC);

const DAT_IB_EXTENSION_EVENT_DATA& extension_of(const DAT_EVENT& event) {
  return reinterpret_cast<const DAT_IB_EXTENSION_EVENT_DATA&>(event.event_extension_data);
}

// The next event, which must be an extension's completion.
DAT_EVENT next_extension(DAT_EVD_HANDLE evd) {
  return next_event(evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT));
}

const DAT_DTO_COMPLETION_EVENT_DATA& dto_of(const DAT_EVENT& event) {
  return event.event_data.dto_completion_event_data;
}

class Extension : public testing::Test {
 protected:
  static PeerOptions options() {
    PeerOptions result;
    result.privileges = kAtomicRights;
    return result;
  }
  // Words at multiples of eight, wherever the vector lies: its memory is aligned for them.
  static std::uint64_t word(Peer& peer, std::size_t offset) { return foreign_word(peer.memory->data() + offset); }
  static void set_word(Peer& peer, std::size_t offset, std::uint64_t value) {
    set_foreign_word(peer.memory->data() + offset, value);
  }
  DAT_RETURN write_immediate(std::size_t length, std::uint32_t immediate, int flags = DAT_COMPLETION_DEFAULT_FLAG) {
    DAT_LMR_TRIPLET local = client_.memory->local(0, length);
    DAT_RMR_TRIPLET remote = server_.memory->remote(100, length);
    return dat_ib_post_rdma_write_immed(client_.ep, 1, &local, make_cookie(0x9999), &remote, immediate, flags);
  }
  DAT_RETURN fetch_and_add(std::size_t offset, std::uint64_t addend, std::uint64_t cookie = 1,
                           int flags = DAT_COMPLETION_DEFAULT_FLAG) {
    DAT_LMR_TRIPLET local = client_.memory->local(0, 8);
    DAT_RMR_TRIPLET remote = server_.memory->remote(offset, 8);
    return dat_ib_post_fetch_and_add(client_.ep, addend, &local, make_cookie(cookie), &remote, flags);
  }
  DAT_RETURN compare_and_swap(std::size_t offset, std::uint64_t compare, std::uint64_t swap) {
    DAT_LMR_TRIPLET local = client_.memory->local(0, 8);
    DAT_RMR_TRIPLET remote = server_.memory->remote(offset, 8);
    return dat_ib_post_cmp_and_swap(client_.ep, compare, swap, &local, make_cookie(2), &remote,
                                    DAT_COMPLETION_DEFAULT_FLAG);
  }
  void expect_both_broken() {
    for (Peer* peer : {&client_, &server_}) {
      EXPECT_EQ(next_event(peer->connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
    }
  }

  ConnectedPair pair_{options()};
  Peer& server_ = pair_.server;
  Peer& client_ = pair_.client;
};

TEST_F(Extension, TheAttributesSayWhatThereIs) {
  if (const Lack lack = lack_of_immediate_data(); !lack.empty()) GTEST_SKIP() << lack;
  const DAT_IA_ATTR attributes = client_.adapter.attributes();
  EXPECT_EQ(attributes.extension_supported, DAT_EXTENSION_IB);
  EXPECT_EQ(attributes.extension_version, DAT_IB_EXTENSION_VERSION);
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(client_.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider),
          "dat_ia_query");
  const auto says = [&](const char* name) {
    for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
      const DAT_NAMED_ATTR& attribute = provider.provider_specific_attr[i];
      if (std::string(attribute.name) == name) return std::string(attribute.value);
    }
    return std::string();
  };
  EXPECT_EQ(says("DAT_EXTENSION_INTERFACE"), "TRUE");
  EXPECT_EQ(says(DAT_IB_ATTR_IMMED_DATA), "TRUE");
  EXPECT_EQ(says(DAT_IB_ATTR_FETCH_AND_ADD), "TRUE");
  EXPECT_EQ(says(DAT_IB_ATTR_CMP_AND_SWAP), "TRUE");
  EXPECT_EQ(says(DAT_IB_COLL_BARRIER), "");
}

TEST_F(Extension, WriteImmediateTellsBothSides) {
  if (const Lack lack = lack_of_immediate_data(); !lack.empty()) GTEST_SKIP() << lack;
  client_.memory->fill(0, 3000, 1);
  server_.memory->fill(8000, 64, 7);
  ASSERT_THAT(server_.post_recv(8000, 64, 4), succeeds());
  ASSERT_THAT(write_immediate(3000, 0x7777), succeeds());

  const DAT_EVENT sent = next_extension(client_.request_evd);
  EXPECT_EQ(extension_of(sent).type, DAT_IB_RDMA_WRITE_IMMED);
  EXPECT_EQ(extension_of(sent).status, DAT_OP_SUCCESS);
  EXPECT_EQ(dto_of(sent).ep_handle, client_.ep);
  EXPECT_EQ(dto_of(sent).user_cookie.as_64, 0x9999u);
  EXPECT_EQ(dto_of(sent).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(dto_of(sent).transfered_length, 3000u);
  EXPECT_EQ(static_cast<int>(dto_of(sent).operation), DAT_IB_DTO_RDMA_WRITE_IMMED);

  const DAT_EVENT received = next_extension(server_.recv_evd);
  EXPECT_EQ(extension_of(received).type, DAT_IB_RDMA_WRITE_IMMED_DATA);
  EXPECT_EQ(extension_of(received).val.immed.data, 0x7777u);
  EXPECT_EQ(dto_of(received).ep_handle, server_.ep);
  EXPECT_EQ(dto_of(received).user_cookie.as_64, 4u);
  EXPECT_EQ(dto_of(received).transfered_length, 3000u);
  EXPECT_EQ(static_cast<int>(dto_of(received).operation), DAT_IB_DTO_RECV_IMMED);
  EXPECT_TRUE(server_.memory->holds(100, 3000, 1));
  EXPECT_TRUE(server_.memory->holds(8000, 64, 7)) << "the receive's buffer is not written to";
}

TEST_F(Extension, WriteImmediateWithoutDataNeedsNoBufferEither) {
  if (const Lack lack = lack_of_immediate_data(); !lack.empty()) GTEST_SKIP() << lack;
  require(dat_ep_post_recv(server_.ep, 0, nullptr, make_cookie(5), DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
  DAT_RMR_TRIPLET remote = server_.memory->remote(0, 0);
  ASSERT_THAT(dat_ib_post_rdma_write_immed(client_.ep, 0, nullptr, make_cookie(1), &remote, 0xffffffffu,
                                           DAT_COMPLETION_DEFAULT_FLAG),
              succeeds());
  EXPECT_EQ(dto_of(next_extension(client_.request_evd)).transfered_length, 0u);
  const DAT_EVENT received = next_extension(server_.recv_evd);
  EXPECT_EQ(extension_of(received).val.immed.data, 0xffffffffu);
  EXPECT_EQ(dto_of(received).transfered_length, 0u);
}

TEST_F(Extension, WriteImmediateWaitsForAReceive) {
  if (const Lack lack = lack_of_immediate_data(); !lack.empty()) GTEST_SKIP() << lack;
  client_.memory->fill(0, 64, 3);
  ASSERT_THAT(write_immediate(64, 1), succeeds());
  // A device may hold back the bytes as well.
  if (is_simulated()) {
    EXPECT_TRUE(eventually([&] { return server_.memory->holds(100, 64, 3); }));
  }
  EXPECT_TRUE(is_quiet(client_.request_evd));
  ASSERT_THAT(server_.post_recv(0, 64, 5), succeeds());
  EXPECT_EQ(extension_of(next_extension(server_.recv_evd)).val.immed.data, 1u);
  EXPECT_EQ(extension_of(next_extension(client_.request_evd)).type, DAT_IB_RDMA_WRITE_IMMED);
}

TEST_F(Extension, SuppressedSuccessSaysNothingHereButStillThere) {
  if (const Lack lack = lack_of_immediate_data(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(server_.post_recv(0, 64, 5), succeeds());
  ASSERT_THAT(write_immediate(64, 9, DAT_COMPLETION_SUPPRESS_FLAG), succeeds());
  EXPECT_EQ(extension_of(next_extension(server_.recv_evd)).val.immed.data, 9u);
  ASSERT_THAT(fetch_and_add(0, 1, 77), succeeds());
  EXPECT_EQ(dto_of(next_extension(client_.request_evd)).user_cookie.as_64, 77u);
}

TEST_F(Extension, MessagesStayOrdinaryEvents) {
  expect_conversation(server_, client_);
}

TEST_F(Extension, FetchAndAddAddsAndReturnsTheOriginal) {
  if (const Lack lack = lack_of_atomics(); !lack.empty()) GTEST_SKIP() << lack;
  set_word(server_, 16, 0x10);
  ASSERT_THAT(fetch_and_add(16, 0x100), succeeds());
  const DAT_EVENT event = next_extension(client_.request_evd);
  EXPECT_EQ(extension_of(event).type, DAT_IB_FETCH_AND_ADD);
  EXPECT_EQ(extension_of(event).status, DAT_OP_SUCCESS);
  EXPECT_EQ(dto_of(event).transfered_length, 8u);
  EXPECT_EQ(static_cast<int>(dto_of(event).operation), DAT_IB_DTO_FETCH_ADD);
  EXPECT_EQ(word(client_, 0), 0x10u);
  EXPECT_EQ(word(server_, 16), 0x110u);
  EXPECT_TRUE(is_quiet(server_.recv_evd));
}

TEST_F(Extension, CompareAndSwapSwapsWhatIsEqualAndNothingElse) {
  if (const Lack lack = lack_of_atomics(); !lack.empty()) GTEST_SKIP() << lack;
  set_word(server_, 8, 0x12345);
  ASSERT_THAT(compare_and_swap(8, 0x12345, 0x98765), succeeds());
  const DAT_EVENT event = next_extension(client_.request_evd);
  EXPECT_EQ(extension_of(event).type, DAT_IB_CMP_AND_SWAP);
  EXPECT_EQ(static_cast<int>(dto_of(event).operation), DAT_IB_DTO_CMP_SWAP);
  EXPECT_EQ(word(client_, 0), 0x12345u);
  EXPECT_EQ(word(server_, 8), 0x98765u);
  ASSERT_THAT(compare_and_swap(8, 0x12345, 1), succeeds());
  next_extension(client_.request_evd);
  EXPECT_EQ(word(client_, 0), 0x98765u);
  EXPECT_EQ(word(server_, 8), 0x98765u);
}

TEST_F(Extension, ALongerLocalBufferTakesTheEightBytesAtItsFront) {
  if (const Lack lack = lack_of_atomics(); !lack.empty()) GTEST_SKIP() << lack;
  client_.memory->fill(0, 64, 5);
  set_word(server_, 0, 77);
  DAT_LMR_TRIPLET local = client_.memory->local(0, 64);
  DAT_RMR_TRIPLET remote = server_.memory->remote(0, 64);
  ASSERT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &local, make_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG),
              succeeds());
  EXPECT_EQ(dto_of(next_extension(client_.request_evd)).transfered_length, 8u);
  EXPECT_EQ(word(client_, 0), 77u);
  EXPECT_TRUE(client_.memory->holds(8, 56, 5) || word(client_, 8) != 77u);
}

TEST_F(Extension, AtomicsNeedTheirOwnRight) {
  if (const Lack lack = lack_of_atomics(); !lack.empty()) GTEST_SKIP() << lack;
  Memory plain(server_.adapter.handle(), server_.pz, 64, DAT_MEM_PRIV_ALL_FLAG);
  DAT_LMR_TRIPLET local = client_.memory->local(0, 8);
  DAT_RMR_TRIPLET remote = plain.remote(0, 8);
  ASSERT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &local, make_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG),
              succeeds());
  const DAT_EVENT event = next_extension(client_.request_evd);
  EXPECT_EQ(dto_of(event).status, DAT_DTO_ERR_REMOTE_ACCESS);
  EXPECT_EQ(extension_of(event).status, DAT_IB_OP_ERR);
  EXPECT_EQ(extension_of(event).type, DAT_IB_FETCH_AND_ADD);
  expect_both_broken();
}

TEST_F(Extension, AWordThatIsNotAlignedIsTheRespondersError) {
  if (const Lack lack = lack_of_atomics(); !lack.empty()) GTEST_SKIP() << lack;
  set_word(server_, 0, 5);
  if (!is_simulated()) {
    EXPECT_THAT(fetch_and_add(4, 1), fails_with(DAT_INVALID_PARAMETER));
    return;
  }
  ASSERT_THAT(fetch_and_add(4, 1), succeeds());
  EXPECT_EQ(dto_of(next_extension(client_.request_evd)).status, DAT_DTO_ERR_REMOTE_RESPONDER);
  expect_both_broken();
  EXPECT_EQ(word(server_, 0), 5u);
}

TEST_F(Extension, WhatIsFlushedIsAnExtensionEventToo) {
  if (const Lack lack = lack_of_immediate_data(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(write_immediate(64, 1), succeeds());  // waits for a receive
  ASSERT_THAT(fetch_and_add(0, 1, 2), succeeds());
  require(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
  for (const DAT_IB_EXT_TYPE type : {DAT_IB_RDMA_WRITE_IMMED, DAT_IB_FETCH_AND_ADD}) {
    const DAT_EVENT event = next_extension(client_.request_evd);
    EXPECT_EQ(extension_of(event).type, type);
    EXPECT_EQ(extension_of(event).status, DAT_IB_OP_ERR);
    EXPECT_EQ(dto_of(event).status, DAT_DTO_ERR_FLUSHED);
  }
}

TEST_F(Extension, AtomicsCountAsReads) {
  if (const Lack lack = lack_of_atomics(); !lack.empty()) GTEST_SKIP() << lack;
  auto attributes = default_attributes();
  attributes.max_rdma_read_in = 1;
  attributes.max_rdma_read_out = 1;
  PeerOptions narrow = options();
  narrow.attributes = attributes;
  ConnectedPair pair(narrow);
  set_word(pair.server, 0, 0);
  DAT_LMR_TRIPLET local = pair.client.memory->local(0, 8);
  DAT_RMR_TRIPLET remote = pair.server.memory->remote(0, 8);
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_THAT(
        dat_ib_post_fetch_and_add(pair.client.ep, 1, &local, make_cookie(i), &remote, DAT_COMPLETION_DEFAULT_FLAG),
        succeeds());
  }
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(dto_of(next_extension(pair.client.request_evd)).user_cookie.as_64, i);
  }
  EXPECT_EQ(word(pair.server, 0), 8u);
}

// Two adapters and the processor itself add to one word.
TEST(ExtensionContention, NoAdditionIsLost) {
  if (const Lack lack = lack_of_atomics(); !lack.empty()) GTEST_SKIP() << lack;
  PeerOptions options;
  options.privileges = kAtomicRights;
  ConnectedPair one(options);
  ConnectedPair two(options);
  constexpr std::uint64_t kRounds = 300;
  alignas(8) static std::uint64_t shared;
  shared = 0;
  const auto add_by_rdma = [&](ConnectedPair& pair) {
    DAT_REGION_DESCRIPTION region{};
    region.for_va = &shared;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT key = 0;
    DAT_LMR_CONTEXT lkey = 0;
    require(create_lmr(pair.server.adapter.handle(), DAT_MEM_TYPE_VIRTUAL, region, sizeof shared, pair.server.pz,
                       static_cast<DAT_MEM_PRIV_FLAGS>(kAtomicRights), &lmr, &lkey, &key, nullptr, nullptr),
            "dat_lmr_create");
    DAT_LMR_TRIPLET local = pair.client.memory->local(0, 8);
    DAT_RMR_TRIPLET remote = make_remote(&shared, sizeof shared, key);
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      require(
          dat_ib_post_fetch_and_add(pair.client.ep, 1, &local, make_cookie(i), &remote, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ib_post_fetch_and_add");
      next_extension(pair.client.request_evd);
    }
  };
  std::thread first([&] { add_by_rdma(one); });
  std::thread second([&] { add_by_rdma(two); });
  std::atomic_ref<std::uint64_t> own(shared);
  for (std::uint64_t i = 0; i < kRounds; ++i) own.fetch_add(1);
  first.join();
  second.join();
  EXPECT_EQ(own.load(), 3 * kRounds);
}

TEST_F(Extension, ArgumentsAreCheckedInTheirOrder) {
  DAT_LMR_TRIPLET local = client_.memory->local(0, 8);
  DAT_RMR_TRIPLET remote = server_.memory->remote(0, 8);
  const DAT_DTO_COOKIE cookie = make_cookie(1);
  const auto flags = DAT_COMPLETION_DEFAULT_FLAG;
  EXPECT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, nullptr, cookie, &remote, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &local, cookie, nullptr, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  EXPECT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &local, cookie, &remote, 0x1000),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
  EXPECT_THAT(dat_ib_post_cmp_and_swap(client_.ep, 1, 2, nullptr, cookie, &remote, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(dat_ib_post_cmp_and_swap(client_.ep, 1, 2, &local, cookie, nullptr, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
  EXPECT_THAT(dat_ib_post_cmp_and_swap(client_.ep, 1, 2, &local, cookie, &remote, 0x1000),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8));
  EXPECT_THAT(dat_ib_post_rdma_write_immed(client_.ep, -1, &local, cookie, &remote, 1, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_ib_post_rdma_write_immed(client_.ep, 1, nullptr, cookie, &remote, 1, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_ib_post_rdma_write_immed(client_.ep, 1, &local, cookie, nullptr, 1, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  EXPECT_THAT(dat_ib_post_rdma_write_immed(client_.ep, 1, &local, cookie, &remote, 1, 0x1000),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8));
  expect_conversation(server_, client_);
}

TEST_F(Extension, LengthsThatDoNotFitAreRefused) {
  DAT_LMR_TRIPLET local = client_.memory->local(0, 8);
  DAT_LMR_TRIPLET short_local = client_.memory->local(0, 7);
  DAT_RMR_TRIPLET remote = server_.memory->remote(0, 8);
  DAT_RMR_TRIPLET short_remote = server_.memory->remote(0, 7);
  const DAT_DTO_COOKIE cookie = make_cookie(1);
  const auto flags = DAT_COMPLETION_DEFAULT_FLAG;
  EXPECT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &short_local, cookie, &remote, flags),
              fails_with(DAT_LENGTH_ERROR));
  EXPECT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &local, cookie, &short_remote, flags),
              fails_with(DAT_LENGTH_ERROR));
  EXPECT_THAT(dat_ib_post_rdma_write_immed(client_.ep, 1, &local, cookie, &short_remote, 1, flags),
              fails_with(DAT_LENGTH_ERROR));
  expect_conversation(server_, client_);
}

TEST_F(Extension, LocalMemoryIsCheckedWhenPosting) {
  if (const Lack lack = lack_of_immediate_data(); !lack.empty()) GTEST_SKIP() << lack;
  DAT_LMR_TRIPLET outside = client_.memory->local(client_.memory->size() - 4, 8);
  DAT_LMR_TRIPLET unknown = client_.memory->local(0, 8);
  unknown.lmr_context ^= 0xffff00;
  Memory constant(client_.adapter.handle(), client_.pz, 64, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  DAT_LMR_TRIPLET unwritable = constant.local(0, 8);
  DAT_RMR_TRIPLET remote = server_.memory->remote(0, 8);
  const DAT_DTO_COOKIE cookie = make_cookie(1);
  const auto flags = DAT_COMPLETION_DEFAULT_FLAG;
  EXPECT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &outside, cookie, &remote, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_THAT(dat_ib_post_cmp_and_swap(client_.ep, 1, 2, &outside, cookie, &remote, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  EXPECT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &unknown, cookie, &remote, flags),
              fails_with(DAT_PRIVILEGES_VIOLATION));
  EXPECT_THAT(dat_ib_post_fetch_and_add(client_.ep, 1, &unwritable, cookie, &remote, flags),
              fails_with(DAT_PRIVILEGES_VIOLATION));
  EXPECT_THAT(dat_ib_post_rdma_write_immed(client_.ep, 1, &outside, cookie, &remote, 1, flags),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
}

TEST(ExtensionHandles, WrongOnesAndWrongStatesAreRefused) {
  PeerOptions options;
  options.privileges = kAtomicRights;
  Peer peer(kServerName, options);
  DAT_LMR_TRIPLET local = peer.memory->local(0, 8);
  DAT_RMR_TRIPLET remote = peer.memory->remote(0, 8);
  const DAT_DTO_COOKIE cookie = make_cookie(1);
  const auto flags = DAT_COMPLETION_DEFAULT_FLAG;
  EXPECT_THAT(dat_ib_post_fetch_and_add(peer.ep, 1, &local, cookie, &remote, flags),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  EXPECT_THAT(dat_ib_post_fetch_and_add(peer.pz, 1, &local, cookie, &remote, flags),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_THAT(dat_ib_post_fetch_and_add(DAT_HANDLE_NULL, 1, &local, cookie, &remote, flags),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
  int no_handle = 0;
  EXPECT_THAT(dat_ib_post_fetch_and_add(&no_handle, 1, &local, cookie, &remote, flags),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
}

TEST_F(Extension, OperationsThatAreNotOfferedSaySo) {
  for (int operation = DAT_IB_COLLECTIVE_CREATE_MEMBER_OP; operation <= DAT_IB_COLLECTIVE_BARRIER_OP; ++operation) {
    EXPECT_THAT(dat_extension_op(client_.ep, operation, 0), fails_with(DAT_NOT_IMPLEMENTED)) << operation;
  }
  EXPECT_THAT(dat_extension_op(client_.ep, 0x7ff, 0), fails_with(DAT_NOT_IMPLEMENTED));
}

TEST(ExtensionQuery, TellsTheAttributesOfAnIaThatIsNotOpen) {
  DAT_HANDLE query = DAT_HANDLE_NULL;
  DAT_IA_ATTR ia{};
  DAT_PROVIDER_ATTR provider{};
  char name[] = "sim0";
  ASSERT_THAT(dat_ib_open_query(name, &query, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider), succeeds());
  EXPECT_EQ(ia.extension_supported, lack_of_immediate_data().empty() ? DAT_EXTENSION_IB : DAT_EXTENSION_NONE);
  EXPECT_GT(ia.max_eps, 0);
  EXPECT_GT(provider.num_provider_specific_attr, 0);
  EXPECT_THAT(dat_ib_close_query(query), succeeds());
  EXPECT_THAT(dat_ib_close_query(query), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
}

TEST(ExtensionQuery, RefusesWhatItCannotAnswer) {
  DAT_HANDLE query = DAT_HANDLE_NULL;
  DAT_IA_ATTR ia{};
  char name[] = "sim0";
  char unknown[] = "nothing-of-that-name";
  EXPECT_THAT(dat_ib_open_query(unknown, &query, DAT_IA_FIELD_ALL, &ia, 0, nullptr),
              fails_with(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
  EXPECT_THAT(dat_ib_open_query(name, &query, DAT_IA_FIELD_ALL, nullptr, 0, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  EXPECT_THAT(dat_ib_open_query(name, &query, 0, nullptr, DAT_PROVIDER_FIELD_ALL, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8));
  EXPECT_THAT(dat_ib_open_query(name, nullptr, 0, nullptr, 0, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_EQ(query, DAT_HANDLE_NULL);
  Adapter adapter;
  EXPECT_THAT(dat_ib_close_query(adapter.handle()), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
}

}  // namespace
}  // namespace softdat::conformance

#endif
