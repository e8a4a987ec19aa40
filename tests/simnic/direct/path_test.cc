// SPDX-License-Identifier: BSD-2-Clause
// Direct access: writes, reads and sends.
#include <functional>

#include "tests/simnic/direct/direct_world.h"

namespace softdat::simnic::testing {
namespace {

TEST_F(DirectTest, WritesAndReadsNeedNoWorkOfTheTarget) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{8}, std::size_t{4097}, std::size_t{3} << 20}) {
    Block from(here_, size), back(here_, size), to(there_, size);
    from.fill(5);
    const std::size_t half = size / 2;
    expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, half), from.segment(half, size - half)}, to));
    EXPECT_EQ(here_.next(), "1:ok");
    EXPECT_TRUE(to.is_all(5)) << size;
    to.fill(6);
    expect_ok(post(hca::SendOpcode::kRead, 2, {back.segment(0, size - half), back.segment(size - half, half)}, to));
    EXPECT_EQ(here_.next(), "2:ok");
    EXPECT_TRUE(back.is_all(6)) << size;
  }
}

TEST_F(DirectTest, AnUnsignaledWriteCompletesSilently) {
  Block from(here_, 64), to(there_, 64);
  from.fill(1);
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, 64)}, to, 0, 0));
  EXPECT_TRUE(to.is_all(1));
  EXPECT_EQ(here_.next(), "none");
  EXPECT_EQ(active_->sends_outstanding(), 0u);
}

TEST_F(DirectTest, AnArmedQueueTellsItsSink) {
  Block from(here_, 64), to(there_, 64);
  here_.cq->arm(false);
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, 64)}, to));
  here_.turn();
  EXPECT_EQ(here_.sink.completions.load(), 1);
}

TEST_F(DirectTest, WhatWasPostedBeforeComesFirst) {
  Block from(here_, 64), to(there_, 64), inbox(there_, 64);
  from.fill(7);
  expect_ok(active_->post_send({.wr_id = 1, .flags = hca::kSignaled, .local = Segments{from.segment(0, 64)}}));
  expect_ok(post(hca::SendOpcode::kWrite, 2, {from.segment(0, 64)}, to));
  for (int i = 0; i < 100; ++i) {
    here_.turn();
    there_.turn();
  }
  EXPECT_TRUE(to.is_all(0));
  EXPECT_EQ(here_.next(), "none");
  expect_ok(passive_->post_recv({.wr_id = 3, .local = Segments{inbox.segment(0, 64)}}));
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_EQ(await_completion(here_), "2:ok");
  EXPECT_TRUE(to.is_all(7) && inbox.is_all(7));
}

TEST_F(DirectTest, AKeyThatForbidsIsRefusedAsEver) {
  Block from(here_, 64), to(there_, 64, hca::kLocalWrite | hca::kRemoteRead);
  from.fill(1);
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, 64)}, to));
  EXPECT_EQ(here_.next(), "none");
  EXPECT_EQ(await_completion(here_), "1:remote-access");
  EXPECT_TRUE(to.is_all(0));
}

TEST_F(DirectTest, ADeregisteredTargetIsOutOfReach) {
  Block from(here_, 64), to(there_, 64);
  from.fill(1);
  const std::uint32_t key = to.key();
  to.deregister();
  expect_ok(active_->post_send({.wr_id = 1,
                                .opcode = hca::SendOpcode::kWrite,
                                .flags = hca::kSignaled,
                                .rkey = key,
                                .remote_address = to.address(),
                                .local = Segments{from.segment(0, 64)}}));
  EXPECT_TRUE(to.is_all(0));
  EXPECT_EQ(await_completion(here_), "1:remote-access");
  EXPECT_TRUE(to.is_all(0));
}

TEST_F(DirectTest, ATargetThatHasDisconnectedIsOutOfReachThoughWeHaveNotHeardIt) {
  Block from(here_, 64), to(there_, 64);
  from.fill(1);
  expect_ok(passive_->disconnect(false));
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, 64)}, to));
  EXPECT_TRUE(to.is_all(0));
  EXPECT_EQ(await_completion(here_), "1:flushed");
  EXPECT_TRUE(to.is_all(0));
}

