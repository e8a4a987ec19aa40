// SPDX-License-Identifier: BSD-2-Clause
// Direct access: atomics.
#include "tests/simnic/direct/direct_world.h"

namespace softdat::simnic::testing {
namespace {

class DirectAtomicTest : public DirectTest {
 protected:
  hca::Outcome post_atomic(hca::SendOpcode opcode, std::uint64_t wr_id, const Segments& local, const Block& word,
                           std::size_t offset, std::uint64_t operand, std::uint64_t compare = 0) {
    return active_->post_send({.wr_id = wr_id,
                               .opcode = opcode,
                               .flags = hca::kSignaled,
                               .rkey = word.key(),
                               .remote_address = word.address() + offset,
                               .local = local,
                               .immediate = 0,
                               .operand = operand,
                               .compare = compare});
  }
};

TEST_F(DirectAtomicTest, AtomicsNeedNoWorkOfTheTarget) {
  Block answer(here_, 64), word(there_, 64);
  auto& value = *reinterpret_cast<std::uint64_t*>(word.data());
  const auto& original = *reinterpret_cast<const std::uint64_t*>(answer.data());
  value = 40;
  expect_ok(post_atomic(hca::SendOpcode::kFetchAdd, 1, {answer.segment(0, 3), answer.segment(3, 5)}, word, 0, 2));
  EXPECT_EQ(here_.next(), "1:ok");
  EXPECT_EQ(original, 40u);
  EXPECT_EQ(value, 42u);
  expect_ok(post_atomic(hca::SendOpcode::kCompareSwap, 2, {answer.segment(0, 8)}, word, 0, 7, 41));
  EXPECT_EQ(here_.next(), "2:ok");
  EXPECT_EQ(original, 42u);
  EXPECT_EQ(value, 42u);
  expect_ok(post_atomic(hca::SendOpcode::kCompareSwap, 3, {answer.segment(0, 8)}, word, 0, 7, 42));
  EXPECT_EQ(here_.next(), "3:ok");
  EXPECT_EQ(value, 7u);
}

TEST_F(DirectAtomicTest, AtomicsThatMayNotBeAreRefusedAsEver) {
  Block answer(here_, 64), word(there_, 64), locked(there_, 64, hca::kLocalWrite | hca::kRemoteWrite);
  expect_ok(post_atomic(hca::SendOpcode::kFetchAdd, 1, {answer.segment(0, 8)}, locked, 0, 2));
  EXPECT_EQ(await_completion(here_), "1:remote-access");
  EXPECT_TRUE(locked.is_all(0));
  connect();
  expect_ok(post_atomic(hca::SendOpcode::kFetchAdd, 2, {answer.segment(0, 8)}, word, 4, 2));
  EXPECT_EQ(here_.next(), "none");
  EXPECT_NE(await_completion(here_), "2:ok");
  EXPECT_TRUE(word.is_all(0) && answer.is_all(0));
}

}  // namespace
}  // namespace softdat::simnic::testing
