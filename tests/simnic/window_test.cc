// SPDX-License-Identifier: BSD-2-Clause
// Memory windows: binds take their turn among the sends, keys open and shut, and what peers may do
// through them.
#include "simnic/memory_window.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

constexpr hca::AccessMask kBindable = hca::kLocalWrite | hca::kBindRemoteRead;
constexpr hca::AccessMask kReadWrite = hca::kRemoteRead | hca::kRemoteWrite;
constexpr std::uint64_t kContext = 0xc0ffee;

class WindowTest : public ConnectedTest {
 protected:
  std::unique_ptr<hca::MemoryWindow> make_window(hca::WindowScope scope = hca::WindowScope::kDomain) {
    return expect_ok(there().nic().create_window(there().pd(), scope, kContext));
  }
  static hca::Result<std::uint32_t> bind(Endpoint& on, hca::MemoryWindow& window, const hca::Segment& to,
                                         hca::AccessMask access = kReadWrite, std::uint64_t wr_id = 50,
                                         std::uint32_t flags = hca::kSignaled) {
    return on.qp().post_bind({.wr_id = wr_id,
                              .flags = flags,
                              .window = &window,
                              .lkey = to.lkey,
                              .address = to.address,
                              .length = to.length,
                              .access = access,
                              .note = 0x77});
  }
  std::uint32_t bound(hca::MemoryWindow& window, const hca::Segment& to, hca::AccessMask access = kReadWrite) {
    const std::uint32_t key = expect_ok(bind(*passive_, window, to, access));
    settle();
    EXPECT_EQ(passive_->sends(), "50:ok");
    return key;
  }
  hca::Outcome write_to(std::uint64_t wr_id, const Segments& local, std::uint32_t key, std::uint64_t address) {
    return active_->qp().post_send({.wr_id = wr_id,
                                    .opcode = hca::SendOpcode::kWrite,
                                    .flags = hca::kSignaled,
                                    .rkey = key,
                                    .remote_address = address,
                                    .local = local});
  }
  hca::Outcome read_from(std::uint64_t wr_id, const Segments& local, std::uint32_t key, std::uint64_t address) {
    return active_->qp().post_send({.wr_id = wr_id,
                                    .opcode = hca::SendOpcode::kRead,
                                    .flags = hca::kSignaled,
                                    .rkey = key,
                                    .remote_address = address,
                                    .local = local});
  }
  hca::Outcome send_invalidate(std::uint64_t wr_id, const Segments& local, std::uint32_t key,
                               std::uint32_t flags = hca::kSignaled) {
    return active_->qp().post_send(
        {.wr_id = wr_id, .opcode = hca::SendOpcode::kSendInvalidate, .flags = flags, .rkey = key, .local = local});
  }

  // What the peer is told that writes one byte there.
  std::string write_one(std::uint32_t key, std::uint64_t address) {
    Memory from(here(), bytes("x"));
    expect_ok(write_to(1, {from.all()}, key, address));
    settle();
    return active_->sends();
  }
};

TEST_F(WindowTest, OpensItsPieceAndNothingElse) {
  Memory memory(there(), bytes("0123456789"), kBindable), from(here(), bytes("ab"));
  auto window = make_window();
  const std::uint32_t key = bound(*window, memory.segment(3, 4));
  EXPECT_NE(key, memory.key());
  expect_ok(write_to(1, {from.all()}, key, memory.address(3)));
  expect_ok(write_to(2, {from.all()}, key, memory.address(5)));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 2:ok");
  EXPECT_EQ(memory.text(10), "012abab789");
  expect_ok(write_to(3, {from.all()}, key, memory.address(6)));
  settle();
  EXPECT_EQ(active_->sends(), "3:remote-access");
  EXPECT_EQ(memory.text(10), "012abab789");
}

TEST_F(WindowTest, CompletionCarriesTheWindowsContext) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  expect_ok(bind(*passive_, *window, memory.all(), kReadWrite, 9));
  settle();
  const auto done = passive_->next_send();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->opcode, CompletionOpcode::kBind);
  EXPECT_EQ(done->status, CompletionStatus::kSuccess);
  EXPECT_EQ(done->wr_id, 9u);
  EXPECT_EQ(done->qp_context, kContext);
}