TEST_F(DirectTest, AnotherProtectionDomainIsOutOfReach) {
  const auto other = expect_ok(there_.nic.create_pd());
  Block from(here_, 64), to(there_, 64);
  from.fill(1);
  const auto region = expect_ok(there_.nic.register_memory(*other, to.address(), 64, kEverything));
  expect_ok(active_->post_send({.wr_id = 1,
                                .opcode = hca::SendOpcode::kWrite,
                                .flags = hca::kSignaled,
                                .rkey = region->rkey(),
                                .remote_address = to.address(),
                                .local = Segments{from.segment(0, 64)}}));
  EXPECT_EQ(await_completion(here_), "1:remote-access");
  EXPECT_TRUE(to.is_all(0));
}

TEST_F(DirectTest, MemoryThatCannotBeSharedIsReachedByMessages) {
  alignas(64) unsigned char on_stack[64] = {};
  Block from(here_, 64);
  from.fill(9);
  const auto address = reinterpret_cast<std::uint64_t>(on_stack);
  const auto region = expect_ok(there_.nic.register_memory(*there_.pd, address, sizeof on_stack, kEverything));
  expect_ok(active_->post_send({.wr_id = 1,
                                .opcode = hca::SendOpcode::kWrite,
                                .flags = hca::kSignaled,
                                .rkey = region->rkey(),
                                .remote_address = address,
                                .local = Segments{from.segment(0, 64)}}));
  EXPECT_EQ(here_.next(), "none");
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_EQ(on_stack[0], 9);
}

TEST_F(DirectTest, MemoryThatGrantsPeersNothingStaysPrivate) {
  Block secret(there_, 4096, hca::kLocalWrite), shared(there_, 4096, hca::kLocalWrite | hca::kRemoteRead);
  EXPECT_FALSE(is_moved(secret.address()));
  EXPECT_TRUE(is_moved(shared.address()));
}

TEST_F(DirectTest, ALargeSendReachesMemoryThatGrantsPeersNothing) {
  Block from(here_, 100'000), to(there_, 100'000, hca::kLocalWrite);
  from.fill(3);
  expect_ok(passive_->post_recv({.wr_id = 1, .local = Segments{to.segment(0, 100'000)}}));
  expect_ok(active_->post_send({.wr_id = 2, .flags = hca::kSignaled, .local = Segments{from.segment(0, 100'000)}}));
  EXPECT_EQ(await_completion(there_), "1:ok");
  EXPECT_EQ(await_completion(here_), "2:ok");
  EXPECT_TRUE(to.is_all(3));
}

TEST_F(DirectTest, AWriteIntoWhatItsOwnerHasUnmappedHarmsNobody) {
  Block from(here_, 8192), to(there_, 8192);
  from.fill(7);
  ASSERT_EQ(::munmap(to.data(), 8192), 0);
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, 8192)}, to));
  EXPECT_EQ(await_completion(here_), "1:ok");
  expect_ok(post(hca::SendOpcode::kRead, 2, {from.segment(0, 8192)}, to));
  EXPECT_EQ(await_completion(here_), "2:ok");
}

// What has come to lie at the same address since is another memory.
TEST_F(DirectTest, AWriteDoesNotReachWhatReplacedTheTarget) {
  Block from(here_, 4096), to(there_, 4096);
  from.fill(7);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  ASSERT_EQ(::mmap(to.data(), 4096, PROT_READ | PROT_WRITE, kFlags, -1, 0), to.data());
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, 4096)}, to));
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_TRUE(to.is_all(0));
}

TEST_F(DirectTest, AWriteIntoWhatItsOwnerHasProtectedHarmsNobody) {
  Block from(here_, 4096), to(there_, 4096);
  from.fill(7);
  ASSERT_EQ(::mprotect(to.data(), 4096, PROT_NONE), 0);
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, 4096)}, to));
  EXPECT_EQ(await_completion(here_), "1:ok");
  ASSERT_EQ(::mprotect(to.data(), 4096, PROT_READ | PROT_WRITE), 0);
  EXPECT_TRUE(to.is_all(7));
}

