// SPDX-License-Identifier: BSD-2-Clause
// A process in a container that shares the host's network and nothing else: other user, mounts, processes. It and a
// process outside reach each other by TCP, and each says once why not by shared memory.
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include "tests/conformance/remote_peer.h"
#include "tests/conformance/setting.h"

namespace softdat::conformance {
namespace {

constexpr char kByTcp[] = "by TCP and not by shared memory: that process runs as another user or in another container";

// The functions down to enter_container() run in a child of fork() that is about to run another program.
bool write_text(const char* path, const char* text, std::size_t length) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool is_written = ::write(file, text, length) == static_cast<ssize_t>(length);
  ::close(file);
  return is_written;
}

bool map_to_root(const char* path, unsigned id) {
  char map[32];
  const int length = std::snprintf(map, sizeof map, "0 %u 1", id);
  return write_text(path, map, static_cast<std::size_t>(length));
}

// Another user than root, if root asks.
bool be_another_user() {
  if (::geteuid() != 0) return true;
  const uid_t another = 300'000 + static_cast<uid_t>(::getpid());
  return ::setgroups(0, nullptr) == 0 && ::setresgid(another, another, another) == 0 &&
         ::setresuid(another, another, another) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0 &&
         ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

// The rest goes on as the first process of a pid namespace, which ends with this one. This one keeps no end of a pipe.
bool be_first_of_pids() {
  const pid_t child = ::fork();
  if (child == 0) return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
  ::close_range(3, ~0U, 0);
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  int status = -1;
  const bool has_ended = child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  ::_exit(has_ended ? WEXITSTATUS(status) : 126);
}

bool enter_container() {
  if (!be_another_user()) return false;
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC) != 0) return false;
  if (!map_to_root("/proc/self/uid_map", user)) return false;
  if (!write_text("/proc/self/setgroups", "deny", 4) || !map_to_root("/proc/self/gid_map", group)) return false;
  for (const char* directory : {"/dev/shm", "/run"}) {
    if (::mount("none", directory, "tmpfs", 0, nullptr) != 0) return false;
  }
  return be_first_of_pids();
}

int count_of(const std::string& text, const std::string& words) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size()) ++count;
  return count;
}

class ContainerTest : public testing::Test {
 protected:
  void SetUp() override {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool is_in = enter_container();
      ::_exit(is_in && ::access("/proc/self/exe", X_OK) == 0 ? 0 : 1);
    }
    int status = -1;
    const bool is_possible = ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!is_possible) GTEST_SKIP() << "the system lets nobody make a container, or hides this program from other users";
  }

  const Setting transport_{"SOFTDAT_TRANSPORT", "auto"};
};

constexpr std::size_t kLength = 5000;

// Messages, writes and reads, all started outside.
void exchange_with(RemotePeer& inside, Peer& outside) {
  ASSERT_EQ(inside.ask("recv 0 " + std::to_string(kLength) + " 1"), "done");
  outside.memory->fill(0, kLength, 1);
  require(outside.post_send(0, kLength, 2), "send");
  EXPECT_EQ(inside.ask("await-recv"), "0 1 " + std::to_string(kLength));
  EXPECT_EQ(inside.ask("holds 0 " + std::to_string(kLength) + " 1"), "yes");
  next_completion(outside.request_evd);
  require(outside.post_write(0, kLength, inside.memory(8192, kLength)), "write");
  EXPECT_EQ(next_completion(outside.request_evd).status, DAT_DTO_SUCCESS);
  require(outside.post_read(8192, kLength, inside.memory(8192, kLength)), "read");
  EXPECT_EQ(next_completion(outside.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(outside.memory->holds(8192, kLength, 1));
}

void connect_from(Child& inside, Peer& server) {
  const DAT_CONN_QUAL qualifier = server.listen();
  const auto* const address = reinterpret_cast<const sockaddr_in*>(server.adapter.address());
  ASSERT_EQ(
      inside.ask("connect " + std::to_string(ntohl(address->sin_addr.s_addr)) + " 0 " + std::to_string(qualifier)),
      "done");
  require(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), "dat_cr_accept");
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(inside.ask("await-connection"), std::to_string(DAT_CONNECTION_EVENT_ESTABLISHED));
}

// A message from inside, by the connection that was made there.
void expect_message_from(Child& inside, Peer& server) {
  require(server.post_recv(0, kLength, 3), "receive");
  ASSERT_EQ(inside.ask("fill 0 " + std::to_string(kLength) + " 4"), "done");
  ASSERT_EQ(inside.ask("send 0 " + std::to_string(kLength) + " 5"), "done");
  EXPECT_EQ(next_completion(server.recv_evd).transfered_length, kLength);
  EXPECT_TRUE(server.memory->holds(0, kLength, 4));
  EXPECT_EQ(inside.ask("await-request"), "0 5 " + std::to_string(kLength));
}

// What all processes say on standard error while a process of its own runs `act`: each says its reason once.
std::string said_by(const std::function<void()>& act) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw SetupFailure("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(300);
    ::dup2(ends[1], STDERR_FILENO);
    try {
      act();
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what();
    }
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  ::close(ends[1]);
  std::string said;
  char text[512];
  for (ssize_t got; (got = ::read(ends[0], text, sizeof text)) > 0;) said.append(text, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << said;
  return said;
}

void serve_inside(Child::Become become) {
  RemotePeer inside(become);
  Peer client(kClientName);
  inside.connect(client);
  exchange_with(inside, client);
}

void serve_outside(Child::Become become) {
  Child inside(kIsDat2 ? "conformance_peer_dat20" : "conformance_peer_dat12",
               {std::to_string(unused_qualifier()), "client"}, become);
  ASSERT_EQ(inside.read_line().rfind("listening ", 0), 0u);
  Peer server(kServerName);
  connect_from(inside, server);
  expect_message_from(inside, server);
}

void expect_that_both_say_why(const std::string& said) {
  EXPECT_EQ(count_of(said, kByTcp), 2) << said;
  EXPECT_EQ(count_of(said, "is reached"), 1) << said;
  EXPECT_EQ(count_of(said, "connects"), 1) << said;
}

TEST_F(ContainerTest, AServerOutsideIsReachedByTcpAndBothSayWhy) {
  expect_that_both_say_why(said_by([] { serve_outside(enter_container); }));
}

TEST_F(ContainerTest, AServerInsideIsReachedByTcpAndBothSayWhy) {
  expect_that_both_say_why(said_by([] { serve_inside(enter_container); }));
}

TEST_F(ContainerTest, TheReasonIsSaidOnce) {
  const std::string said = said_by([] {
    for (int i = 0; i < 3; ++i) serve_outside(enter_container);
  });
  EXPECT_EQ(count_of(said, "is reached"), 3) << "by each process inside: " << said;
  EXPECT_EQ(count_of(said, "connects"), 1) << said;
}

TEST_F(ContainerTest, NeighboursOfOneUserShareMemoryAndSayNothing) {
  EXPECT_EQ(said_by([] { serve_outside(nullptr); }), "");
}

TEST_F(ContainerTest, WhoWasToldToUseTcpSaysNothing) {
  const Setting tcp("SOFTDAT_TRANSPORT", "tcp");
  EXPECT_EQ(said_by([] { serve_outside(enter_container); }), "");
}

}  // namespace
}  // namespace softdat::conformance