TEST_F(WindowTest, TellsWhatItIsBoundTo) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  EXPECT_EQ(window->binding().rkey, 0u);
  const std::uint32_t key = bound(*window, memory.segment(8, 16));
  const hca::WindowBinding now = window->binding();
  EXPECT_EQ(now.rkey, key);
  EXPECT_EQ(now.lkey, memory.key());
  EXPECT_EQ(now.address, memory.address(8));
  EXPECT_EQ(now.length, 16u);
  EXPECT_EQ(now.note, 0x77u);
  EXPECT_FALSE(now.is_zero_based);
  EXPECT_EQ(bound(*window, {}), 0u);
  EXPECT_EQ(window->binding().rkey, 0u);
}

TEST_F(WindowTest, RebindingShutsTheOldKey) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  const std::uint32_t old = bound(*window, memory.segment(0, 32));
  const std::uint32_t key = bound(*window, memory.segment(0, 64));
  EXPECT_NE(old, key);
  EXPECT_EQ(write_one(key, memory.address(63)), "1:ok");
  EXPECT_EQ(write_one(old, memory.address()), "1:remote-access");
}

TEST_F(WindowTest, UnbindingShutsTheKey) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  const std::uint32_t key = bound(*window, memory.all());
  bound(*window, {});
  EXPECT_EQ(write_one(key, memory.address()), "1:remote-access");
}

TEST_F(WindowTest, DestroyingShutsTheKey) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  const std::uint32_t key = bound(*window, memory.all());
  window.reset();
  EXPECT_EQ(write_one(key, memory.address()), "1:remote-access");
}

TEST_F(WindowTest, GrantsOnlyTheRightsAskedFor) {
  Memory memory(there(), 64, kBindable | kReadWrite), to(here(), 1);
  auto readable = make_window(), writable = make_window();
  const std::uint32_t read_key = bound(*readable, memory.all(), hca::kRemoteRead);
  const std::uint32_t write_key = bound(*writable, memory.all(), hca::kRemoteWrite);
  expect_ok(read_from(2, {to.all()}, read_key, memory.address()));
  settle();
  EXPECT_EQ(active_->sends(), "2:ok");
  EXPECT_EQ(write_one(write_key, memory.address()), "1:ok");
  EXPECT_EQ(write_one(read_key, memory.address()), "1:remote-access");
}

TEST_F(WindowTest, RightsNeedThoseOfTheRegion) {
  Memory read_only(there(), bytes("r"), hca::kBindRemoteRead), write_only(there(), bytes("w"), hca::kLocalWrite);
  auto window = make_window();
  EXPECT_EQ(reason(bind(*passive_, *window, read_only.all())), hca::Error::kMissingRight);
  EXPECT_EQ(reason(bind(*passive_, *window, write_only.all())), hca::Error::kMissingRight);
  EXPECT_EQ(reason(bind(*passive_, *window, read_only.all(), hca::kRemoteRead)), std::nullopt);
  EXPECT_EQ(reason(bind(*passive_, *window, write_only.all(), hca::kRemoteWrite)), std::nullopt);
}

TEST_F(WindowTest, BadBindsAreRefusedAndLeaveNoTrace) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  auto other_pd = expect_ok(there().nic().create_pd());
  auto foreign = expect_ok(there().nic().create_window(*other_pd, hca::WindowScope::kDomain, 0));
  Memory elsewhere(there(), bytes("abc"), kBindable, other_pd.get());
  EXPECT_EQ(reason(bind(*passive_, *window, {memory.address(), 64, 0})), hca::Error::kBadKey);
  EXPECT_EQ(reason(bind(*passive_, *window, {memory.address(1), 64, memory.key()})), hca::Error::kOutOfRange);
  EXPECT_EQ(reason(bind(*passive_, *window, elsewhere.all())), hca::Error::kWrongDomain);
  EXPECT_EQ(reason(bind(*passive_, *foreign, elsewhere.all())), hca::Error::kWrongDomain);
  EXPECT_EQ(reason(bind(*passive_, *window, memory.all(), hca::kLocalWrite)), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(bind(*passive_, *window, memory.all(), kReadWrite, 1, hca::kSolicited)),
            hca::Error::kInvalidArgument);
  const std::uint32_t key = bound(*window, memory.all());
  EXPECT_EQ(reason(bind(*passive_, *window, {memory.address(), 64, key})), hca::Error::kBadKey);
  EXPECT_EQ(passive_->qp().sends_outstanding(), 0u);
}

