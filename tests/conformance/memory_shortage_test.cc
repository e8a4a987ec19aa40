// SPDX-License-Identifier: BSD-2-Clause
// DAT_INSUFFICIENT_RESOURCES: every call that makes something, with memory for none, one, two ... of the allocations
// that it makes. It says so, changes nothing, and succeeds when there is memory again.
#include "tests/conformance/memory_shortage.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <functional>
#include <vector>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/shared_server.h"
#if SOFTDAT_DAT_MAJOR == 2
#include <dat2/dat_registry.h>
#else
#include <dat/dat_registry.h>
#endif

namespace softdat::conformance {
namespace {

class Shortage : public testing::Test {
 protected:
  // `call` must fail as long as one of its allocations does; `undo` takes back its success.
  void expect_refusals(const std::function<DAT_RETURN()>& call, const std::function<void()>& undo = {}) {
    constexpr int kMostAllocations = 200;
    int refusals = 0;
    for (int count = 0; count < kMostAllocations; ++count) {
      DAT_RETURN result;
      bool was_felt;
      {
        const MemoryShortage shortage(count);
        result = call();
        was_felt = shortage.was_felt();
      }
      if (!was_felt) {
        EXPECT_THAT(result, succeeds());
        break;
      }
      // What is done later, by whoever it concerns, may do without.
      if (result == DAT_SUCCESS) {
        if (undo) undo();
        continue;
      }
      EXPECT_THAT(result, fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)) << count;
      ++refusals;
    }
    EXPECT_GT(refusals, 0);
  }

  // The server's address with a port at which nobody listens.
  DAT_IA_ADDRESS_PTR deaf_address() {
    std::memcpy(&port_, address_, sizeof port_);
    port_.sin_port = htons(9);
    return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&port_);
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  sockaddr_in port_{};
  DAT_CONN_QUAL qualifier_ = unused_qualifier();
  DAT_IA_ADDRESS_PTR address_ = server_.adapter.address();  // asking for it takes memory
};

TEST_F(Shortage, OfIaOpen) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "LeakSanitizer's tracer faults at exit after it";
#endif
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  expect_refusals(
      [&] {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        return dat_ia_open(const_cast<char*>(kClientName), 8, &async, &ia);
      },
      [&] { require(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close"); });
  EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), succeeds());
}

TEST_F(Shortage, OfProviderDeclaration) {
  DAT_PROVIDER table{};
  DAT_PROVIDER_INFO info{};
  std::strcpy(info.ia_name, "a program's own");
  info.dapl_version_major = kIsDat2 ? 2 : 1;
  info.dapl_version_minor = kIsDat2 ? 0 : 2;
  expect_refusals([&] { return dat_registry_add_provider(&table, &info); },
                  [&] { require(dat_registry_remove_provider(&table, &info), "dat_registry_remove_provider"); });
  DAT_RETURN removed;
  {
    const MemoryShortage shortage(0);
    removed = dat_registry_remove_provider(&table, &info);
  }
  EXPECT_THAT(removed, succeeds());
}

TEST_F(Shortage, OfPzCreate) {
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  expect_refusals([&] { return dat_pz_create(server_.adapter.handle(), &pz); },
                  [&] { require(dat_pz_free(pz), "dat_pz_free"); });
  EXPECT_THAT(dat_pz_free(pz), succeeds());
}

TEST_F(Shortage, OfCnoCreate) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  expect_refusals(
      [&] {
        return dat_cno_create(server_.adapter.handle(), {nullptr, nullptr}, &cno);
      },
      [&] { require(dat_cno_free(cno), "dat_cno_free"); });
  EXPECT_THAT(dat_cno_free(cno), succeeds());
}

// The thread that calls agents is begun with the first.
TEST_F(Shortage, OfCnoModifyAgent) {
  const DAT_CNO_HANDLE cno = server_.adapter.make_cno();
  expect_refusals([&] { return dat_cno_modify_agent(cno, {nullptr, [](DAT_PVOID, DAT_EVD_HANDLE) {}}); });
}

TEST_F(Shortage, OfEvdCreate) {
  for (const int flags : {int{DAT_EVD_DTO_FLAG}, int{DAT_EVD_SOFTWARE_FLAG}}) {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    expect_refusals(
        [&] {
          return dat_evd_create(server_.adapter.handle(), 8, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(flags), &evd);
        },
        [&] { require(dat_evd_free(evd), "dat_evd_free"); });
    EXPECT_THAT(dat_evd_free(evd), succeeds());
  }
}

