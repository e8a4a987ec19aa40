// SPDX-License-Identifier: BSD-2-Clause
// fork(): the objects stay with the parent, whose connections a child cannot disturb; the child may
// open an adapter of its own.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <new>
#include <thread>

#include "tests/conformance/peer.h"

// TSan lets no thread begin in the child of a process that has several. ASan (GCC 12) does not take the locks of its
// allocator for fork(): the child waits for ever for one that a thread of its parent held.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SOFTDAT_TEST_CHILD_OPENS 0
#else
#define SOFTDAT_TEST_CHILD_OPENS 1
#endif

namespace softdat::conformance {
namespace {

// What a child's `act` came to; 255 when it was killed, 254 when it threw. Not by its exit status,
// with which valgrind has things of its own to say.
int answer_of_child(const std::function<int()>& act) {
  void* const shared = ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw SetupFailure("no shared memory");
  int& answer = *new (shared) int(255);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    try {
      answer = act();
    } catch (...) {
      answer = 254;
    }
    ::_exit(0);
  }
  const bool has_ended = child > 0 && ::waitpid(child, nullptr, 0) == child;
  const int result = has_ended ? answer : 255;
  ::munmap(shared, sizeof(int));
  return result;
}

// How many of the parent's handles the child's DAT took for its own.
int count_taken_handles(const Peer& peer) {
  DAT_EVENT event;
  DAT_COUNT more = 0;
  DAT_EP_STATE state;
  const DAT_RETURN answers[] = {
      dat_ep_get_status(peer.ep, &state, nullptr, nullptr),
      dat_ep_post_recv(peer.ep, 0, nullptr, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
      dat_ep_post_send(peer.ep, 0, nullptr, make_cookie(2), DAT_COMPLETION_DEFAULT_FLAG),
      dat_ep_disconnect(peer.ep, DAT_CLOSE_ABRUPT_FLAG),
      dat_ep_free(peer.ep),
      dat_evd_wait(peer.connect_evd, 0, 1, &event, &more),
      dat_evd_dequeue(peer.recv_evd, &event),
      dat_lmr_free(peer.memory->lmr()),
      dat_pz_free(peer.pz),
      dat_ia_query(peer.adapter.handle(), nullptr, 0, nullptr, 0, nullptr),
      dat_ia_close(peer.adapter.handle(), DAT_CLOSE_ABRUPT_FLAG),
  };
  int taken = 0;
  for (const DAT_RETURN answer : answers) taken += type_of(answer) != DAT_INVALID_HANDLE;
  return taken;
}

TEST(Fork, HandlesOfTheParentAreInvalidInTheChild) {
  ConnectedPair pair;
  EXPECT_EQ(answer_of_child([&] { return count_taken_handles(pair.server) + count_taken_handles(pair.client); }), 0);
  expect_conversation(pair.server, pair.client);
}

// The memory is each one's own from the fork on, and the parent's is reached by its peers as before.
TEST(Fork, RegisteredMemoryIsDividedLikeAllOther) {
  ConnectedPair pair;
  Memory& memory = *pair.server.memory;
  memory.fill(0, memory.size(), 1);
  EXPECT_EQ(answer_of_child([&] {
              if (!memory.holds(0, memory.size(), 1)) return 1;
              memory.fill(0, memory.size(), 2);
              return memory.holds(0, memory.size(), 2) ? 0 : 2;
            }),
            0);
  EXPECT_TRUE(memory.holds(0, memory.size(), 1));
  pair.client.memory->fill(0, 4096, 3);
  ASSERT_THAT(pair.client.post_write(0, 4096, memory.remote(8192, 4096)), succeeds());
  EXPECT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(memory.holds(8192, 4096, 3));
  expect_conversation(pair.server, pair.client);
}

TEST(Fork, ChildThatEndsLeavesTheParentsConnectionAlone) {
  ConnectedPair pair;
  EXPECT_EQ(answer_of_child([] { return 7; }), 7);
  expect_conversation(pair.server, pair.client);
}

// A child that does nothing but live, for as long as this does.
class LivingChild {
 public:
  LivingChild() {
    char byte = 0;
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0) throw SetupFailure("no socket pair");
    id_ = ::fork();
    if (id_ == 0) live();
    ::close(ends_[1]);
    if (::read(ends_[0], &byte, 1) != 1) throw SetupFailure("no child");
  }
  ~LivingChild() {
    ::close(ends_[0]);
    ::waitpid(id_, nullptr, 0);
  }
  LivingChild(const LivingChild&) = delete;
  LivingChild& operator=(const LivingChild&) = delete;

 private:
  [[noreturn]] void live() {
    char byte = 0;
    ::close(ends_[0]);
    const bool has_lived = ::write(ends_[1], &byte, 1) == 1 && ::read(ends_[1], &byte, 1) == 0;
    ::_exit(has_lived ? 0 : 1);
  }

  int ends_[2] = {-1, -1};
  pid_t id_ = -1;
};

TEST(Fork, ChildHoldsNoServicePoint) {
  Peer server(kServerName);
  for (const DAT_CONN_QUAL qualifier : {unused_qualifier(), DAT_CONN_QUAL{0x1234567890}}) {
    DAT_PSP_HANDLE psp = server.adapter.make_psp(qualifier, server.cr_evd);
    const LivingChild child;
    ASSERT_THAT(dat_psp_free(psp), succeeds());
    EXPECT_THAT(dat_psp_create(server.adapter.handle(), qualifier, server.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp),
                succeeds());
  }
}

#if SOFTDAT_TEST_CHILD_OPENS

// While the parent talks on; adapters of the same names.
TEST(Fork, ChildOpensAdaptersOfItsOwn) {
  ConnectedPair pair;
  const int answer = answer_of_child([] {
    ConnectedPair own;
    DAT_EP_STATE state;
    require(dat_ep_get_status(own.client.ep, &state, nullptr, nullptr), "dat_ep_get_status");
    require(own.server.post_recv(0, 64, 1), "dat_ep_post_recv");
    require(own.client.post_send(0, 64, 2), "dat_ep_post_send");
    return next_completion(own.server.recv_evd).transfered_length == 64 && state == DAT_EP_STATE_CONNECTED ? 0 : 1;
  });
  EXPECT_EQ(answer, 0);
  expect_conversation(pair.server, pair.client);
}

// Whatever it was doing at the fork: loading or unloading the provider, registering with it, making the first handle.
TEST(Fork, ChildOpensWhileAnotherThreadOfItsParentOpensAndCloses) {
  constexpr int kForks = 20;
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over.load()) const Adapter adapter(kClientName);
  });
  int answer = 0;
  for (int i = 0; i < kForks && answer == 0; ++i) {
    answer = answer_of_child([] {
      const Adapter own(kClientName);
      return 0;
    });
  }
  is_over.store(true);
  other.join();
  EXPECT_EQ(answer, 0);
}

#endif

}  // namespace
}  // namespace softdat::conformance