TEST_F(WindowTest, WindowKeysNameNoLocalMemory) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  const std::uint32_t key = bound(*window, memory.all());
  EXPECT_EQ(reason(passive_->send(1, {{memory.address(), 8, key}})), hca::Error::kMissingRight);
  EXPECT_EQ(reason(passive_->recv(1, {{memory.address(), 8, key}})), hca::Error::kMissingRight);
  EXPECT_EQ(reason(there().nic().check_memory(key, memory.address(), 8)), hca::Error::kBadKey);
}

TEST_F(WindowTest, ZeroBasedWindowsCountFromTheirStart) {
  Memory memory(there(), bytes("0123456789"), kBindable), from(here(), bytes("z"));
  auto window = make_window();
  const std::uint32_t key = bound(*window, memory.segment(4, 3), kReadWrite | hca::kZeroBased);
  EXPECT_TRUE(window->binding().is_zero_based);
  EXPECT_EQ(window->binding().address, memory.address(4));
  expect_ok(write_to(1, {from.all()}, key, 2));
  settle();
  EXPECT_EQ(memory.text(10), "012345z789");
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_EQ(write_one(key, 3), "1:remote-access");
}

TEST_F(WindowTest, NarrowWindowsServeOneConnection) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window(hca::WindowScope::kQueuePair);
  const std::uint32_t key = bound(*window, memory.all());
  EXPECT_EQ(write_one(key, memory.address()), "1:ok");
  Endpoint other(here()), third(there());
  world_->connect(other, third);
  Memory from(here(), bytes("y"));
  expect_ok(other.qp().post_send({.wr_id = 4,
                                  .opcode = hca::SendOpcode::kWrite,
                                  .flags = hca::kSignaled,
                                  .rkey = key,
                                  .remote_address = memory.address(),
                                  .local = Segments{from.all()}}));
  settle();
  EXPECT_EQ(other.sends(), "4:remote-access");
  EXPECT_EQ(write_one(key, memory.address()), "1:ok");
}

TEST_F(WindowTest, RegionInUseCannotBeRevoked) {
  Memory memory(there(), 64, kBindable);
  const auto region = expect_ok(there().nic().register_memory(there().pd(), memory.address(), 64, kBindable));
  auto window = make_window();
  bound(*window, {memory.address(), 64, region->lkey()});
  EXPECT_EQ(reason(region->revoke()), hca::Error::kInvalidState);
  bound(*window, {});
  expect_ok(region->revoke());
  EXPECT_EQ(reason(bind(*passive_, *window, {memory.address(), 64, region->lkey()})), hca::Error::kBadKey);
  expect_ok(region->revoke());
}

TEST_F(WindowTest, WindowsOverADestroyedRegionOpenNothing) {
  Memory memory(there(), 64, kBindable);
  auto region = expect_ok(there().nic().register_memory(there().pd(), memory.address(), 64, kBindable));
  auto window = make_window();
  const std::uint32_t key = bound(*window, {memory.address(), 64, region->lkey()});
  region.reset();
  EXPECT_EQ(window->binding().rkey, 0u);
  EXPECT_EQ(write_one(key, memory.address()), "1:remote-access");
  window.reset();
}