TEST_F(Shortage, OfEvdResize) {
  if (const Lack lack = lack_of_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  const DAT_EVD_HANDLE evd = server_.adapter.make_evd(DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, 8);
  post_software_event(evd, 7);
  expect_refusals([&] { return dat_evd_resize(evd, 1000); });
  EXPECT_EQ(software_value(next_event(evd)), 7u);
}

TEST_F(Shortage, OfLmrCreate) {
  std::vector<unsigned char> bytes(4096);
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  expect_refusals(
      [&] {
        DAT_REGION_DESCRIPTION region{};
        region.for_va = bytes.data();
        return create_lmr(server_.adapter.handle(), DAT_MEM_TYPE_VIRTUAL, region, bytes.size(), server_.pz,
                          DAT_MEM_PRIV_ALL_FLAG, &lmr, nullptr, nullptr, nullptr, nullptr);
      },
      [&] { require(dat_lmr_free(lmr), "dat_lmr_free"); });
  EXPECT_THAT(dat_lmr_free(lmr), succeeds());
}

TEST_F(Shortage, OfRmrCreate) {
  if (const Lack lack = lack_of_windows(); !lack.empty()) GTEST_SKIP() << lack;
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  expect_refusals([&] { return dat_rmr_create(server_.pz, &rmr); },
                  [&] { require(dat_rmr_free(rmr), "dat_rmr_free"); });
  EXPECT_THAT(dat_rmr_free(rmr), succeeds());
}

// A simulated adapter allocates memory for keys once in a thousand binds.
TEST_F(Shortage, OfRmrBind) {
  if (const Lack lack = lack_of_windows(); !lack.empty()) GTEST_SKIP() << lack;
  constexpr int kMostBinds = 1100;
  ASSERT_NO_FATAL_FAILURE(establish(server_, client_));
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  require(dat_rmr_create(server_.pz, &rmr), "dat_rmr_create");
  const DAT_LMR_TRIPLET triplet = server_.memory->local(0, 64);
  DAT_RMR_CONTEXT context = 0;
  const auto bind = [&] {
    return bind_rmr(rmr, server_.memory->lmr(), &triplet, DAT_MEM_PRIV_REMOTE_READ_FLAG, server_.ep, make_cookie(9),
                    DAT_COMPLETION_DEFAULT_FLAG, &context);
  };
  int refusals = 0;
  for (int i = 0; i < kMostBinds; ++i) {
    const DAT_RMR_CONTEXT before = context;
    DAT_RETURN result;
    {
      const MemoryShortage shortage(0);
      result = bind();
    }
    if (result != DAT_SUCCESS) {
      ++refusals;
      ASSERT_THAT(result, fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)) << i;
      EXPECT_EQ(context, before);
      EXPECT_TRUE(is_quiet(server_.request_evd));
      DAT_RMR_PARAM now{};
      require(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &now), "dat_rmr_query");
      EXPECT_EQ(now.rmr_context, before);
      ASSERT_THAT(bind(), succeeds());
    }
    const DAT_EVENT event = next_event(server_.request_evd, DAT_RMR_BIND_COMPLETION_EVENT);
    ASSERT_EQ(event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
    ASSERT_NE(context, before);
  }
  EXPECT_GT(refusals, 0);
  EXPECT_THAT(dat_rmr_free(rmr), succeeds());
}

TEST_F(Shortage, OfSrqCreateAndResize) {
  if (const Lack lack = lack_of_shared_resizing(); !lack.empty()) GTEST_SKIP() << lack;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  DAT_SRQ_ATTR attributes = srq_attributes(8, 1, DAT_SRQ_LW_DEFAULT);
  expect_refusals([&] { return dat_srq_create(server_.adapter.handle(), server_.pz, &attributes, &srq); },
                  [&] { require(dat_srq_free(srq), "dat_srq_free"); });
  expect_refusals([&] { return dat_srq_resize(srq, 1000); });
  EXPECT_THAT(dat_srq_free(srq), succeeds());
}

TEST_F(Shortage, OfEpCreateWithSrq) {
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  DAT_SRQ_ATTR shared = srq_attributes(8, 1, DAT_SRQ_LW_DEFAULT);
  require(dat_srq_create(server_.adapter.handle(), server_.pz, &shared, &srq), "dat_srq_create");
  DAT_EP_ATTR attributes = default_attributes();
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  expect_refusals(
      [&] {
        return dat_ep_create_with_srq(server_.adapter.handle(), server_.pz, server_.recv_evd, server_.request_evd,
                                      server_.connect_evd, srq, &attributes, &ep);
      },
      [&] { require(dat_ep_free(ep), "dat_ep_free"); });
  EXPECT_THAT(dat_ep_free(ep), succeeds());
}

TEST_F(Shortage, OfEpCreate) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  expect_refusals(
      [&] {
        return dat_ep_create(server_.adapter.handle(), server_.pz, server_.recv_evd, server_.request_evd,
                             server_.connect_evd, nullptr, &ep);
      },
      [&] { require(dat_ep_free(ep), "dat_ep_free"); });
  EXPECT_THAT(dat_ep_free(ep), succeeds());
}

