// SPDX-License-Identifier: BSD-2-Clause
// dat_cno_fd_create and dat_cno_trigger of DAT 2.0: a CNO beside sockets in poll, select and epoll.
#include <gtest/gtest.h>

#if SOFTDAT_DAT_MAJOR == 2

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

constexpr int kPatienceMs = kPatience / 1000;

class CnoFd : public testing::Test {
 protected:
  CnoFd() { require(dat_cno_fd_create(adapter_.handle(), &descriptor_, &cno_), "dat_cno_fd_create"); }

  // What poll says of the descriptor within the time.
  bool is_readable(int timeout_ms = 0) const {
    pollfd entry{descriptor_, POLLIN, 0};
    return ::poll(&entry, 1, timeout_ms) == 1 && (entry.revents & POLLIN) != 0;
  }

  DAT_EVD_HANDLE take() {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    require(dat_cno_trigger(cno_, &evd), "dat_cno_trigger");
    return evd;
  }

  void expect_nothing() {
    DAT_EVD_HANDLE evd = adapter_.async_evd();
    EXPECT_THAT(dat_cno_trigger(cno_, &evd), fails_with(DAT_QUEUE_EMPTY));
    EXPECT_EQ(evd, DAT_HANDLE_NULL);
    EXPECT_FALSE(is_readable());
  }

  Adapter adapter_;
  DAT_FD descriptor_ = -1;
  DAT_CNO_HANDLE cno_ = DAT_HANDLE_NULL;
};

TEST_F(CnoFd, IsNotReadableUntilTriggered) {
  EXPECT_GE(descriptor_, 0);
  expect_nothing();
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  EXPECT_FALSE(is_readable());
  post_software_event(evd, 1);
  EXPECT_TRUE(is_readable());
}

// Several triggers are one, and stay one until they are taken: a level.
TEST_F(CnoFd, StaysReadableUntilTheTriggerIsTaken) {
  const DAT_EVD_HANDLE first = adapter_.make_software_evd(8, cno_);
  const DAT_EVD_HANDLE last = adapter_.make_software_evd(8, cno_);
  post_software_event(first, 1);
  post_software_event(last, 2);
  for (int look = 0; look < 3; ++look) EXPECT_TRUE(is_readable());
  EXPECT_EQ(take(), last);
  expect_nothing();
  EXPECT_EQ(software_value(next_event(first)), 1u);
  EXPECT_EQ(software_value(next_event(last)), 2u);
}

TEST_F(CnoFd, WakesAThreadInPoll) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  std::atomic<pid_t> id{0};
  std::atomic<bool> was_woken{false};
  std::thread poller([&] {
    id.store(::gettid());
    was_woken.store(is_readable(kPatienceMs));
  });
  EXPECT_TRUE(eventually([&] { return id.load() != 0; }));
  EXPECT_TRUE(await_asleep(id.load()));
  post_software_event(evd, 1);
  poller.join();
  EXPECT_TRUE(was_woken.load());
  EXPECT_EQ(take(), evd);
}

// Nobody calls into the library meanwhile: completions find the descriptor all the same.
TEST_F(CnoFd, CompletionsOfAConnectionMakeItReadable) {
  ConnectedPair pair;
  DAT_FD descriptor = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_cno_fd_create(pair.server.adapter.handle(), &descriptor, &cno), succeeds());
  ASSERT_THAT(dat_evd_modify_cno(pair.server.recv_evd, cno), succeeds());
  for (std::uint64_t round = 0; round < 20; ++round) {
    ASSERT_THAT(pair.server.post_recv(0, 64, round), succeeds());
    ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
    pollfd entry{descriptor, POLLIN, 0};
    ASSERT_EQ(::poll(&entry, 1, kPatienceMs), 1) << round;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    ASSERT_THAT(dat_cno_trigger(cno, &evd), succeeds());
    EXPECT_EQ(evd, pair.server.recv_evd);
    EXPECT_EQ(next_completion(evd).user_cookie.as_64, round);
    next_completion(pair.client.request_evd);
  }
}

// Each trigger is an edge, taken or not.
TEST_F(CnoFd, EveryTriggerIsAnEdge) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  ASSERT_GE(set, 0);
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLET;
  ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, descriptor_, &interest), 0);
  epoll_event news{};
  for (std::uintptr_t round = 0; round < 4; ++round) {
    post_software_event(evd, round);
    EXPECT_EQ(::epoll_wait(set, &news, 1, kPatienceMs), 1) << round;
    EXPECT_EQ(::epoll_wait(set, &news, 1, 0), 0) << round;
    if (round % 2 == 1) {
      EXPECT_EQ(take(), evd);
    }
  }
  ::close(set);
}

TEST_F(CnoFd, LevelsShowInEpollToo) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  ASSERT_GE(set, 0);
  epoll_event interest{};
  interest.events = EPOLLIN;
  ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, descriptor_, &interest), 0);
  epoll_event news{};
  EXPECT_EQ(::epoll_wait(set, &news, 1, 0), 0);
  post_software_event(evd, 1);
  for (int look = 0; look < 3; ++look) EXPECT_EQ(::epoll_wait(set, &news, 1, kPatienceMs), 1);
  EXPECT_EQ(take(), evd);
  EXPECT_EQ(::epoll_wait(set, &news, 1, 0), 0);
  ::close(set);
}

TEST_F(CnoFd, WaitingTakesTheTriggerToo) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  post_software_event(evd, 1);
  DAT_EVD_HANDLE triggered = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_cno_wait(cno_, kPatience, &triggered), succeeds());
  EXPECT_EQ(triggered, evd);
  expect_nothing();
}