// A send that finds no receive is repeated, and with it everything behind it, but the bind is not
// carried out twice.
TEST_F(WindowTest, BindsTakeTheirTurnAmongSendsThatAreRepeated) {
  Memory message(there(), bytes("message")), memory(there(), 64, kBindable), to(here(), 16);
  auto window = make_window();
  expect_ok(passive_->send(1, {message.all()}));
  const std::uint32_t key = expect_ok(bind(*passive_, *window, memory.all(), kReadWrite, 2));
  expect_ok(passive_->send(3, {message.all()}));
  settle();
  EXPECT_EQ(passive_->sends(), "");
  expect_ok(active_->recv(10, {to.all()}));
  expect_ok(active_->recv(11, {to.all()}));
  settle();
  EXPECT_EQ(active_->recvs(), "10:ok 11:ok");
  EXPECT_EQ(passive_->sends(), "1:ok 2:ok 3:ok");
  EXPECT_EQ(window->binding().rkey, key);
  EXPECT_EQ(write_one(key, memory.address()), "1:ok");
}

TEST_F(WindowTest, FencedBindsWaitForReads) {
  Memory source(here(), 4096), to(there(), 4096, kBindable | hca::kRemoteWrite), memory(there(), 8, kBindable);
  auto window = make_window();
  const std::uint32_t key = bound(*window, to.all());
  expect_ok(passive_->qp().post_send({.wr_id = 1,
                                      .opcode = hca::SendOpcode::kReadToWindow,
                                      .flags = hca::kSignaled,
                                      .rkey = source.key(),
                                      .remote_address = source.address(),
                                      .local = Segments{{to.address(), 4096, key}}}));
  expect_ok(bind(*passive_, *window, {}, 0, 2, hca::kSignaled | hca::kFence));
  settle();
  EXPECT_EQ(passive_->sends(), "1:ok 2:ok");
}

// Without a fence the window may be gone when the answer comes.
TEST_F(WindowTest, ReadIntoAWindowThatIsUnboundMeanwhileFails) {
  Memory source(here(), 64), to(there(), 64, kBindable);
  auto window = make_window();
  const std::uint32_t key = bound(*window, to.all());
  expect_ok(passive_->qp().post_send({.wr_id = 1,
                                      .opcode = hca::SendOpcode::kReadToWindow,
                                      .flags = hca::kSignaled,
                                      .rkey = source.key(),
                                      .remote_address = source.address(),
                                      .local = Segments{{to.address(), 64, key}}}));
  expect_ok(bind(*passive_, *window, {}, 0, 2));
  settle();
  EXPECT_EQ(passive_->sends(), "1:local-protection 2:flushed");
  EXPECT_EQ(passive_->events(), "broken");
}

TEST_F(WindowTest, ReadIntoAWindowMayFollowItsBind) {
  Memory source(here(), pattern(1000, 3)), to(there(), 1000, kBindable);
  auto window = make_window();
  const std::uint32_t key = expect_ok(bind(*passive_, *window, to.all(), hca::kRemoteWrite, 1));
  expect_ok(passive_->qp().post_send({.wr_id = 2,
                                      .opcode = hca::SendOpcode::kReadToWindow,
                                      .flags = hca::kSignaled,
                                      .rkey = source.key(),
                                      .remote_address = source.address(),
                                      .local = Segments{{to.address(), 1000, key}}}));
  settle();
  EXPECT_EQ(passive_->sends(), "1:ok 2:ok");
  EXPECT_TRUE(to.content() == source.content());
}

TEST_F(WindowTest, ReadIntoAWindowNeedsItsRightToBeWritten) {
  Memory source(here(), 64), to(there(), 64, kBindable);
  auto window = make_window();
  const std::uint32_t key = bound(*window, to.all(), hca::kRemoteRead);
  EXPECT_EQ(reason(passive_->qp().post_send({.wr_id = 1,
                                             .opcode = hca::SendOpcode::kReadToWindow,
                                             .flags = hca::kSignaled,
                                             .rkey = source.key(),
                                             .remote_address = source.address(),
                                             .local = Segments{{to.address(), 64, key}}})),
            hca::Error::kMissingRight);
}

TEST_F(WindowTest, SuppressedBindsCompleteSilently) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  const std::uint32_t key = expect_ok(bind(*passive_, *window, memory.all(), kReadWrite, 1, 0));
  settle();
  EXPECT_EQ(passive_->sends(), "");
  EXPECT_EQ(passive_->qp().sends_outstanding(), 0u);
  EXPECT_EQ(write_one(key, memory.address()), "1:ok");
}

