// SPDX-License-Identifier: BSD-2-Clause
// Which processes may share memory: other users, user namespaces, network namespaces. The table stands in
// docs/decisions/0014-who-may-share-memory.md. Needs root, to become others.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "base/unique_fd.h"
#include "transport/shm/rendezvous.h"

namespace softdat::transport::shm {
namespace {

constexpr base::IpAddress kAddress{.ipv4 = 0x7f00'010b};
// Unique to this process: other cases run at the same time and use directories of the same names.
const uid_t kAlice = 200'000 + 2 * static_cast<uid_t>(::getpid());
const uid_t kBob = kAlice + 1;
constexpr uid_t kNobody = 65534;

bool write_text(const char* path, const std::string& text) {
  const base::UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Makes the calling process somebody else. False: the system does not let us.
using Become = std::function<bool()>;

bool be_user(uid_t uid) {
  const bool is_user =
      ::setgroups(0, nullptr) == 0 && ::setresgid(uid, uid, uid) == 0 && ::setresuid(uid, uid, uid) == 0;
  return is_user && ::prctl(PR_SET_DUMPABLE, 1) == 0;  // as a program that was started so
}
Become user(uid_t uid) {
  return [uid] { return be_user(uid); };
}
// In a user namespace without mappings, where every uid reads as 65534.
Become unmapped(uid_t uid) {
  return [uid] { return be_user(uid) && ::unshare(CLONE_NEWUSER) == 0 && ::geteuid() == kNobody; };
}
// Root in a user namespace whose root is `uid` outside.
Become root_of_namespace(uid_t uid) {
  return [uid] {
    if (!be_user(uid) || ::unshare(CLONE_NEWUSER) != 0) return false;
    return write_text("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1") && ::geteuid() == 0;
  };
}
Become other_network(uid_t uid) {
  return [uid] { return ::unshare(CLONE_NEWNET) == 0 && be_user(uid); };
}

// The rest of the process goes on as the first one of a pid namespace.
bool be_first_of_pids() {
  const pid_t child = ::fork();
  if (child == 0) return ::alarm(300) == 0;
  ::close_range(3, ~0U, 0);  // pipes end when that process has closed them
  int status = -1;
  const bool has_ended = child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  ::_exit(has_ended ? WEXITSTATUS(status) : 2);
}
// As root of a user namespace, whose group is mapped too: a file system that is mounted there needs one.
bool be_root_of(uid_t uid) {
  const std::string map = "0 " + std::to_string(uid) + " 1";
  return write_text("/proc/self/uid_map", map) && write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/gid_map", map);
}
// In a container with user, pid, mount and ipc namespaces of its own, which sees the host's network and directories.
Become container_on_host(uid_t uid) {
  return [uid] {
    return be_user(uid) && ::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC) == 0 &&
           be_root_of(uid) && be_first_of_pids();
  };
}
// In one with a network and directories of its own as well.
Become container(uid_t uid) {
  return [uid] {
    const bool is_apart =
        be_user(uid) &&
        ::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS) == 0 &&
        be_root_of(uid);
    for (const char* directory : {"/dev/shm", "/tmp", "/run"}) {
      if (!is_apart || ::mount("none", directory, "tmpfs", 0, nullptr) != 0) return false;
    }
    return be_first_of_pids();
  };
}

enum Answer { kNo = 0, kYes = 1, kImpossible = 2 };

// Runs `act` in a child that has become somebody.
pid_t start(const Become& become, const std::function<Answer()>& act) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::alarm(300);
  ::_exit(become() ? act() : kImpossible);
}

Answer answer_of(pid_t child) {
  int status = -1;
  const bool has_ended = ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  return has_ended ? static_cast<Answer>(WEXITSTATUS(status)) : kImpossible;
}

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) std::abort();
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // False at the end: nobody holds the other end.
  bool get() const {
    char byte = 0;
    return ::read(ends_[0], &byte, 1) == 1;
  }
  void put() const { static_cast<void>(::write(ends_[1], "x", 1)); }
  void close(int end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  int ends_[2];
};

class EntryTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become others";
    ::unsetenv("XDG_RUNTIME_DIR");
    service_ = static_cast<std::uint64_t>(::getpid());
  }
  ~EntryTest() override {
    Rendezvous().sweep();  // a server that is not root any more cannot remove root's file
    for (const std::string& path : made_) {
      const std::string ignored = "rm -rf " + path;
      static_cast<void>(std::system(ignored.c_str()));
    }
  }

  Answer connects(const Become& client) {
    return answer_of(start(client, [this] { return Rendezvous().connect(kAddress, service_).fd ? kYes : kNo; }));
  }

  // Whether a client reaches a server, each in its own process. `afterwards` is what the server becomes once it
  // listens.
  Answer meet(
      const Become& server, const Become& client, const Become& afterwards = [] { return true; }) {
    Pipe ready, over;
    const pid_t serving = start(server, [&] {
      over.close(1);
      const Listening listening = Rendezvous().listen(kAddress, service_);
      if (!listening.socket || !afterwards()) return kImpossible;
      ready.put();
      static_cast<void>(over.get());
      return kYes;
    });
    ready.close(1);
    const Answer result = ready.get() ? connects(client) : kImpossible;
    over.close(1);
    const Answer served = answer_of(serving);
    return served == kYes ? result : kImpossible;
  }

  void expect(Answer expected, const Become& server, const Become& client, const char* what) {
    const Answer answer = meet(server, client);
    if (answer == kImpossible) {
      std::printf("skipped: the system does not allow: %s\n", what);
    } else {
      EXPECT_EQ(answer, expected) << what;
    }
  }

  void make_directory_as(uid_t owner, const std::string& path, mode_t mode) {
    made_.push_back(path);
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0) << path;
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_EQ(::chown(path.c_str(), owner, owner), 0);
  }

  std::uint64_t service_ = 0;
  std::vector<std::string> made_;
};

