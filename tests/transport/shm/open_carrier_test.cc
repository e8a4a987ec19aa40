// SPDX-License-Identifier: BSD-2-Clause
// Which carrier a connection gets, and that a port is there on both or on neither.
#include "transport/open_carrier.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "tests/transport/conformance/peer.h"
#include "tests/transport/conformance/ready_counter.h"
#include "tests/transport/conformance/tcp_world.h"
#include "transport/auto_carrier.h"
#include "transport/shm/rendezvous.h"

namespace {

std::function<void()> g_before_tcp_connects;

}  // namespace

// In the place of the C library's.
extern "C" int connect(int socket, const sockaddr* address, socklen_t length) {
  if (g_before_tcp_connects && address->sa_family == AF_INET) std::exchange(g_before_tcp_connects, nullptr)();
  return static_cast<int>(::syscall(SYS_connect, socket, address, length));
}

namespace softdat::transport {
namespace {

using conformance::Peer;
using conformance::PeerPort;
using conformance::ReadyCounter;

constexpr std::uint64_t kService = 0x7000'0000'0000'0001;

class OpenCarrierTest : public testing::Test {
 protected:
  static std::unique_ptr<Carrier> open(CarrierKind kind, std::uint32_t number) {
    return open_carrier({.kind = kind, .address = {.ipv4 = own_loopback_address(number)}});
  }

  // Turns both carriers until `is_done`, for 20 s at most. Whether it is done.
  static bool turn_until(Carrier& here, Carrier& there, const std::function<bool()>& is_done) {
    const base::Time deadline = base::Clock::now() + std::chrono::seconds(20);
    while (!is_done() && base::Clock::now() < deadline) {
      here.turn(base::Clock::now());
      there.turn(base::Clock::now());
    }
    return is_done();
  }

