// SPDX-License-Identifier: BSD-2-Clause
// What becomes of connections and of requests for them when memory runs out at any moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string_view>

#include "tests/conformance/lacks.h"
#include "tests/conformance/memory_shortage.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

// What a connection has no memory for costs the connection at most: each end hears of that, and the post completes.
TEST(ShortageOfAConnection, CostsTheConnectionAtMost) {
  for (int count = 0; count < 8; ++count) {
    ConnectedPair pair;
    ASSERT_THAT(pair.server.post_recv(0, 64), succeeds());
    DAT_RETURN answer;
    {
      const MemoryShortage shortage(count);
      answer = pair.client.post_send(0, 64);
    }
    if (answer != DAT_SUCCESS) {
      EXPECT_THAT(answer, fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
      continue;
    }
    if (next_completion(pair.client.request_evd).status == DAT_DTO_SUCCESS) {
      EXPECT_EQ(next_completion(pair.server.recv_evd).status, DAT_DTO_SUCCESS);
      continue;
    }
    EXPECT_EQ(next_event(pair.client.connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_NE(next_completion(pair.server.recv_evd).status, DAT_DTO_SUCCESS);
  }
}

constexpr int kMostAllocations = 200;

struct ListeningPair {
  Peer server{kServerName};
  Peer client{kClientName};
  const DAT_CONN_QUAL qualifier = server.listen();
};

// Requests that are answered with memory for none, one, two ... allocations. What is refused for want of it can be
// answered again.
class ShortageOfAnAnswer : public testing::Test {
 protected:
  // Answers requests until an answer has had all the memory that it wanted; that one is left in place.
  void answer_with_ever_more(const std::function<DAT_RETURN(DAT_CR_HANDLE)>& answer) {
    DAT_CR_HANDLE cr = DAT_HANDLE_NULL;
    for (int count = 0; count < kMostAllocations; ++count) {
      if (cr == DAT_HANDLE_NULL) cr = ask();
      DAT_RETURN result;
      bool was_felt;
      {
        const MemoryShortage shortage(count);
        result = answer(cr);
        was_felt = shortage.was_felt();
      }
      if (!was_felt) {
        EXPECT_THAT(result, succeeds());
        return;
      }
      if (result == DAT_SUCCESS) {  // whatever came later did without
        next_event(pair_->client.connect_evd);
        cr = DAT_HANDLE_NULL;
        pair_.emplace();  // with queues of their own: what either side still hears of the old ones is nobody's
        continue;
      }
      EXPECT_THAT(result, fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)) << count;
    }
    ADD_FAILURE() << "there was never memory enough";
  }

  DAT_CR_HANDLE ask() {
    require(pair_->client.connect(pair_->server, pair_->qualifier, "please"), "dat_ep_connect");
    return pair_->server.next_request();
  }

  std::optional<ListeningPair> pair_{std::in_place};
};

TEST_F(ShortageOfAnAnswer, Accepting) {
  char data[] = "you are welcome";
  answer_with_ever_more([&](DAT_CR_HANDLE cr) { return dat_cr_accept(cr, pair_->server.ep, sizeof data, data); });
  next_event(pair_->client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(pair_->server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(pair_->server, pair_->client);
}

TEST_F(ShortageOfAnAnswer, Rejecting) {
  answer_with_ever_more([&](DAT_CR_HANDLE cr) { return reject_cr(cr); });
  next_event(pair_->client.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

TEST_F(ShortageOfAnAnswer, HandingOff) {
  Peer other(kServerName);
  const DAT_CONN_QUAL elsewhere = other.listen();
  answer_with_ever_more([&](DAT_CR_HANDLE cr) { return dat_cr_handoff(cr, elsewhere); });
  require(dat_cr_accept(other.next_request(), other.ep, 0, nullptr), "dat_cr_accept");
  next_event(pair_->client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(other.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_conversation(other, pair_->client);
}

// Every call that ends something succeeds without any memory.
TEST(ShortageOfEnding, TakesNothing) {
  if (const Lack lack = lack_of_windows(); !lack.empty()) GTEST_SKIP() << lack;
  Peer server(kServerName), client(kClientName), late(kClientName);
  const DAT_CONN_QUAL qualifier = server.listen();
  require(client.connect(server, qualifier), "dat_ep_connect");
  require(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), "dat_cr_accept");
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  require(late.connect(server, qualifier), "dat_ep_connect");
  server.next_request();  // stays unanswered
  for (Peer* peer : {&server, &client}) ASSERT_THAT(peer->post_recv(0, 64), succeeds());

  const DAT_IA_HANDLE ia = client.adapter.handle();
  Memory memory(ia, client.pz, 64);
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  require(dat_rmr_create(client.pz, &rmr), "dat_rmr_create");
  DAT_SRQ_ATTR attributes{};
  attributes.max_recv_dtos = 8;
  attributes.max_recv_iov = 1;
  attributes.low_watermark = DAT_SRQ_LW_DEFAULT;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  require(dat_srq_create(ia, client.pz, &attributes, &srq), "dat_srq_create");
  const DAT_CNO_HANDLE cno = client.adapter.make_cno();
  const DAT_EVD_HANDLE evd = client.adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 8, cno);
  post_software_event(evd, 1);
  const DAT_PZ_HANDLE pz = client.adapter.make_pz();
  const DAT_LMR_HANDLE lmr = memory.lmr();

  struct Ending {
    const char* name;
    std::function<DAT_RETURN()> call;
    DAT_RETURN answer = DAT_INTERNAL_ERROR;
  };
  Ending endings[] = {
      {"dat_psp_free", [&] { return dat_psp_free(server.psp); }},
      {"dat_ep_disconnect", [&] { return dat_ep_disconnect(client.ep, DAT_CLOSE_ABRUPT_FLAG); }},
      {"dat_ep_reset", [&] { return dat_ep_reset(client.ep); }},
      {"dat_ep_free", [&] { return dat_ep_free(client.ep); }},
      {"dat_rmr_free", [&] { return dat_rmr_free(rmr); }},
      {"dat_lmr_free", [&] { return dat_lmr_free(lmr); }},
      {"dat_srq_free", [&] { return dat_srq_free(srq); }},
      {"dat_evd_free", [&] { return dat_evd_free(evd); }},
      {"dat_cno_free", [&] { return dat_cno_free(cno); }},
      {"dat_pz_free", [&] { return dat_pz_free(pz); }},
      {"dat_ia_close", [&] { return dat_ia_close(server.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG); }},
  };
  {
    const MemoryShortage shortage(0);
    for (Ending& ending : endings) ending.answer = ending.call();
  }
  // After a reset a device has a new queue pair, which takes memory.
  const auto reset = std::string_view("dat_ep_reset");
  for (const Ending& ending : endings) {
    if (ending.name == reset && !is_simulated() && ending.answer != DAT_SUCCESS) {
      EXPECT_THAT(ending.answer, fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
    } else {
      EXPECT_THAT(ending.answer, succeeds()) << ending.name;
    }
  }
  server.adapter.release();
  // Over TCP to say no takes memory, and who hears nothing at all finds nobody there.
  const auto outcome = next_event(late.connect_evd).event_number;
  EXPECT_THAT(outcome, testing::AnyOf(DAT_CONNECTION_EVENT_NON_PEER_REJECTED, DAT_CONNECTION_EVENT_UNREACHABLE));
}

// The first open of an adapter loads its provider, the last close unloads it.
TEST(ShortageOfTheFirstOpening, LeavesNothingBehind) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "LeakSanitizer's tracer faults at exit after it";
#endif
  // A profile is read with thousands of allocations, and each socket file of another process takes some. Every 50th is
  // tried after the first ones.
  for (int count = 0; count < 20000; count += count < kMostAllocations ? 1 : 50) {
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_RETURN result;
    bool was_felt;
    {
      const MemoryShortage shortage(count);
      result = dat_ia_open(const_cast<char*>(kServerName), 8, &async, &ia);
      was_felt = shortage.was_felt();
    }
    if (result == DAT_SUCCESS) {
      DAT_RETURN closed;
      {
        const MemoryShortage shortage(0);
        closed = dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
      }
      EXPECT_THAT(closed, succeeds()) << count;
    } else {
      EXPECT_THAT(result, testing::AnyOf(fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY),
                                         fails_with(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED)))
          << count;
    }
    const Adapter works(kServerName);
    if (!was_felt) return;
  }
  ADD_FAILURE() << "there was never memory enough";
}

}  // namespace
}  // namespace softdat::conformance