TEST_F(EntryTest, TheSameUserMeets) {
  EXPECT_EQ(meet(user(0), user(0)), kYes);
  EXPECT_EQ(meet(user(kAlice), user(kAlice)), kYes);
}

TEST_F(EntryTest, AnotherUserDoesNot) {
  EXPECT_EQ(meet(user(kAlice), user(kBob)), kNo);
  EXPECT_EQ(meet(user(0), user(kBob)), kNo);
  EXPECT_EQ(meet(user(kAlice), user(kNobody)), kNo);
}

// All of these read as 65534 to each other.
TEST_F(EntryTest, UsersWithoutAMappingAreNotTheSame) {
  expect(kNo, unmapped(kAlice), user(kBob), "a user against a namespace without mappings");
  expect(kNo, unmapped(kAlice), user(kNobody), "nobody against a namespace without mappings");
  expect(kNo, unmapped(kAlice), unmapped(kBob), "two users in namespaces without mappings");
  expect(kNo, user(kNobody), unmapped(kBob), "a namespace without mappings against nobody");
  expect(kYes, unmapped(kAlice), unmapped(kAlice), "one user in two namespaces without mappings");
}

TEST_F(EntryTest, RootOfAUserNamespaceIsNotRoot) {
  expect(kNo, user(0), root_of_namespace(kBob), "a namespace's root against root");
  expect(kNo, user(kAlice), root_of_namespace(kBob), "a namespace's root against a user");
  expect(kNo, root_of_namespace(kAlice), root_of_namespace(kBob), "two namespaces' roots");
  expect(kYes, root_of_namespace(kAlice), root_of_namespace(kAlice), "one user's two namespaces");
}

TEST_F(EntryTest, AnotherNetworkNamespaceIsAnotherHost) {
  expect(kNo, user(kAlice), other_network(kAlice), "two network namespaces");
}

// Every one as a server of every one; prints the answers.
TEST_F(EntryTest, OnlyTheSameUserWithTheSameDirectoriesAndNetworkMeets) {
  struct Who {
    const char* name;
    Become become;
    uid_t user;     // of the host
    uid_t reads;    // as what it reads its uid, which names its directory
    bool is_apart;  // from the network and the directories of all others
  };
  const Who all[] = {
      {"root", user(0), 0, 0, false},
      {"alice", user(kAlice), kAlice, kAlice, false},
      {"bob", user(kBob), kBob, kBob, false},
      {"alice, no uid mapped", unmapped(kAlice), kAlice, kNobody, false},
      {"bob, no uid mapped", unmapped(kBob), kBob, kNobody, false},
      {"alice, root of a user namespace", root_of_namespace(kAlice), kAlice, 0, false},
      {"bob, root of a user namespace", root_of_namespace(kBob), kBob, 0, false},
      {"alice, container on the host's network and directories", container_on_host(kAlice), kAlice, 0, false},
      {"bob, container on the host's network and directories", container_on_host(kBob), kBob, 0, false},
      {"alice, container", container(kAlice), kAlice, 0, true},
      {"alice, another network", other_network(kAlice), kAlice, kAlice, true},
  };
  constexpr char kSigns[] = {'n', 'Y', '-'};
  std::printf(
      "server (rows) and client (columns, in the same order): Y they share memory, n TCP, - not possible here\n");
  for (const Who& server : all) {
    std::string line;
    for (const Who& client : all) {
      const Answer answer = meet(server.become, client.become);
      const bool is_same = server.user == client.user && server.reads == client.reads;
      const bool may_meet = is_same && !server.is_apart && !client.is_apart;
      line += std::string(" ") + kSigns[answer];
      if (answer == kImpossible) continue;
      EXPECT_EQ(answer, may_meet ? kYes : kNo) << "server: " << server.name << ", client: " << client.name;
    }
    std::printf("%s  %s\n", line.c_str(), server.name);
  }
}

TEST_F(EntryTest, AServerThatDropsItsPrivilegesServesThoseItListenedFor) {
  EXPECT_EQ(meet(user(0), user(0), user(kAlice)), kYes);
  EXPECT_EQ(meet(user(0), user(kBob), user(kAlice)), kNo);
}

TEST_F(EntryTest, ADirectoryThatAnotherUserMadeFirstIsPassedOver) {
  make_directory_as(kBob, "/dev/shm/softdat-" + std::to_string(kAlice), 0777);
  EXPECT_EQ(meet(user(kAlice), user(kAlice)), kYes);
  EXPECT_EQ(meet(user(kAlice), user(kBob)), kNo);
}

TEST_F(EntryTest, WithoutADirectoryThereIsNoListenerAndTheProblemIsTold) {
  make_directory_as(kBob, "/dev/shm/softdat-" + std::to_string(kAlice), 0777);
  make_directory_as(kBob, "/tmp/softdat-" + std::to_string(kAlice), 0700);
  EXPECT_EQ(answer_of(start(user(kAlice),
                            [this] {
                              const Rendezvous meeting;
                              const std::string problem = meeting.problem();
                              const bool is_told =
                                  problem.find("/dev/shm/softdat-" + std::to_string(kAlice)) != std::string::npos &&
                                  problem.find("XDG_RUNTIME_DIR") != std::string::npos;
                              return !meeting.listen(kAddress, service_).socket && is_told ? kYes : kNo;
                            })),
            kYes);
}

}  // namespace
}  // namespace softdat::transport::shm