TEST_F(DirectTest, AWriteFollowsMemoryThatItsOwnerHasMoved) {
  Block from(here_, 4096), to(there_, 4096);
  from.fill(7);
  void* const elsewhere = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(::mremap(to.data(), 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere), elsewhere);
  expect_ok(post(hca::SendOpcode::kWrite, 1, {from.segment(0, 4096)}, to));
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_EQ(static_cast<std::byte*>(elsewhere)[4095], std::byte{7});
  ::munmap(elsewhere, 4096);
}

TEST_F(DirectTest, ALargeSendLiesInItsReceiveBeforeTheTargetTurns) {
  Block from(here_, 100'000), to(there_, 100'000);
  from.fill(3);
  const Segments scatter{to.segment(60'000, 40'000), to.segment(0, 60'000)};
  const Segments gather{from.segment(0, 1), from.segment(1, 99'999)};
  expect_ok(passive_->post_recv({.wr_id = 1, .local = scatter}));
  expect_ok(active_->post_send({.wr_id = 2, .flags = hca::kSignaled, .local = gather}));
  EXPECT_TRUE(to.is_all(3));
  EXPECT_EQ(there_.next(), "none");
  EXPECT_EQ(await_completion(there_), "1:ok");
  EXPECT_EQ(await_completion(here_), "2:ok");
}

// One message that has to wait must not keep those behind it from going directly as long as anything is under way.
TEST_F(DirectTest, ALargeSendIsPlacedBehindOneThatHasNoReceiveYet) {
  constexpr std::size_t kSlot = 20'000;
  Block from(here_, kSlot), to(there_, 3 * kSlot);
  const auto receive = [&](std::uint64_t i) {
    expect_ok(passive_->post_recv({.wr_id = i, .local = Segments{to.segment(i * kSlot, kSlot)}}));
  };
  const auto send = [&](std::uint64_t i, int value) {
    from.fill(value);
    expect_ok(active_->post_send({.wr_id = i, .flags = hca::kSignaled, .local = Segments{from.segment(0, kSlot)}}));
  };
  send(0, 1);  // finds no receive, and will be repeated
  for (int i = 0; i < 10; ++i) {
    here_.turn();
    there_.turn();
  }
  receive(0);
  receive(1);
  receive(2);
  send(1, 2);
  send(2, 3);
  EXPECT_EQ(to.data()[2 * kSlot - 1], std::byte{2});
  EXPECT_EQ(to.data()[3 * kSlot - 1], std::byte{3});
  EXPECT_EQ(there_.next(), "none");
  // What is repeated is read anew.
  from.fill(4);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(await_completion(there_), std::to_string(i) + ":ok");
    EXPECT_EQ(await_completion(here_), std::to_string(i) + ":ok");
  }
  for (std::size_t i = 0; i < kSlot; ++i) {
    ASSERT_EQ(to.data()[i], std::byte{4}) << i;
    ASSERT_EQ(to.data()[kSlot + i], std::byte{2}) << i;
    ASSERT_EQ(to.data()[2 * kSlot + i], std::byte{3}) << i;
  }
}

// It sends what a read before it brings.
TEST_F(DirectTest, AFencedLargeSendWaitsForReads) {
  constexpr std::size_t kLength = 20'000;
  Block local(here_, kLength), source(there_, kLength, kEverything | hca::kBindRemoteRead), to(there_, kLength);
  local.fill(1);
  source.fill(2);
  expect_ok(passive_->post_recv({.wr_id = 7, .local = Segments{to.segment(0, kLength)}}));
  const auto window = expect_ok(there_.nic.create_window(*there_.pd, hca::WindowScope::kDomain, 0));
  const std::uint32_t key = bind_passively(*window, source, kLength, hca::kRemoteRead);  // by messages
  expect_ok(active_->post_send({.wr_id = 1,
                                .opcode = hca::SendOpcode::kRead,
                                .flags = hca::kSignaled,
                                .rkey = key,
                                .remote_address = source.address(),
                                .local = Segments{local.segment(0, kLength)}}));
  expect_ok(active_->post_send(
      {.wr_id = 2, .flags = hca::kSignaled | hca::kFence, .local = Segments{local.segment(0, kLength)}}));
  EXPECT_EQ(to.data()[kLength - 1], std::byte{0});
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_EQ(await_completion(here_), "2:ok");
  EXPECT_EQ(await_completion(there_), "7:ok");
  EXPECT_TRUE(to.is_all(2));
}

// A write into the very bytes that the send will lie in: what was posted last is what is there in the end.
TEST_F(DirectTest, ALargeSendIsNotOvertakenByAWriteBeforeIt) {
  constexpr std::size_t kLength = 20'000;
  Block first(here_, kLength), second(here_, kLength), to(there_, kLength);
  first.fill(1);
  second.fill(2);
  const auto window = expect_ok(there_.nic.create_window(*there_.pd, hca::WindowScope::kDomain, 0));
  const std::uint32_t key = bind_passively(*window, to, kLength);  // by messages
  expect_ok(passive_->post_recv({.wr_id = 7, .local = Segments{to.segment(0, kLength)}}));
  expect_ok(active_->post_send({.wr_id = 1,
                                .opcode = hca::SendOpcode::kWrite,
                                .flags = hca::kSignaled,
                                .rkey = key,
                                .remote_address = to.address(),
                                .local = Segments{first.segment(0, kLength)}}));
  expect_ok(active_->post_send({.wr_id = 2, .flags = hca::kSignaled, .local = Segments{second.segment(0, kLength)}}));
  EXPECT_EQ(await_completion(there_), "7:ok");
  EXPECT_TRUE(to.is_all(2));
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_EQ(await_completion(here_), "2:ok");
}

TEST_F(DirectTest, SendsOfAllSizesTakeReceivesInOrder) {
  constexpr std::size_t kSlot = 32'768;
  constexpr std::size_t kSizes[] = {1, 100, 9000, kSlot};
  constexpr int kBatch = 8;
  Block from(here_, kSlot * kBatch), to(there_, kSlot * kBatch);
  for (int round = 0; round < 64; ++round) {
    const auto size_of = [&](int i) { return kSizes[(round * 7 + i * (1 + round % 3)) % 4]; };
    for (int i = 0; i < kBatch; ++i) {
      const auto slot = static_cast<std::size_t>(i) * kSlot;
      std::memset(from.data() + slot, round + i, kSlot);
      expect_ok(passive_->post_recv({.wr_id = slot, .local = Segments{to.segment(slot, kSlot)}}));
      expect_ok(active_->post_send(
          {.wr_id = slot, .flags = hca::kSignaled, .local = Segments{from.segment(slot, size_of(i))}}));
    }
    for (int i = 0; i < kBatch; ++i) {
      const auto slot = static_cast<std::size_t>(i) * kSlot;
      ASSERT_EQ(await_completion(there_), std::to_string(slot) + ":ok");
      ASSERT_EQ(to.data()[slot], static_cast<std::byte>(round + i));
      ASSERT_EQ(to.data()[slot + size_of(i) - 1], static_cast<std::byte>(round + i));
      ASSERT_EQ(await_completion(here_), std::to_string(slot) + ":ok");
    }
  }
}

TEST_F(DirectTest, ALargeSendWithoutAReceiveWaitsForOne) {
  Block from(here_, 50'000), to(there_, 50'000);
  from.fill(3);
  expect_ok(active_->post_send({.wr_id = 2, .flags = hca::kSignaled, .local = Segments{from.segment(0, 50'000)}}));
  for (int i = 0; i < 100; ++i) {
    here_.turn();
    there_.turn();
  }
  expect_ok(passive_->post_recv({.wr_id = 1, .local = Segments{to.segment(0, 50'000)}}));
  EXPECT_EQ(await_completion(there_), "1:ok");
  EXPECT_EQ(await_completion(here_), "2:ok");
  EXPECT_TRUE(to.is_all(3));
}

TEST_F(DirectTest, ALargeSendIntoTooShortAReceiveFailsBoth) {
  Block from(here_, 50'000), to(there_, 50'000);
  from.fill(3);
  expect_ok(passive_->post_recv({.wr_id = 1, .local = Segments{to.segment(0, 49'999)}}));
  expect_ok(active_->post_send({.wr_id = 2, .flags = hca::kSignaled, .local = Segments{from.segment(0, 50'000)}}));
  EXPECT_EQ(await_completion(there_), "1:local-length");
  EXPECT_EQ(await_completion(here_), "2:remote-operation");
}

TEST_F(DirectTest, AFlushedReceiveIsOutOfReach) {
  Block from(here_, 50'000), to(there_, 50'000);
  from.fill(3);
  expect_ok(passive_->post_recv({.wr_id = 1, .local = Segments{to.segment(0, 50'000)}}));
  expect_ok(passive_->disconnect(false));
  EXPECT_EQ(there_.next(), "1:flushed");
  expect_ok(active_->post_send({.wr_id = 2, .flags = hca::kSignaled, .local = Segments{from.segment(0, 50'000)}}));
  EXPECT_EQ(await_completion(here_), "2:flushed");
  EXPECT_TRUE(to.is_all(0));
}

TEST_F(DirectTest, AZeroBasedRegionCountsFromItsStart) {
  Block from(here_, 64), to(there_, 128);
  from.fill(4);
  const auto local = expect_ok(here_.nic.register_memory(*here_.pd, from.address(), 64, kEverything | hca::kZeroBased));
  const auto remote =
      expect_ok(there_.nic.register_memory(*there_.pd, to.address(), 128, kEverything | hca::kZeroBased));
  const auto write_at = [&](std::uint64_t wr_id, std::uint64_t address) {
    return active_->post_send({.wr_id = wr_id,
                               .opcode = hca::SendOpcode::kWrite,
                               .flags = hca::kSignaled,
                               .rkey = remote->rkey(),
                               .remote_address = address,
                               .local = Segments{{0, 64, local->lkey()}}});
  };
  expect_ok(write_at(1, 64));
  EXPECT_EQ(here_.next(), "1:ok");
  EXPECT_EQ(to.data()[63], std::byte{0});
  EXPECT_EQ(to.data()[64], std::byte{4});
  EXPECT_EQ(to.data()[127], std::byte{4});
  expect_ok(write_at(2, to.address()));
  EXPECT_EQ(await_completion(here_), "2:remote-access");
}

// Windows are no part of the key directory; what they open is reached as ever, and shut as ever.
TEST_F(DirectTest, AWindowIsReachedByMessages) {
  Block from(here_, 64), to(there_, 64);
  from.fill(8);
  const auto window = expect_ok(there_.nic.create_window(*there_.pd, hca::WindowScope::kDomain, 0));
  const std::uint32_t key = bind_passively(*window, to, 32);
  const auto write_at = [&](std::uint64_t wr_id, std::uint64_t address) {
    return active_->post_send({.wr_id = wr_id,
                               .opcode = hca::SendOpcode::kWrite,
                               .flags = hca::kSignaled,
                               .rkey = key,
                               .remote_address = address,
                               .local = Segments{from.segment(0, 32)}});
  };
  expect_ok(write_at(1, to.address()));
  EXPECT_EQ(here_.next(), "none");
  EXPECT_EQ(await_completion(here_), "1:ok");
  EXPECT_EQ(to.data()[31], std::byte{8});
  expect_ok(write_at(2, to.address() + 1));
  EXPECT_EQ(await_completion(here_), "2:remote-access");
  EXPECT_EQ(to.data()[32], std::byte{0});
}

// Whatever takes a receive is counted, or a large send would lie in another's.
TEST_F(DirectTest, SendsOfEveryKindTakeReceivesInOrder) {
  constexpr std::size_t kLarge = 20'000;
  Block from(here_, kLarge), to(there_, 4 * kLarge);
  const auto window = expect_ok(there_.nic.create_window(*there_.pd, hca::WindowScope::kDomain, 0));
  const std::uint32_t key = bind_passively(*window, to, 32);
  for (std::uint64_t i = 0; i < 4; ++i) {
    expect_ok(passive_->post_recv({.wr_id = i, .local = Segments{to.segment(i * kLarge, kLarge)}}));
  }
  from.fill(1);
  const auto send = [&](hca::SendOpcode opcode, std::uint64_t wr_id, std::uint32_t rkey, std::size_t length) {
    expect_ok(active_->post_send({.wr_id = wr_id,
                                  .opcode = opcode,
                                  .flags = hca::kSignaled,
                                  .rkey = rkey,
                                  .remote_address = to.address(),
                                  .local = Segments{from.segment(0, length)}}));
    EXPECT_EQ(await_completion(here_), std::to_string(wr_id) + ":ok");
    EXPECT_EQ(await_completion(there_), std::to_string(wr_id) + ":ok");
  };
  send(hca::SendOpcode::kSendInvalidate, 0, key, 10);
  send(hca::SendOpcode::kWriteWithImmediate, 1, to.key(), 10);
  from.fill(2);
  send(hca::SendOpcode::kSend, 2, 0, kLarge);
  from.fill(3);
  send(hca::SendOpcode::kSend, 3, 0, kLarge);
  EXPECT_EQ(to.data()[kLarge], std::byte{0});
  for (std::size_t i = 0; i < kLarge; ++i) {
    ASSERT_EQ(to.data()[2 * kLarge + i], std::byte{2}) << i;
    ASSERT_EQ(to.data()[3 * kLarge + i], std::byte{3}) << i;
  }
}

// A queue pair whose completions go to a small queue of its own.
class SmallQueueTest : public DirectTest {
 protected:
  void connect_small(std::size_t capacity) {
    small_ = expect_ok(here_.nic.create_cq(capacity, here_.sink));
    hca::QueuePairConfig config;
    config.pd = here_.pd.get();
    config.send_cq = config.recv_cq = small_.get();
    config.limits = Endpoint::kLimits;
    config.sink = &sink_;
    qp_ = expect_ok(here_.nic.create_qp(config));
    partner_ = there_.make_qp(passive_sink_);
    acceptor_.expect(*partner_);
    expect_ok(
        qp_->connect({.remote = there_.nic.attributes().address, .service_id = own_service(), .private_data = {}}));
    ASSERT_TRUE(turn_until([&] { return passive_sink_.count(ConnectionEventType::kEstablished) == 2; }));
  }
  bool turn_until(const std::function<bool()>& is_done) {
    return await([&] {
      here_.turn();
      there_.turn();
      return is_done();
    });
  }
  hca::Outcome write(std::uint64_t wr_id, const Block& from, const Block& to) {
    return qp_->post_send({.wr_id = wr_id,
                           .opcode = hca::SendOpcode::kWrite,
                           .flags = hca::kSignaled,
                           .rkey = to.key(),
                           .remote_address = to.address(),
                           .local = Segments{from.segment(0, 64)}});
  }

  LiveSink sink_;
  std::unique_ptr<hca::CompletionQueue> small_;
  std::unique_ptr<hca::QueuePair> qp_;
  std::unique_ptr<hca::QueuePair> partner_;
};

TEST_F(SmallQueueTest, AFullCompletionQueueBreaksTheConnection) {
  Block from(here_, 64), to(there_, 64);
  connect_small(2);
  for (int i = 0; i < 3; ++i) expect_ok(write(1, from, to));
  EXPECT_TRUE(turn_until([&] { return sink_.count(ConnectionEventType::kBroken) == 1; }));
  EXPECT_EQ(here_.sink.overflows.load(), 1);
}

// What is over at once leaves the queue of requests empty; something must yet tell a poster to wait for who takes the
// completions.
TEST_F(SmallQueueTest, APosterIsRefusedBeforeHeFillsTheCompletionQueue) {
  constexpr std::size_t kCapacity = 64;
  Block from(here_, 64), to(there_, 64);
  connect_small(kCapacity);
  std::uint64_t posted = 0;
  while (posted < 2 * kCapacity && write(posted, from, to).ok()) ++posted;
  EXPECT_LT(posted, kCapacity);
  EXPECT_EQ(qp_->sends_outstanding(), Endpoint::kLimits.send_wr);
  for (std::uint64_t taken = 0; taken < 10 * kCapacity; ++taken) {
    hca::Completion completion{};
    ASSERT_TRUE(turn_until([&] { return small_->poll({&completion, 1}) == 1; }));
    ASSERT_EQ(completion.wr_id, taken);
    while (qp_->sends_outstanding() < Endpoint::kLimits.send_wr && posted < taken + kCapacity / 2) {
      expect_ok(write(posted++, from, to));
    }
  }
  EXPECT_EQ(qp_->state(), hca::QueuePairState::kConnected);
  EXPECT_EQ(here_.sink.overflows.load(), 0);
}

}  // namespace
}  // namespace softdat::simnic::testing