TEST_F(WindowTest, BindsOfAnEndedConnectionAreFlushedWithoutEffect) {
  Memory memory(there(), 64, kBindable);
  const auto region = expect_ok(there().nic().register_memory(there().pd(), memory.address(), 64, kBindable));
  auto window = make_window();
  expect_ok(passive_->qp().disconnect(false));
  settle();
  expect_ok(bind(*passive_, *window, {memory.address(), 64, region->lkey()}, kReadWrite, 1, 0));
  settle();
  EXPECT_EQ(passive_->sends(), "1:flushed");
  EXPECT_EQ(window->binding().rkey, 0u);
  expect_ok(region->revoke());
}

// What was carried out already is undone when its completion says that it was not.
TEST_F(WindowTest, AFlushedBindHasBoundNothing) {
  Memory message(there(), bytes("m")), memory(there(), 64, kBindable);
  auto window = make_window();
  expect_ok(passive_->send(1, {message.all()}));  // finds no receive
  expect_ok(bind(*passive_, *window, memory.all(), kReadWrite, 2));
  settle();
  EXPECT_NE(window->binding().rkey, 0u);
  expect_ok(passive_->qp().disconnect(false));
  settle();
  EXPECT_EQ(passive_->sends(), "1:flushed 2:flushed");
  EXPECT_EQ(window->binding().rkey, 0u);
}

TEST_F(WindowTest, BindsNeedAConnection) {
  Memory memory(there(), 64, kBindable);
  auto window = make_window();
  Endpoint idle(there());
  EXPECT_EQ(reason(bind(idle, *window, memory.all())), hca::Error::kInvalidState);
}

TEST_F(WindowTest, DestroyingTheWindowDefusesItsPostedBinds) {
  Memory memory(there(), 64, kBindable), source(here(), 64);
  auto window = make_window();
  // A read that is not answered yet holds the fenced bind back.
  expect_ok(passive_->read(1, {memory.all()}, source));
  const std::uint32_t key =
      expect_ok(bind(*passive_, *window, memory.all(), kReadWrite, 2, hca::kSignaled | hca::kFence));
  window.reset();
  settle();
  EXPECT_EQ(passive_->sends(), "1:ok 2:ok");
  EXPECT_EQ(reason(there().nic().check_memory(key, memory.address(), 1)), hca::Error::kBadKey);
}

TEST_F(WindowTest, DestroyingTheQueuePairTakesItsPostedBindsBack) {
  Memory memory(there(), 64, kBindable), source(here(), 64);
  auto region = expect_ok(there().nic().register_memory(there().pd(), memory.address(), 64, kBindable));
  auto window = make_window();
  expect_ok(passive_->read(1, {memory.all()}, source));
  expect_ok(bind(*passive_, *window, {memory.address(), 64, region->lkey()}, kReadWrite, 2, hca::kFence));
  EXPECT_EQ(reason(region->revoke()), hca::Error::kInvalidState);
  passive_->destroy_qp();
  expect_ok(region->revoke());
  EXPECT_EQ(window->binding().rkey, 0u);
}

TEST_F(WindowTest, PeersSendShutsTheKeyAndTellsIt) {
  Memory memory(there(), 64, kBindable), message(here(), bytes("hi")), to(there(), 8);
  const auto region = expect_ok(there().nic().register_memory(there().pd(), memory.address(), 64, kBindable));
  auto window = make_window();
  const std::uint32_t key = bound(*window, {memory.address(), 64, region->lkey()});
  expect_ok(passive_->recv(7, {to.all()}));
  expect_ok(send_invalidate(3, {message.all()}, key, hca::kSignaled | hca::kSolicited));
  settle();
  EXPECT_EQ(active_->sends(), "3:ok");
  const auto received = passive_->next_recv();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, CompletionStatus::kSuccess);
  EXPECT_EQ(received->opcode, CompletionOpcode::kRecvInvalidate);
  EXPECT_EQ(received->invalidated, key);
  EXPECT_EQ(received->length, 2u);
  EXPECT_TRUE(received->solicited);
  EXPECT_EQ(to.text(2), "hi");
  EXPECT_EQ(window->binding().rkey, 0u);
  expect_ok(region->revoke());
  EXPECT_EQ(write_one(key, memory.address()), "1:remote-access");
}

