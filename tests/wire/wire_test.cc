// SPDX-License-Identifier: BSD-2-Clause
// Stock Wireshark reads our TCP wire: a conversation through the DAT API, captured on lo, is decoded by tshark as
// MPA, DDP and RDMAP with good CRCs, down to the Terminate of a refused access.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "tests/conformance/peer.h"
#include "tests/wire/capture.h"

namespace softdat::wire {
namespace {

using namespace softdat::conformance;

int count_lines(const std::string& text) {
  int lines = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines += line.empty() ? 0 : 1;
  return lines;
}

int count_words(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++count;
  return count;
}

// The server binds a window, the client voids its key by a send.
void send_invalidating(ConnectedPair& pair) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  DAT_RMR_CONTEXT context = 0;
  require(dat_rmr_create(pair.server.pz, &rmr), "dat_rmr_create");
  const DAT_LMR_TRIPLET piece = pair.server.memory->local(0, 64);
  require(bind_rmr(rmr, pair.server.memory->lmr(), &piece, DAT_MEM_PRIV_ALL_FLAG, pair.server.ep, make_cookie(1),
                   DAT_COMPLETION_DEFAULT_FLAG, &context),
          "dat_rmr_bind");
  next_event(pair.server.request_evd, DAT_RMR_BIND_COMPLETION_EVENT);
  require(pair.server.post_recv(0, 64), "receive");
  DAT_LMR_TRIPLET message = pair.client.memory->local(0, 64);
  require(dat_ep_post_send_with_invalidate(pair.client.ep, 1, &message, make_cookie(2), DAT_COMPLETION_DEFAULT_FLAG,
                                           DAT_TRUE, context),
          "send with invalidate");
  EXPECT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(next_completion(pair.server.recv_evd).rmr_context, context);
  require(dat_rmr_free(rmr), "dat_rmr_free");
}

// One of each: send, write, read, a send that invalidates, and a write with a key that does not exist, which the server
// refuses with Terminate.
void converse() {
  ConnectedPair pair;
  expect_conversation(pair.server, pair.client);
  const DAT_RMR_TRIPLET target = pair.server.memory->remote(0, 5000);
  require(pair.client.post_write(0, 5000, target), "write");
  EXPECT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
  require(pair.client.post_read(8192, 5000, target), "read");
  EXPECT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
  send_invalidating(pair);
  DAT_RMR_TRIPLET wrong = target;
  wrong.rmr_context ^= 0x00a5a500u;
  require(pair.client.post_write(0, 64, wrong), "write with a wrong key");
  EXPECT_NE(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
}

class Wire : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("SOFTDAT_TRANSPORT", "tcp", 1);
    ::setenv("SOFTDAT_CRC", "on", 1);
    if (!capture_.is_running()) GTEST_SKIP() << "no capture on lo: " << capture_.why();
    if (output_of("tshark --version").empty()) GTEST_SKIP() << "tshark is not there";
    converse();
    ASSERT_TRUE(eventually([&] { return count_of_opcode(7) > 0; })) << "no Terminate was captured";
  }

  int count_of_opcode(int opcode) const {
    return count_lines(capture_.decode("-Y 'iwarp_rdma.opcode == " + std::to_string(opcode) + "'"));
  }

  Capture capture_;
};

TEST_F(Wire, TsharkReadsEveryMessageOfTheConversation) {
  // At least: others on this machine may be talking over lo too.
  EXPECT_GE(count_lines(capture_.decode("-Y iwarp_mpa.req")), 1);
  EXPECT_GE(count_lines(capture_.decode("-Y iwarp_mpa.rep")), 1);
  EXPECT_GT(count_of_opcode(0), 0) << "RDMA Write";
  EXPECT_GT(count_of_opcode(1), 0) << "RDMA Read Request";
  EXPECT_GT(count_of_opcode(2), 0) << "RDMA Read Response";
  EXPECT_GT(count_of_opcode(3), 0) << "Send";
  EXPECT_GT(count_of_opcode(7), 0) << "Terminate";
}

TEST_F(Wire, TsharkReadsSendWithInvalidate) {
  EXPECT_GT(count_of_opcode(4), 0);
  EXPECT_GT(count_words(capture_.decode("-V -Y 'iwarp_rdma.opcode == 4'"), "nvalidate STag"), 0);
}

TEST_F(Wire, EveryCrcIsGoodAndNothingIsMalformed) {
  const std::string text = capture_.decode("-V -O iwarp_mpa,iwarp_ddp_rdmap");
  EXPECT_GT(count_words(text, "Good CRC32"), 5);
  EXPECT_EQ(count_words(text, "Bad CRC32"), 0);
  EXPECT_EQ(count_lines(capture_.decode("-Y _ws.malformed")), 0);
}

}  // namespace
}  // namespace softdat::wire
