// SPDX-License-Identifier: BSD-2-Clause
// How many reads an answer grants, and wants, after what the request said of them.
#include <gtest/gtest.h>

#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

struct Granted {
  int ird;
  int ord;
};

Granted answer_to(bool is_iwarp, std::uint32_t ird, std::uint32_t ord) {
  Traits traits;
  traits.is_iwarp = is_iwarp;
  Stand stand(traits);
  Hearer consumer;
  const auto queue = stand.make_cq(8);
  const auto queue_pair = stand.make_qp(*queue, 4, &consumer);
  Stand::accept(*queue_pair, ird, ord);
  const rdma_conn_param answer = fake::last_answer();
  return {answer.responder_resources, answer.initiator_depth};
}

TEST(GrantedReadsTest, AreNoMoreThanEitherSideCanUse) {
  for (const bool is_iwarp : {false, true}) {
    const Granted few = answer_to(is_iwarp, 2, 3);
    EXPECT_EQ(few.ird, 3);
    EXPECT_EQ(few.ord, 2);
    const Granted many = answer_to(is_iwarp, 20, 30);
    EXPECT_EQ(many.ird, 4);
    EXPECT_EQ(many.ord, 4);
  }
}

TEST(GrantedReadsTest, PeerOfIwarpThatCannotSpeakOfThemIsGrantedSome) {
  const Granted granted = answer_to(true, 0, 0);
  EXPECT_EQ(granted.ird, 4);
  EXPECT_EQ(granted.ord, 1);
}

TEST(GrantedReadsTest, PeerOfInfiniBandThatWantsNoneGetsNone) {
  const Granted granted = answer_to(false, 0, 0);
  EXPECT_EQ(granted.ird, 0);
  EXPECT_EQ(granted.ord, 0);
}

}  // namespace
}  // namespace softdat::verbs
