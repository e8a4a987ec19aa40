// SPDX-License-Identifier: BSD-2-Clause
// Direct access: the target takes memory and connections away from an initiator that stands still in the middle of a
// copy. The tests hold the pin by hand that such an initiator would hold.
#include "memory/arena.h"
#include "tests/simnic/direct/direct_world.h"

namespace softdat::simnic::testing {
namespace {

using memory::Arena;
using simnic::direct::Pin;

constexpr std::size_t kLength = 100'000;

class DirectRevocation : public DirectTest {
 protected:
  // The initiator stands still while it writes to the first bytes of the block through its connection, or in somebody
  // else's memory.
  Pin stand_in(const Block& block, std::uint64_t arena = Arena::of_process()->number()) {
    const auto& key_directory = here_.direct_context->key_directory().layout();
    std::uint32_t owner = 0;
    while (owner < simnic::direct::kOwners && key_directory.owners[owner].load() != arena) ++owner;
    if (owner == simnic::direct::kOwners) owner = here_.direct_context->key_directory().add_owner(arena).value();
    return here_.direct_context->key_directory().pin(
        simnic::direct::pin_word(place_of(block), kLength, owner, kFirstQpEntry));
  }
  std::uint64_t place_of(const Block& block) {
    return there_.direct_context->key_directory()
        .layout()
        .keys[block.key() >> simnic::direct::kKeyTagBits]
        .offset.load();
  }
  // What the initiator stores there when it goes on.
  void go_on(std::uint64_t place) {
    const std::vector<std::byte> bytes(kLength, std::byte{0xff});
    ASSERT_EQ(::pwrite(Arena::of_process()->file(), bytes.data(), kLength, static_cast<off_t>(place)),
              static_cast<ssize_t>(kLength));
  }
  static constexpr std::uint32_t kFirstQpEntry = 0;  // of a NIC that has one queue pair
};

TEST_F(DirectRevocation, DeregistrationNeedsNobodysHelp) {
  Block to(there_, kLength);
  to.fill(1);
  const std::uint64_t place = place_of(to);
  const Pin pin = stand_in(to);
  to.deregister();
  go_on(place);
  EXPECT_TRUE(to.is_all(1));
}

TEST_F(DirectRevocation, DisconnectNeedsNobodysHelp) {
  Block to(there_, kLength);
  to.fill(1);
  const Pin pin = stand_in(to);
  expect_ok(passive_->disconnect(false));
  go_on(place_of(to));
  EXPECT_TRUE(to.is_all(1));
}

// Both sides wait until what they have asked for is answered, then this one ends of itself; its consumer hears of it
// when the peer no longer stores.
TEST_F(DirectRevocation, AnEndThatComesByItselfIsToldWhenThePeerHasEnded) {
  Block to(there_, kLength);
  to.fill(1);
  const std::uint64_t place = place_of(to);
  const Pin pin = stand_in(to);
  expect_ok(passive_->disconnect(true));
  EXPECT_TRUE(await([&] {
    here_.turn();
    there_.turn();
    return passive_sink_.count(ConnectionEventType::kDisconnected) > 0;
  }));
  go_on(place);
  EXPECT_TRUE(to.is_all(1));
}

TEST_F(DirectRevocation, FreeingAQueuePairNeedsNobodysHelp) {
  Block to(there_, kLength);
  to.fill(1);
  const Pin pin = stand_in(to);
  passive_.reset();
  go_on(place_of(to));
  EXPECT_TRUE(to.is_all(1));
}

TEST_F(DirectRevocation, WhoStandsInAnothersMemoryIsNotLookedAt) {
  Block to(there_, kLength);
  const Pin pin = stand_in(to, Arena::of_process()->number() + 1);
  passive_.reset();
  to.deregister();
  EXPECT_TRUE(is_moved(to.address()));
}

// The rest of the memory on these pages stays registered, and what is written there arrives.
TEST_F(DirectRevocation, AnotherKeyOfTheSamePagesIsReachedByMessages) {
  Block from(here_, 64), to(there_, kLength);
  from.fill(7);
  const auto other = expect_ok(there_.nic.register_memory(*there_.pd, to.address(), kLength, kEverything));
  const Pin pin = stand_in(to);
  to.deregister();
  expect_ok(active_->post_send({.wr_id = 1,
                                .opcode = hca::SendOpcode::kWrite,
                                .flags = hca::kSignaled,
                                .rkey = other->rkey(),
                                .remote_address = to.address(),
                                .local = Segments{from.segment(0, 64)}}));
  EXPECT_EQ(here_.next(), "none");
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_EQ(to.data()[63], std::byte{7});
}

// The target cuts the key off while the initiator copies: it says so before it withdraws the key.
TEST_F(DirectRevocation, ACopyThatWasCutOffIsRepeatedByAMessage) {
  Block from(here_, kLength), to(there_, kLength);
  from.fill(7);
  there_.direct_context->key_directory().mark_cut(to.key());
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, kLength)}, to));
  EXPECT_EQ(here_.next(), "none");
  to.fill(0);
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_TRUE(to.is_all(7));
  expect_ok(passive_->post_recv({.wr_id = 2, .local = Segments{to.segment(0, kLength)}}));
  expect_ok(active_->post_send({.wr_id = 3, .flags = hca::kSignaled, .local = Segments{from.segment(0, kLength)}}));
  to.fill(0);
  EXPECT_EQ(await_completion(there_), "2:ok");
  EXPECT_TRUE(to.is_all(7));
}

// The mark is seen before anything is stored, so a message carries the operation out: once.
TEST_F(DirectRevocation, AnAtomicOnACutKeyGoesByAMessageOnce) {
  Block original(here_, 8), to(there_, 64);
  to.fill(0);
  there_.direct_context->key_directory().mark_cut(to.key());
  expect_ok(active_->post_send({.wr_id = 1,
                                .opcode = hca::SendOpcode::kFetchAdd,
                                .flags = hca::kSignaled,
                                .rkey = to.key(),
                                .remote_address = to.address(),
                                .local = Segments{original.segment(0, 8)},
                                .immediate = 0,
                                .operand = 1,
                                .compare = 0}));
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_EQ(to.data()[0], std::byte{1});
  EXPECT_EQ(original.data()[0], std::byte{0});
}

}  // namespace
}  // namespace softdat::simnic::testing
