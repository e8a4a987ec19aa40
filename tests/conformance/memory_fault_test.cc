// SPDX-License-Identifier: BSD-2-Clause
// Registered memory that is unmapped, truncated or protected while it is in use: each operation of each side answers
// with an error completion and a broken connection, never with a signal, and the endpoints connect again
// (docs/decisions/0016-faults-are-protection-errors.md).
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>

#include "tests/conformance/damaged_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

enum class Role {
  kSendSource,
  kReceiveBuffer,
  kWriteSource,
  kWriteTarget,
  kReadSource,
  kReadSink,
  kAtomicTarget,
  kAtomicResult
};
// How much is moved, and where in it the damage begins.
enum class Extent { kSmall, kSmallMidway, kLarge, kLargeMidway };

struct Case {
  Damage damage;
  Role role;
  Extent extent;
};

const char* name_of(Damage damage) {
  static constexpr const char* kNames[] = {"Unmapped", "Truncated", "NoAccess", "ReadOnly"};
  return kNames[static_cast<int>(damage)];
}
const char* name_of(Role role) {
  static constexpr const char* kNames[] = {"SendSource", "ReceiveBuffer", "WriteSource",  "WriteTarget",
                                           "ReadSource", "ReadSink",      "AtomicTarget", "AtomicResult"};
  return kNames[static_cast<int>(role)];
}
const char* name_of(Extent extent) {
  static constexpr const char* kNames[] = {"Small", "SmallMidway", "Large", "LargeMidway"};
  return kNames[static_cast<int>(extent)];
}
std::ostream& operator<<(std::ostream& out, const Case& which) {
  return out << name_of(which.damage) << name_of(which.role) << name_of(which.extent);
}

