// SPDX-License-Identifier: BSD-2-Clause
// DAT_ASYNC_ERROR_IA_CATASTROPHIC: what an adapter stands on is taken away, here by a program that closes descriptors
// which it does not know.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

std::set<int> open_descriptors() {
  std::set<int> result;
  DIR* const directory = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') result.insert(std::atoi(entry->d_name));
  }
  result.erase(dirfd(directory));
  closedir(directory);
  return result;
}

// An adapter that nobody else has open, and the descriptors that came with it.
struct DoomedPeer {
  DoomedPeer() {
    const std::set<int> before = open_descriptors();
    peer = std::make_unique<Peer>("sim7");
    const std::set<int> after = open_descriptors();
    std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::inserter(own, own.end()));
  }
  // They are other files from now on.
  void doom() const {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : own) dup2(nothing, fd);
    close(nothing);
  }

  std::unique_ptr<Peer> peer;
  std::set<int> own;
};

void expect_catastrophe(Peer& peer) {
  const DAT_EVENT event = next_event(peer.adapter.async_evd());
  EXPECT_EQ(event.event_number, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
  EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, peer.adapter.handle());
  EXPECT_TRUE(is_quiet(peer.adapter.async_evd()));
}

TEST(IaCatastrophic, IsToldOnceToEveryOpeningOfTheAdapter) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  if (const Lack lack = lack_of_descriptors(); !lack.empty()) GTEST_SKIP() << lack;
  DoomedPeer doomed;
  Peer second("sim7");
  ASSERT_FALSE(doomed.own.empty());
  doomed.doom();
  expect_catastrophe(*doomed.peer);
  expect_catastrophe(second);
}

// Whatever hangs on it hears of that too, and other adapters go on.
TEST(IaCatastrophic, ConnectionsBreakAndNewOnesDoNotComeAbout) {
  if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
  if (const Lack lack = lack_of_descriptors(); !lack.empty()) GTEST_SKIP() << lack;
  Peer server(kServerName);
  Peer witness(kServerName);
  Peer client(kClientName);
  DoomedPeer doomed;
  const DAT_CONN_QUAL qualifier = server.listen();
  establish(witness, *doomed.peer);
  doomed.doom();
  expect_catastrophe(*doomed.peer);
  next_event(doomed.peer->connect_evd, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(doomed.peer->state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_THAT(next_event(witness.connect_evd).event_number,
              testing::AnyOf(DAT_CONNECTION_EVENT_BROKEN, DAT_CONNECTION_EVENT_DISCONNECTED));
  require(dat_ep_reset(doomed.peer->ep), "dat_ep_reset");
  ASSERT_THAT(doomed.peer->connect(server, qualifier), succeeds());
  EXPECT_THAT(next_event(doomed.peer->connect_evd).event_number,
              testing::AnyOf(DAT_CONNECTION_EVENT_UNREACHABLE, DAT_CONNECTION_EVENT_NON_PEER_REJECTED));
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_psp_create(doomed.peer->adapter.handle(), unused_qualifier(), doomed.peer->cr_evd,
                             DAT_PSP_CONSUMER_FLAG, &psp),
              fails_with(DAT_INSUFFICIENT_RESOURCES));
  ASSERT_THAT(client.connect(server, qualifier), succeeds());
  ASSERT_THAT(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), succeeds());
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
}

}  // namespace
}  // namespace softdat::conformance
