// SPDX-License-Identifier: BSD-2-Clause
// A system that refuses what shared memory needs: peers talk over TCP, and one line says why. Each case runs in a
// process of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

struct Outcome {
  int status = -1;
  std::string said;  // on standard error
};

// Runs `act` in a child; its status is 0 when that returns true.
Outcome run_in_child(const std::function<bool()>& act) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw SetupFailure("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(300);
    ::dup2(ends[1], STDERR_FILENO);
    bool is_good = false;
    try {
      is_good = act();
    } catch (const std::exception& failure) {
      ::dprintf(STDERR_FILENO, "threw: %s\n", failure.what());
    }
    ::_exit(is_good ? 0 : 1);
  }
  ::close(ends[1]);
  Outcome outcome;
  char text[512];
  for (ssize_t got; (got = ::read(ends[0], text, sizeof text)) > 0;) {
    outcome.said.append(text, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  ::waitpid(child, &outcome.status, 0);
  return outcome;
}

// From now on the system call fails with EPERM.
void deny(int number) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(code), code};
  const bool is_done =
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  if (!is_done) throw SetupFailure("no seccomp filter");
}

void limit_file_sizes() {
  const rlimit none = {0, 0};
  if (::setrlimit(RLIMIT_FSIZE, &none) != 0) throw SetupFailure("no limit");
}

bool converses() {
  ConnectedPair pair;
  expect_conversation(pair.server, pair.client);
  return !testing::Test::HasFailure();
}

// How often SoftDAT says why there is no shared memory.
std::ptrdiff_t count_reasons(const Outcome& outcome) {
  const std::string line = "peers on this host are reached by TCP";
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = outcome.said.find(line, at)) != std::string::npos; ++at) ++count;
  return count;
}

class PoorSystem : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("SOFTDAT_TRANSPORT"); }

  static void expect_tcp_because(const std::string& reason, const std::function<void()>& refuse) {
    const Outcome outcome = run_in_child([&] {
      refuse();
      return converses();
    });
    EXPECT_EQ(outcome.status, 0) << outcome.said;
    EXPECT_EQ(count_reasons(outcome), 1) << outcome.said;
    EXPECT_NE(outcome.said.find(reason), std::string::npos) << outcome.said;
  }
  // Where nothing else is wanted, opening fails, and the same words say why.
  static void expect_refused_because(const std::string& reason, const std::function<void()>& refuse) {
    ::setenv("SOFTDAT_TRANSPORT", "shm", 1);
    const Outcome outcome = run_in_child([&] {
      refuse();
      DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
      DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
      return type_of(dat_ia_open(const_cast<char*>("sim0"), 8, &async, &ia)) == DAT_INSUFFICIENT_RESOURCES;
    });
    ::unsetenv("SOFTDAT_TRANSPORT");
    EXPECT_EQ(outcome.status, 0) << outcome.said;
    EXPECT_NE(outcome.said.find(reason), std::string::npos) << outcome.said;
  }
};

TEST_F(PoorSystem, SharesMemoryWhereNothingIsRefused) {
  const Outcome outcome = run_in_child(converses);
  EXPECT_EQ(outcome.status, 0) << outcome.said;
  EXPECT_EQ(count_reasons(outcome), 0) << outcome.said;
}

TEST_F(PoorSystem, NoSharedFiles) {
  const auto refuse = [] { deny(SYS_memfd_create); };
  expect_tcp_because("memfd_create", refuse);
  expect_refused_because("memfd_create", refuse);
}

// The default action of SIGXFSZ would end the process.
TEST_F(PoorSystem, ALimitOnFileSizes) {
  expect_tcp_because("RLIMIT_FSIZE", limit_file_sizes);
  expect_refused_because("RLIMIT_FSIZE", limit_file_sizes);
}

// A link that would be made after the limit was set is refused; nothing ends the process.
TEST_F(PoorSystem, ALimitOnFileSizesThatComesLater) {
  const Outcome outcome = run_in_child([] {
    Peer server(kServerName);
    Peer client(kClientName);
    limit_file_sizes();
    const DAT_CONN_QUAL qualifier = server.listen();
    static_cast<void>(client.connect(server, qualifier, {}, 500'000));
    DAT_EVENT event;
    DAT_COUNT more = 0;
    return dat_evd_wait(client.connect_evd, kPatience, 1, &event, &more) == DAT_SUCCESS;
  });
  EXPECT_EQ(outcome.status, 0) << outcome.said;
}

// SoftDAT has something to say, on a standard error whose reader has gone, or that is at the limit on file sizes.
TEST_F(PoorSystem, AStandardErrorThatTakesNothing) {
  const Outcome unheard = run_in_child([] {
    int ends[2];
    if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) throw SetupFailure("no pipe");
    ::close(ends[0]);
    ::close(ends[1]);
    deny(SYS_memfd_create);
    return converses();
  });
  EXPECT_EQ(unheard.status, 0);
  const Outcome full = run_in_child([] {
    if (::dup2(::memfd_create("log", MFD_CLOEXEC), STDERR_FILENO) < 0) throw SetupFailure("no file");
    limit_file_sizes();
    return converses();
  });
  EXPECT_EQ(full.status, 0);
}

// What fails for want of descriptors says so, and names the limit.
class FewDescriptors : public PoorSystem {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "UBSan needs a pipe to look at an object, and takes every object for a wrong one without";
#endif
    PoorSystem::SetUp();
    ::setenv("SOFTDAT_LOG", "notice", 1);
  }
  void TearDown() override {
    ::unsetenv("SOFTDAT_LOG");
  }

  // From now on there are `spare` of them.
  static void limit_descriptors(rlim_t spare) {
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    const rlim_t most = static_cast<rlim_t>(next) + spare;
    const rlimit limit = {most, most};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw SetupFailure("no limit");
  }
  static void expect_words(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.said;
    EXPECT_NE(outcome.said.find("Too many open files"), std::string::npos) << outcome.said;
    EXPECT_NE(outcome.said.find("ulimit -n"), std::string::npos) << outcome.said;
  }
};