TEST_F(Shortage, OfEpModify) {
  DAT_EP_PARAM param{};
  require(dat_ep_query(server_.ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
  ASSERT_THAT(server_.post_recv(0, 64, 1), succeeds());
  const DAT_EVD_HANDLE before = param.recv_evd_handle;
  param.recv_evd_handle = server_.adapter.make_evd(DAT_EVD_DTO_FLAG);
  const DAT_EVD_HANDLE after = param.recv_evd_handle;
  expect_refusals([&] { return dat_ep_modify(server_.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param); },
                  [&] {
                    param.recv_evd_handle = before;
                    require(dat_ep_modify(server_.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param), "dat_ep_modify");
                    param.recv_evd_handle = after;
                  });
  establish(server_, client_);
  ASSERT_THAT(client_.post_send(0, 64, 2), succeeds());
  EXPECT_EQ(next_completion(after).user_cookie.as_64, 1u);
}

TEST_F(Shortage, OfPspCreate) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  expect_refusals(
      [&] { return dat_psp_create(server_.adapter.handle(), qualifier_, server_.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp); },
      [&] { require(dat_psp_free(psp), "dat_psp_free"); });
  EXPECT_THAT(dat_psp_free(psp), succeeds());
}

TEST_F(Shortage, OfPspCreateAny) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_CONN_QUAL found = 0;
  expect_refusals(
      [&] { return dat_psp_create_any(server_.adapter.handle(), &found, server_.cr_evd, DAT_PSP_PROVIDER_FLAG, &psp); },
      [&] { require(dat_psp_free(psp), "dat_psp_free"); });
}

TEST_F(Shortage, OfRspCreate) {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  expect_refusals(
      [&] { return dat_rsp_create(server_.adapter.handle(), qualifier_, server_.ep, server_.cr_evd, &rsp); },
      [&] { require(dat_rsp_free(rsp), "dat_rsp_free"); });
  EXPECT_EQ(server_.state(), DAT_EP_STATE_RESERVED);
}

#if SOFTDAT_DAT_MAJOR == 2
TEST_F(Shortage, OfCspCreate) {
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  DAT_COMM tcp{AF_INET, SOCK_STREAM, IPPROTO_TCP};
  expect_refusals([&] { return dat_csp_create(server_.adapter.handle(), &tcp, address_, server_.cr_evd, &csp); },
                  [&] { require(dat_csp_free(csp), "dat_csp_free"); });
}
#endif

#if SOFTDAT_DAT_MAJOR == 2
TEST_F(Shortage, OfEpCommonConnect) {
  expect_refusals([&] { return dat_ep_common_connect(client_.ep, deaf_address(), kPatience, 0, nullptr); },
                  [&] {
                    next_event(client_.connect_evd);
                    require(dat_ep_reset(client_.ep), "dat_ep_reset");
                  });
}
#endif

// A refused connect leaves the endpoint unconnected, so that it can be called again at once.
TEST_F(Shortage, OfEpConnect) {
  char data[] = "some private data";
  expect_refusals(
      [&] {
        return dat_ep_connect(client_.ep, address_, qualifier_, kPatience, sizeof data, data, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG);
      },
      [&] {
        next_event(client_.connect_evd);
        require(dat_ep_reset(client_.ep), "dat_ep_reset");
      });
}

// A refused modify leaves the endpoint with the dispatchers that it had, and these in use.
TEST_F(Shortage, OfEpModifyLeavesTheDispatchersAsTheyWere) {
  DAT_EP_PARAM before{};
  require(dat_ep_query(server_.ep, DAT_EP_FIELD_ALL, &before), "dat_ep_query");
  DAT_EP_PARAM wish = before;
  wish.recv_evd_handle = server_.adapter.make_evd(DAT_EVD_DTO_FLAG);
  wish.connect_evd_handle = server_.adapter.make_evd(DAT_EVD_CONNECTION_FLAG);
  const DAT_EP_PARAM_MASK mask = DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE;
  DAT_RETURN result = DAT_INTERNAL_ERROR;
  for (int count = 0; result != DAT_SUCCESS; ++count) {
    {
      const MemoryShortage shortage(count);
      result = dat_ep_modify(server_.ep, mask, &wish);
    }
    if (result == DAT_SUCCESS) break;
    ASSERT_THAT(result, fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
    EXPECT_THAT(dat_evd_free(before.recv_evd_handle), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
    EXPECT_THAT(dat_evd_free(before.connect_evd_handle), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
    DAT_EP_PARAM now{};
    ASSERT_THAT(dat_ep_query(server_.ep, mask, &now), succeeds());
    EXPECT_EQ(now.connect_evd_handle, before.connect_evd_handle);
    EXPECT_EQ(now.recv_evd_handle, before.recv_evd_handle);
  }
  EXPECT_THAT(dat_evd_free(before.recv_evd_handle), succeeds());
  EXPECT_THAT(dat_evd_free(before.connect_evd_handle), succeeds());
}

// The model stays connected through it all.
TEST_F(Shortage, OfEpDupConnect) {
  char data[] = "some private data";
  ASSERT_NO_FATAL_FAILURE(establish(server_, client_));
  Peer duplicate(kClientName);
  expect_refusals(
      [&] { return dat_ep_dup_connect(duplicate.ep, client_.ep, kPatience, sizeof data, data, DAT_QOS_BEST_EFFORT); },
      [&] {
        next_event(duplicate.connect_evd);
        require(dat_ep_reset(duplicate.ep), "dat_ep_reset");
      });
  expect_conversation(server_, client_);
}

}  // namespace
}  // namespace softdat::conformance