  // Connects and tells which carrier both sides got.
  std::string connect(CarrierKind from, CarrierKind to) {
    const auto here = open(from, 1);
    const auto there = open(to, 2);
    Peer active, passive;
    PeerPort port(*there, kService, 4);
    port.handler = [&](auto request) { EXPECT_TRUE(passive.accept(*request)); };
    active.connect(*here, {.ipv4 = own_loopback_address(2)}, kService);
    turn_until(*here, *there,
               [&] { return (active.is_established && passive.is_established) || !active.refusals.empty(); });
    if (!active.is_established || !passive.is_established) return "none";
    EXPECT_STREQ(active.channel->carrier_name(), passive.channel->carrier_name());
    return active.channel->carrier_name();
  }
};

TEST_F(OpenCarrierTest, SharedMemoryIsChosenWhereBothSidesHaveIt) {
  EXPECT_EQ(connect(CarrierKind::kAuto, CarrierKind::kAuto), "shm");
  EXPECT_EQ(connect(CarrierKind::kShm, CarrierKind::kAuto), "shm");
  EXPECT_EQ(connect(CarrierKind::kAuto, CarrierKind::kShm), "shm");
  EXPECT_EQ(connect(CarrierKind::kShm, CarrierKind::kShm), "shm");
}

TEST_F(OpenCarrierTest, TcpIsChosenWhereEitherSideHasNothingElse) {
  EXPECT_EQ(connect(CarrierKind::kAuto, CarrierKind::kTcp), "tcp");
  EXPECT_EQ(connect(CarrierKind::kTcp, CarrierKind::kAuto), "tcp");
  EXPECT_EQ(connect(CarrierKind::kTcp, CarrierKind::kTcp), "tcp");
}

TEST_F(OpenCarrierTest, WithoutACommonCarrierThereIsNoListener) {
  EXPECT_EQ(connect(CarrierKind::kShm, CarrierKind::kTcp), "none");
  EXPECT_EQ(connect(CarrierKind::kTcp, CarrierKind::kShm), "none");
}

// The connector found nobody in shared memory, and finds the listener by TCP. The next try goes through shared memory.
TEST_F(OpenCarrierTest, AListenerThatComesBetweenTheTwoLooksIsNotReachedByTcp) {
  const auto here = open(CarrierKind::kAuto, 1);
  const auto there = open(CarrierKind::kAuto, 2);
  Peer early, next, passive;
  std::optional<PeerPort> port;
  int requests = 0;
  g_before_tcp_connects = [&] {
    port.emplace(*there, kService, 4);
    port->handler = [&](auto request) {
      ++requests;
      EXPECT_TRUE(passive.accept(*request));
    };
  };
  early.connect(*here, {.ipv4 = own_loopback_address(2)}, kService);
  ASSERT_TRUE(turn_until(*here, *there, [&] { return !early.refusals.empty(); }));
  EXPECT_EQ(early.refusals.front(), Refusal::kNoListener);
  next.connect(*here, {.ipv4 = own_loopback_address(2)}, kService);
  ASSERT_TRUE(turn_until(*here, *there, [&] { return next.is_established && passive.is_established; }));
  EXPECT_STREQ(next.channel->carrier_name(), "shm");
  EXPECT_EQ(requests, 1);
}

// Its socket file has another version in its name.
TEST_F(OpenCarrierTest, TcpIsChosenForAPeerOfAnotherBuildAndTheReasonIsSaid) {
  const auto here = open(CarrierKind::kAuto, 1);
  const auto there = open(CarrierKind::kAuto, 2);
  PeerPort port(*there, kService, 4);
  Peer active, passive;
  port.handler = [&](auto request) { EXPECT_TRUE(passive.accept(*request)); };
  const std::filesystem::path file = shm::Rendezvous().path({.ipv4 = own_loopback_address(2)}, kService);
  const std::string name = file.filename();
  const std::filesystem::path other = file.parent_path() / ("77" + name.substr(name.find('-')));
  std::filesystem::rename(file, other);
  ::testing::internal::CaptureStderr();
  active.connect(*here, {.ipv4 = own_loopback_address(2)}, kService);
  turn_until(*here, *there, [&] { return active.is_established && passive.is_established; });
  const std::string said = ::testing::internal::GetCapturedStderr();
  std::filesystem::remove(other);
  ASSERT_TRUE(active.is_established);
  EXPECT_STREQ(active.channel->carrier_name(), "tcp");
  EXPECT_NE(said.find("version 77"), std::string::npos) << said;
}

TEST_F(OpenCarrierTest, APortThatOneHalfCannotHaveIsNotKeptByTheOther) {
  for (const CarrierKind occupant : {CarrierKind::kTcp, CarrierKind::kShm}) {
    const auto first = open(occupant, 1);
    const auto second = open(CarrierKind::kAuto, 1);
    auto taken = std::make_unique<PeerPort>(*first, kService, 4);
    ASSERT_TRUE(taken->port);
    PeerPort refused(*second, kService, 4);
    EXPECT_FALSE(refused.port);
    EXPECT_EQ(refused.error, ListenError::kAddressInUse);
    // The other half has let go again: a carrier of that kind alone can have the port.
    const bool was_tcp = occupant == CarrierKind::kTcp;
    const auto third = open(was_tcp ? CarrierKind::kShm : CarrierKind::kTcp, 1);
    EXPECT_TRUE(PeerPort(*third, kService, 4).port);
    taken.reset();
    EXPECT_TRUE(PeerPort(*second, kService, 4).port);
  }
}

// A thread that a bell has woken takes the message before it asks the kernel anything. A wait that finds a record at
// once does not ask the kernel either.
TEST_F(OpenCarrierTest, AfterAWaitRecordsComeBeforeTheKernelsNewsWhichTheNextTurnTells) {
  for (const CarrierKind kind : {CarrierKind::kAuto, CarrierKind::kShm}) {
    const auto here = open(kind, 1);
    const auto there = open(kind, 2);
    if (!there->can_wait_cancellably()) GTEST_SKIP() << "/proc does not tell of the epoll set";
    PeerPort port(*there, kService, 4);
    Peer active, passive;
    port.handler = [&](auto request) { EXPECT_TRUE(passive.accept(*request)); };
    active.connect(*here, {.ipv4 = own_loopback_address(2)}, kService);
    base::Time now = base::Clock::now();
    const base::Time deadline = now + std::chrono::seconds(20);
    while (!(active.is_established && passive.is_established) && base::Clock::now() < deadline) {
      here->turn(base::Clock::now());
      there->turn(base::Clock::now());
    }
    ASSERT_TRUE(active.is_established && passive.is_established);
    // So late that it hears all that the kernel has to say so far.
    now = base::Clock::now() + std::chrono::seconds(1);
    while (there->turn(now += std::chrono::milliseconds(1)) > 0) continue;

    const base::UniqueFd news(::eventfd(1, EFD_CLOEXEC));
    ReadyCounter sink;
    const auto watch = there->watch(news.get(), sink);
    ASSERT_TRUE(watch);
    watch->want(kReadable);
    active.queue_send("first");
    if (kind == CarrierKind::kAuto) {
      there->wait_cancellably(base::kNever);
    } else {
      there->wait(base::kNever);
    }
    EXPECT_GT(there->turn(now += std::chrono::milliseconds(1)), 0u);
    ASSERT_EQ(passive.messages.size(), 1u);
    EXPECT_EQ(sink.count, 0);
    EXPECT_EQ(there->look(), Carrier::kTakesTurn) << "a poll must not pass the kernel's news over";
    active.queue_send("second");
    there->turn(now += std::chrono::microseconds(1));
    EXPECT_EQ(sink.count, 1);
    EXPECT_EQ(passive.messages.size(), 2u);
  }
}

// The half that shares memory has nothing to do then, and asks for no turn.
TEST_F(OpenCarrierTest, APollReadsTheBusySocketsWhereMemoryMightBeShared) {
  const auto here = open(CarrierKind::kAuto, 1);
  const auto there = open(CarrierKind::kTcp, 2);
  Peer active, passive;
  PeerPort port(*there, kService, 4);
  port.handler = [&](auto request) { EXPECT_TRUE(passive.accept(*request)); };
  active.connect(*here, {.ipv4 = own_loopback_address(2)}, kService);
  ASSERT_TRUE(turn_until(*here, *there, [&] { return active.is_established && passive.is_established; }));
  bool has_read = false;
  turn_until(*here, *there, [&] {
    passive.queue_send("news");
    there->turn(base::Clock::now());
    const Look look = here->look();
    return has_read = has_read || (look.done > 0 && !look.takes_turn);
  });
  EXPECT_TRUE(has_read);
}

TEST_F(OpenCarrierTest, WaitEndsByInterruptByWorkAndByTheDeadline) {
  for (const CarrierKind kind : {CarrierKind::kAuto, CarrierKind::kShm, CarrierKind::kTcp}) {
    const auto here = open(kind, 1);
    const auto there = open(kind, 2);
    std::thread other([&] { here->interrupt(); });
    here->wait(base::kNever);
    other.join();
    const base::Time deadline = base::Clock::now() + std::chrono::milliseconds(5);
    while (base::Clock::now() < deadline) there->wait(deadline);

    PeerPort port(*there, kService, 4);
    Peer active, passive;
    port.handler = [&](auto request) { EXPECT_TRUE(passive.accept(*request)); };
    std::thread server([&] {
      while (passive.messages.empty()) {
        if (there->turn(base::Clock::now()) == 0) there->wait(base::kNever);
      }
    });
    active.after_established = [&] { active.queue_send("wake up"); };
    active.connect(*here, {.ipv4 = own_loopback_address(2)}, kService);
    while (!active.is_established) {
      if (here->turn(base::Clock::now()) == 0) here->wait(base::kNever);
    }
    // What is still to be said about the connection is said by turns, not by our memory of it.
    while (here->turn(base::Clock::now()) > 0) continue;
    server.join();
    EXPECT_EQ(passive.messages[0].text(), "wake up");
  }
}

// A NIC's engine: one thread waits without the baton while another holds it and works.
TEST_F(OpenCarrierTest, OneThreadMayWaitWhileAnotherTurns) {
  for (const CarrierKind kind : {CarrierKind::kAuto, CarrierKind::kShm}) {
    const auto here = open(kind, 1);
    std::atomic<bool> is_over{false};
    std::thread waiter([&] {
      while (!is_over.load()) here->wait(base::Clock::now() + std::chrono::milliseconds(1));
    });
    for (int round = 0; round < 20; ++round) {
      // Links come and go, while the waiter looks at them.
      const auto there = open(kind, 2);
      Peer active, passive;
      PeerPort port(*there, kService, 4);
      port.handler = [&](auto request) { EXPECT_TRUE(passive.accept(*request)); };
      active.connect(*here, {.ipv4 = own_loopback_address(2)}, kService);
      const base::Time deadline = base::Clock::now() + std::chrono::seconds(20);
      while (passive.messages.size() < 50 && base::Clock::now() < deadline) {
        if (active.is_established && active.is_drained()) active.queue_send("message");
        here->turn(base::Clock::now());
        there->turn(base::Clock::now());
      }
      EXPECT_GE(passive.messages.size(), 50u);
    }
    is_over.store(true);
    here->interrupt();
    waiter.join();
  }
}

// A reactor that lets a test act just before a thread waits, and just before a sink is called.
class SlowReactor final : public Reactor {
 public:
  std::unique_ptr<Watch> watch(int fd, ReadinessSink& sink) override {
    auto watch = std::make_unique<SlowWatch>(*this, sink);
    watch->watch = reactor_->watch(fd, *watch);
    return watch;
  }
  std::size_t dispatch(bool look) override { return reactor_->dispatch(look); }
  void prepare_wait() override { reactor_->prepare_wait(); }
  void wait(base::Time deadline) override {
    before_wait();
    reactor_->wait(deadline);
  }
  void interrupt() override { reactor_->interrupt(); }
  bool has_failed() const override { return reactor_->has_failed(); }