TEST_F(FewDescriptors, ToOpenAnAdapter) {
  expect_words(run_in_child([] {
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_COUNT count = 0;
    DAT_PROVIDER_INFO info;
    DAT_PROVIDER_INFO* list[] = {&info};
    static_cast<void>(dat_registry_list_providers(1, &count, list));  // loads what is to be loaded
    limit_descriptors(1);
    return type_of(dat_ia_open(const_cast<char*>(kServerName), 8, &async, &ia)) == DAT_INSUFFICIENT_RESOURCES;
  }));
}

TEST_F(FewDescriptors, ToListen) {
  expect_words(run_in_child([] {
    Peer server(kServerName);
    limit_descriptors(0);
    try {
      static_cast<void>(server.listen());
    } catch (const SetupFailure&) {
      return true;
    }
    return false;
  }));
}

TEST_F(FewDescriptors, ToConnect) {
  expect_words(run_in_child([] {
    Peer server(kServerName);
    Peer client(kClientName);
    const DAT_CONN_QUAL qualifier = server.listen();
    limit_descriptors(0);
    if (client.connect(server, qualifier) != DAT_SUCCESS) return false;
    return next_event(client.connect_evd).event_number != DAT_CONNECTION_EVENT_ESTABLISHED;
  }));
}

TEST_F(PoorSystem, NoRandomNumbers) {
  const Outcome outcome = run_in_child([] {
    deny(SYS_getrandom);
    return converses();
  });
  EXPECT_EQ(outcome.status, 0) << outcome.said;
}

// A message to a peer that sleeps comes with a bell. Where that is denied, both hear the end of their connection.
TEST_F(PoorSystem, NoBells) {
  const Outcome outcome = run_in_child([] {
    ConnectedPair pair;
    expect_conversation(pair.server, pair.client);
    deny(SYS_sendto);
    require(pair.server.post_recv(0, 64), "dat_ep_post_recv");
    EvdWaiter server(pair.server.recv_evd, kForever);
    server.await_blocked();
    DAT_EVENT event;
    DAT_COUNT more = 0;
    // Meanwhile the server falls asleep.
    if (type_of(dat_evd_wait(pair.client.connect_evd, kShortWait, 1, &event, &more)) != DAT_TIMEOUT_EXPIRED)
      return false;
    require(pair.client.post_send(64, 64), "dat_ep_post_send");
    if (server.join() != DAT_SUCCESS) return false;
    return server.event().event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS ||
           (next_event(pair.client.connect_evd).event_number == DAT_CONNECTION_EVENT_BROKEN &&
            next_event(pair.server.connect_evd).event_number == DAT_CONNECTION_EVENT_BROKEN);
  });
  EXPECT_EQ(outcome.status, 0) << outcome.said;
}

// What mlockall() fills with pages: mappings of ours that may be touched.
std::uint64_t bytes_of_ours() {
  std::uint64_t bytes = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char protection[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, protection) != 3) continue;
    if (line.find("memfd:softdat") != std::string::npos && protection[0] == 'r') bytes += end - begin;
  }
  return bytes;
}

// A program that locks its memory when it is connected gets a few MiB of ours, not all that could ever be shared.
TEST_F(PoorSystem, MemoryThatIsLockedLate) {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  const Outcome outcome = run_in_child([] {
    ConnectedPair pair;
    expect_conversation(pair.server, pair.client);
    const std::uint64_t bytes = bytes_of_ours();
    ::dprintf(STDERR_FILENO, "%" PRIu64 " bytes of ours may be touched\n", bytes);
    if (bytes == 0 || bytes > kMost) return false;
    // Without privileges it is refused, and nothing has changed.
    static_cast<void>(::mlockall(MCL_CURRENT));
    expect_conversation(pair.server, pair.client);
    return !testing::Test::HasFailure();
  });
  EXPECT_EQ(outcome.status, 0) << outcome.said;
}

TEST_F(PoorSystem, NoDirectoryForSocketFiles) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto be_without = [] {
    constexpr uid_t kUser = 54323;
    const std::string number = std::to_string(kUser);
    for (const std::string& path : {"/dev/shm/softdat-" + number, "/tmp/softdat-" + number}) {
      static_cast<void>(::mkdir(path.c_str(), 0700));  // root's
    }
    if (::setresuid(kUser, kUser, kUser) != 0) throw SetupFailure("no other user");
    ::unsetenv("XDG_RUNTIME_DIR");
  };
  expect_tcp_because("/tmp/softdat-54323", be_without);
  expect_refused_because("/tmp/softdat-54323", be_without);
  ::rmdir("/dev/shm/softdat-54323");
  ::rmdir("/tmp/softdat-54323");
}

}  // namespace
}  // namespace softdat::conformance