bool is_atomic(Role role) {
  return role == Role::kAtomicTarget || role == Role::kAtomicResult;
}
bool is_written(Role role) {
  return role != Role::kSendSource && role != Role::kWriteSource && role != Role::kReadSource;
}
bool is_of_server(Role role) {
  return role == Role::kReceiveBuffer || role == Role::kWriteTarget || role == Role::kReadSource ||
         role == Role::kAtomicTarget;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

PeerOptions options_of_pair() {
  PeerOptions options;
  options.memory = std::size_t{512} << 10;
#if SOFTDAT_DAT_MAJOR == 2
  options.privileges |= DAT_IB_MEM_PRIV_REMOTE_ATOMIC;
#endif
  return options;
}

class MemoryFault : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
    if (is_atomic(GetParam().role) && !kIsDat2) GTEST_SKIP() << "DAT 1.2 has no atomics";
    if (const Lack lack = lack_of_atomics(); is_atomic(GetParam().role) && !lack.empty()) GTEST_SKIP() << lack;
    Peer& owner = is_of_server(GetParam().role) ? pair_.server : pair_.client;
    memory_.emplace(owner, GetParam().damage == Damage::kTruncated);
  }

  std::size_t length() const {
    if (is_atomic(GetParam().role)) return 8;
    const bool is_small = GetParam().extent == Extent::kSmall || GetParam().extent == Extent::kSmallMidway;
    return is_small ? 100 : std::size_t{256} << 10;
  }
  unsigned char* start() const {
    switch (GetParam().extent) {
      case Extent::kSmallMidway:
        return memory_->edge() - 50;
      case Extent::kLargeMidway:
        return memory_->edge() - (std::size_t{128} << 10);
      default:
        return memory_->edge();
    }
  }
  // Sources that cannot be written are as good as ever.
  bool is_harmless() const { return GetParam().damage == Damage::kReadOnly && !is_written(GetParam().role); }
  // Memory of the target's that was moved into a file stays what it was at registration for those who reach it there.
  bool may_succeed() const {
    const std::string transport = variable("SOFTDAT_TRANSPORT");
    const bool is_shm = transport == "shm" || transport == "auto" || transport.empty();
    return is_shm && variable("SOFTDAT_DIRECT") != "off" && is_of_server(GetParam().role) &&
           GetParam().damage != Damage::kTruncated;
  }
  DAT_DTO_COMPLETION_STATUS expected() const {
    if (GetParam().role == Role::kReceiveBuffer) return DAT_DTO_ERR_REMOTE_RESPONDER;
    return is_of_server(GetParam().role) ? DAT_DTO_ERR_REMOTE_ACCESS : DAT_DTO_ERR_LOCAL_PROTECTION;
  }

  DAT_RETURN post_fetch_and_add([[maybe_unused]] DAT_LMR_TRIPLET local, [[maybe_unused]] DAT_RMR_TRIPLET remote) {
#if SOFTDAT_DAT_MAJOR == 2
    return dat_ib_post_fetch_and_add(pair_.client.ep, 1, &local, make_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG);
#else
    return DAT_NOT_IMPLEMENTED;
#endif
  }

  void post() {
    Peer& client = pair_.client;
    Peer& server = pair_.server;
    const std::size_t size = length();
    DAT_LMR_TRIPLET local = memory_->local(start(), size);
    const DAT_RMR_TRIPLET remote = memory_->remote(start(), size);
    const DAT_RMR_TRIPLET whole = server.memory->remote(0, size);
    switch (GetParam().role) {
      case Role::kSendSource:
        require(server.post_recv(0, size, 5), "a receive");
        return require(dat_ep_post_send(client.ep, 1, &local, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG), "a send");
      case Role::kReceiveBuffer:
        require(dat_ep_post_recv(server.ep, 1, &local, make_cookie(5), DAT_COMPLETION_DEFAULT_FLAG), "a receive");
        return require(client.post_send(0, size, 1), "a send");
      case Role::kWriteSource:
        return require(
            dat_ep_post_rdma_write(client.ep, 1, &local, make_cookie(1), &whole, DAT_COMPLETION_DEFAULT_FLAG),
            "a write");
      case Role::kWriteTarget:
        return require(client.post_write(0, size, remote, 1), "a write");
      case Role::kReadSource:
        return require(client.post_read(0, size, remote, 1), "a read");
      case Role::kReadSink:
        return require(dat_ep_post_rdma_read(client.ep, 1, &local, make_cookie(1), &whole, DAT_COMPLETION_DEFAULT_FLAG),
                       "a read");
      case Role::kAtomicTarget:
        return require(post_fetch_and_add(client.memory->local(0, size), remote), "an atomic");
      case Role::kAtomicResult:
        return require(post_fetch_and_add(local, whole), "an atomic");
    }
  }

  // Whatever the number of its event.
  static DAT_DTO_COMPLETION_STATUS next_status(DAT_EVD_HANDLE evd) {
    return next_event(evd).event_data.dto_completion_event_data.status;
  }

  void expect_broken() {
    if (GetParam().role == Role::kReceiveBuffer) {
      EXPECT_EQ(next_status(pair_.server.recv_evd), DAT_DTO_ERR_LOCAL_PROTECTION);
    }
    for (Peer* peer : {&pair_.client, &pair_.server}) {
      EXPECT_EQ(next_event(peer->connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
      EXPECT_EQ(peer->state(), DAT_EP_STATE_DISCONNECTED);
      require(dat_ep_reset(peer->ep), "dat_ep_reset");
      drain(peer->request_evd);
      drain(peer->recv_evd);
    }
    establish(pair_.server, pair_.client);
  }

  ConnectedPair pair_{options_of_pair()};
  std::optional<DamagedMemory> memory_;
};

TEST_P(MemoryFault, IsAnErrorCompletion) {
  // What stands before it completes as ever.
  ASSERT_THAT(pair_.server.post_recv(1000, 64, 4), succeeds());
  ASSERT_THAT(pair_.client.post_send(1000, 64, 0), succeeds());
  memory_->damage(GetParam().damage);
  post();
  EXPECT_EQ(next_status(pair_.client.request_evd), DAT_DTO_SUCCESS);
  EXPECT_EQ(next_status(pair_.server.recv_evd), DAT_DTO_SUCCESS);
  const DAT_DTO_COMPLETION_STATUS status = next_status(pair_.client.request_evd);
  const bool is_success = status == DAT_DTO_SUCCESS && (is_harmless() || may_succeed());
  if (!is_success) {
    EXPECT_FALSE(is_harmless());
    EXPECT_EQ(status, expected());
    expect_broken();
  } else {
    drain(pair_.server.recv_evd);
  }
  expect_conversation(pair_.server, pair_.client);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Damage damage : {Damage::kUnmapped, Damage::kTruncated, Damage::kNoAccess, Damage::kReadOnly}) {
    for (int role = 0; role <= static_cast<int>(Role::kAtomicResult); ++role) {
      for (const Extent extent : {Extent::kSmall, Extent::kSmallMidway, Extent::kLarge, Extent::kLargeMidway}) {
        if (is_atomic(static_cast<Role>(role)) && extent != Extent::kSmall) continue;
        cases.push_back({damage, static_cast<Role>(role), extent});
      }
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Every, MemoryFault, testing::ValuesIn(all_cases()), [](const auto& which) {
  return std::string(name_of(which.param.damage)) + name_of(which.param.role) + name_of(which.param.extent);
});

// A handler of the program's that replaces the one of the library after all memory is registered and connected.
class LateHandler {
 public:
  LateHandler() {
    struct sigaction action = {};
    action.sa_sigaction = meet_fault;
    action.sa_flags = SA_SIGINFO;
    for (std::size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~LateHandler() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  LateHandler(const LateHandler&) = delete;
  LateHandler& operator=(const LateHandler&) = delete;

  static bool is_on_top() {
    return std::ranges::any_of(kSignals, [](int signal) {
      struct sigaction now = {};
      return ::sigaction(signal, nullptr, &now) != 0 || now.sa_sigaction == meet_fault;
    });
  }

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS};
  static void meet_fault(int, siginfo_t*, void*) {
    constexpr char kText[] = "a fault of the library has reached the program's handler\n";
    static_cast<void>(!::write(STDERR_FILENO, kText, sizeof kText - 1));
    ::_exit(1);
  }
  std::array<struct sigaction, 2> before_{};
};

TEST(MemoryFaultUnderALateHandler, IsAnErrorCompletionOnceTheProgramHasPolled) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
#if !defined(__x86_64__)
  GTEST_SKIP() << "the kernel copies here";
#endif
  ConnectedPair pair(options_of_pair());
  DamagedMemory memory(pair.client, false);
  const LateHandler handler;
  const auto has_yielded = [&] {
    DAT_EVENT event;
    EXPECT_EQ(DAT_GET_TYPE(dat_evd_dequeue(pair.client.recv_evd, &event)), DAT_QUEUE_EMPTY);
    return !LateHandler::is_on_top();
  };
  ASSERT_TRUE(eventually(has_yielded)) << "the program's handler stays on top";
  memory.damage(Damage::kUnmapped);
  DAT_LMR_TRIPLET local = memory.local(memory.edge(), 100);
  require(pair.server.post_recv(0, 100, 5), "a receive");
  require(dat_ep_post_send(pair.client.ep, 1, &local, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG), "a send");
  EXPECT_EQ(next_event(pair.client.request_evd).event_data.dto_completion_event_data.status,
            DAT_DTO_ERR_LOCAL_PROTECTION);
}

}  // namespace
}  // namespace softdat::conformance