  std::function<void()> before_wait = [] {};
  std::function<void()> before_sink = [] {};

 private:
  struct SlowWatch final : Watch, ReadinessSink {
    SlowWatch(SlowReactor& reactor, ReadinessSink& told) : owner(reactor), sink(told) {}
    void want(std::uint32_t readiness) override { watch->want(readiness); }
    void on_ready(std::uint32_t readiness) override {
      owner.before_sink();
      sink.on_ready(readiness);
    }
    SlowReactor& owner;
    ReadinessSink& sink;
    std::unique_ptr<Watch> watch;
  };
  const std::unique_ptr<Reactor> reactor_ = Reactor::create();
};

// A thread that polls may meet a peer while another thread falls asleep, which has looked at the rings and does not
// know the new one. The peer would not wake it.
class WaitTest : public OpenCarrierTest {
 protected:
  void SetUp() override {
    port_.handler = [&](auto request) { EXPECT_TRUE(passive_.accept(*request)); };
    active_.connect(here_, {.ipv4 = own_loopback_address(2)}, kService);
  }
  void meet() {
    while (!active_.is_established) {
      here_.turn(base::Clock::now());
      there_->turn(base::Clock::now());
    }
  }

  const Address address_{.ipv4 = own_loopback_address(1)};
  std::unique_ptr<SlowReactor> owned_ = std::make_unique<SlowReactor>();
  SlowReactor& reactor_ = *owned_;
  AutoCarrier here_{address_, {.shm = true, .tcp = false}, {.address = address_}, {}, std::move(owned_)};
  const std::unique_ptr<Carrier> there_ = open(CarrierKind::kShm, 2);
  Peer active_, passive_;
  PeerPort port_{*there_, kService, 4};
};

TEST_F(WaitTest, EndsWhenAnotherThreadMeetsAPeerAsItBegins) {
  reactor_.before_wait = [&] { meet(); };
  here_.wait(base::kNever);
  EXPECT_TRUE(active_.is_established);
}

TEST_F(WaitTest, EndsWhenItBeginsWhileAnotherThreadMeetsAPeer) {
  std::atomic<bool> has_looked{false};
  reactor_.before_wait = [&] { has_looked.store(true); };
  std::thread sleeper;
  reactor_.before_sink = [&] {
    if (sleeper.joinable()) return;
    sleeper = std::thread([&] { here_.wait(base::kNever); });
    while (!has_looked.load()) std::this_thread::yield();
  };
  meet();
  sleeper.join();
  EXPECT_TRUE(active_.is_established);
}

}  // namespace
}  // namespace softdat::transport