TEST_F(WindowTest, AWindowIsBoundAgainAfterThePeerShutIt) {
  Memory memory(there(), 64, kBindable), to(there(), 8);
  auto window = make_window(hca::WindowScope::kQueuePair);
  for (std::uint64_t round = 0; round < 300; ++round) {
    const std::uint32_t key = bound(*window, memory.all());
    EXPECT_EQ(write_one(key, memory.address()), "1:ok");
    expect_ok(passive_->recv(round, {to.all()}));
    expect_ok(send_invalidate(round, {}, key));
    settle();
    ASSERT_EQ(active_->sends(), std::to_string(round) + ":ok");
    ASSERT_EQ(passive_->recvs(), std::to_string(round) + ":ok");
  }
}

TEST_F(WindowTest, PeersSendCannotShutARegion) {
  Memory memory(there(), 64), to(there(), 8);
  expect_ok(passive_->recv(7, {to.all()}));
  expect_ok(send_invalidate(3, {}, memory.key()));
  settle();
  EXPECT_EQ(active_->sends(), "3:remote-access");
  EXPECT_EQ(passive_->recvs(), "7:flushed");
  EXPECT_EQ(active_->events(), "broken");
  EXPECT_EQ(passive_->events(), "broken");
}

TEST_F(WindowTest, PeersSendCannotShutWhatItCouldNotUse) {
  Memory memory(there(), 64, kBindable), to(there(), 8);
  auto window = make_window(hca::WindowScope::kQueuePair);
  Endpoint other(here()), third(there());
  world_->connect(other, third);
  expect_ok(bind(third, *window, memory.all(), kReadWrite, 1));
  settle();
  EXPECT_EQ(third.sends(), "1:ok");
  const std::uint32_t key = window->binding().rkey;
  expect_ok(passive_->recv(7, {to.all()}));
  expect_ok(send_invalidate(3, {}, key));
  settle();
  EXPECT_EQ(active_->sends(), "3:remote-access");
  EXPECT_EQ(window->binding().rkey, key);
}

TEST_F(WindowTest, AKeyIsShutOnlyOnce) {
  Memory memory(there(), 64, kBindable), to(there(), 8);
  auto window = make_window();
  const std::uint32_t key = bound(*window, memory.all());
  expect_ok(passive_->recv(7, {to.all()}));
  expect_ok(passive_->recv(8, {to.all()}));
  expect_ok(send_invalidate(3, {}, key));
  expect_ok(send_invalidate(4, {}, key));
  settle();
  EXPECT_EQ(active_->sends(), "3:ok 4:remote-access");
  EXPECT_EQ(passive_->recvs(), "7:ok 8:flushed");
}

TEST_F(WindowTest, BindIsNoPostSend) {
  hca::SendRequest request;
  request.opcode = hca::SendOpcode::kBind;
  EXPECT_EQ(reason(active_->qp().post_send(request)), hca::Error::kInvalidArgument);
}

// Small channels, messages in pieces: binds between them keep their place.
TEST_F(WindowTest, BindsBetweenLongTransfersKeepTheirOrder) {
  use({.seed = 5, .capacity = 3000, .max_per_send = 900, .max_chunk = 500, .random_chunks = true});
  Memory memory(there(), 64, kBindable), from(there(), pattern(20000, 1)), to(here(), 20000);
  auto window = make_window();
  for (std::uint64_t round = 0; round < 5; ++round) {
    expect_ok(passive_->write(round * 2, {from.all()}, to));
    expect_ok(bind(*passive_, *window, memory.all(), kReadWrite, round * 2 + 1));
  }
  settle();
  EXPECT_EQ(passive_->sends(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok 6:ok 7:ok 8:ok 9:ok");
  EXPECT_EQ(write_one(window->binding().rkey, memory.address()), "1:ok");
}

}  // namespace
}  // namespace softdat::simnic::testing