TEST_F(CnoFd, DisabledDispatcherDoesNotMakeItReadable) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  ASSERT_THAT(dat_evd_disable(evd), succeeds());
  post_software_event(evd, 1);
  expect_nothing();
}

TEST_F(CnoFd, TheEndOfTheLastDispatcherIsATriggerByNull) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  ASSERT_THAT(dat_evd_free(evd), succeeds());
  EXPECT_TRUE(is_readable());
  EXPECT_EQ(take(), DAT_HANDLE_NULL);
  expect_nothing();
}

TEST_F(CnoFd, TheEndOfTheAdapterWakesWhoPolls) {
  adapter_.make_software_evd(8, cno_);
  std::atomic<pid_t> id{0};
  std::atomic<bool> was_woken{false};
  std::thread poller([&] {
    id.store(::gettid());
    pollfd entry{descriptor_, POLLIN, 0};
    was_woken.store(::poll(&entry, 1, kPatienceMs) == 1);  // by a trigger, or because the descriptor has gone
  });
  EXPECT_TRUE(eventually([&] { return id.load() != 0; }));
  EXPECT_TRUE(await_asleep(id.load()));
  ASSERT_THAT(dat_ia_close(adapter_.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
  adapter_.release();
  poller.join();
  EXPECT_TRUE(was_woken.load());
}

TEST_F(CnoFd, QueryTellsTheDescriptor) {
  DAT_CNO_PARAM param{};
  ASSERT_THAT(dat_cno_query(cno_, DAT_CNO_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.ia_handle, adapter_.handle());
  EXPECT_EQ(param.proxy_type, DAT_PROXY_TYPE_FD);
  EXPECT_EQ(param.proxy.fd, descriptor_);
  ASSERT_THAT(dat_cno_query(adapter_.make_cno(), DAT_CNO_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.proxy_type, DAT_PROXY_TYPE_NONE);
}

TEST_F(CnoFd, FreeingTheCnoClosesIt) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  EXPECT_THAT(dat_cno_free(cno_), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE));
  EXPECT_GE(::fcntl(descriptor_, F_GETFD), 0);
  ASSERT_THAT(dat_evd_free(evd), succeeds());
  ASSERT_THAT(dat_cno_free(cno_), succeeds());
  EXPECT_EQ(::fcntl(descriptor_, F_GETFD), -1);
}

TEST_F(CnoFd, AProgramThatRunsAnotherDoesNotHandItOn) {
  EXPECT_EQ(::fcntl(descriptor_, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

// The program may not close it; if it does, only its own news are gone, and what has the number now stays open.
TEST_F(CnoFd, ClosingItByMistakeHurtsNobodyElse) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  const int number = descriptor_;
  ASSERT_EQ(::close(number), 0);
  const int mine = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_GE(mine, 0);
  ASSERT_EQ(::dup2(mine, number), number);
  post_software_event(evd, 1);
  EXPECT_EQ(take(), evd);
  ASSERT_THAT(dat_evd_free(evd), succeeds());
  ASSERT_THAT(dat_cno_free(cno_), succeeds());
  EXPECT_GE(::fcntl(number, F_GETFD), 0);
  if (mine != number) ::close(mine);
  ::close(number);
}

TEST_F(CnoFd, ReadingItByMistakeLosesNoTrigger) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno_);
  post_software_event(evd, 1);
  std::uint64_t number = 0;
  ASSERT_EQ(::read(descriptor_, &number, sizeof number), static_cast<ssize_t>(sizeof number));
  EXPECT_EQ(::read(descriptor_, &number, sizeof number), -1);  // it does not block either
  EXPECT_EQ(take(), evd);
  post_software_event(evd, 2);
  EXPECT_TRUE(is_readable());
}

// A CNO tells by an agent or by a descriptor.
TEST_F(CnoFd, TakesNoAgent) {
  const DAT_OS_WAIT_PROXY_AGENT agent{nullptr, [](DAT_PVOID, DAT_EVD_HANDLE) {}};
  EXPECT_THAT(dat_cno_modify_agent(cno_, agent), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_cno_modify_agent(cno_, DAT_OS_WAIT_PROXY_AGENT_NULL), succeeds());
  DAT_CNO_PARAM param{};
  ASSERT_THAT(dat_cno_query(cno_, DAT_CNO_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.proxy_type, DAT_PROXY_TYPE_FD);
}

TEST_F(CnoFd, TriggerNeedsADescriptor) {
  const DAT_CNO_HANDLE plain = adapter_.make_cno();
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, plain);
  post_software_event(evd, 1);
  DAT_EVD_HANDLE triggered = adapter_.async_evd();
  EXPECT_THAT(dat_cno_trigger(plain, &triggered), fails_with(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(triggered, adapter_.async_evd());
  EXPECT_THAT(dat_cno_wait(plain, 0, &triggered), succeeds());
}

TEST_F(CnoFd, NullOutputsAndBadHandlesAreInvalid) {
  DAT_FD descriptor = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_cno_fd_create(adapter_.handle(), nullptr, &cno), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_cno_fd_create(adapter_.handle(), &descriptor, nullptr),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_cno_fd_create(cno_, &descriptor, &cno), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  EXPECT_EQ(descriptor, -1);
  EXPECT_EQ(cno, DAT_HANDLE_NULL);
  EXPECT_THAT(dat_cno_trigger(cno_, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  ASSERT_THAT(dat_cno_free(cno_), succeeds());
  EXPECT_THAT(dat_cno_trigger(cno_, &cno), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
}

}  // namespace
}  // namespace softdat::conformance

#endif
