// SPDX-License-Identifier: BSD-2-Clause
// A process that runs out of file descriptors: every call answers, and all is well once there are
// some again.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"
#include "tests/scarce_limit.h"

namespace softdat::conformance {
namespace {

constexpr DAT_TIMEOUT kShortPatience = 100'000;  // us; nobody answers who has no descriptors

// Leaves the process this many descriptors to open while it lives.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t count) : limit_(RLIMIT_NOFILE, limit_for(count)) {}

 private:
  static bool is_taken(rlim_t number) { return ::fcntl(static_cast<int>(number), F_GETFD) >= 0; }
  // Numbers that are taken lie among the free ones.
  static rlim_t limit_for(rlim_t count) {
    rlim_t limit = 0;
    for (rlim_t free = 0; free < count || (count == 0 && is_taken(limit)); ++limit) free += is_taken(limit) ? 0 : 1;
    return limit;
  }

  ScarceLimit limit_;
};

class Descriptors : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "UBSan, which comes with ASan here, itself opens a pipe to look at an object's type";
#endif
  }
};

// As far as one gets; true when both ends are connected.
bool try_to_connect(Peer& server, Peer& client) {
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  DAT_PSP_HANDLE psp;
  const DAT_RETURN listening =
      dat_psp_create(server.adapter.handle(), qualifier, server.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp);
  if (listening != DAT_SUCCESS) {
    EXPECT_THAT(listening, fails_with(DAT_INSUFFICIENT_RESOURCES));
    return false;
  }
  const DAT_RETURN asking = client.connect(server, qualifier, {}, kShortPatience);
  if (asking != DAT_SUCCESS) {
    EXPECT_THAT(asking, fails_with(DAT_INSUFFICIENT_RESOURCES));
    return false;
  }
  DAT_EVENT event;
  DAT_COUNT more = 0;
  if (dat_evd_wait(server.cr_evd, 2 * kShortPatience, 1, &event, &more) == DAT_SUCCESS) {
    static_cast<void>(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, server.ep, 0, nullptr));
  }
  return next_event(client.connect_evd).event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
}

TEST_F(Descriptors, OpeningAnAdapterWithoutThemIsAnAnswer) {
  if (const Lack lack = lack_of_descriptors(); !lack.empty()) GTEST_SKIP() << lack;
  bool was_refused = false;
  bool was_opened = false;
  for (rlim_t count = 0; count < 16; ++count) {
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_RETURN result;
    {
      const FewDescriptors few(count);
      result = dat_ia_open(const_cast<char*>("sim5"), 8, &async, &ia);
    }
    was_opened |= result == DAT_SUCCESS;
    was_refused |= result != DAT_SUCCESS;
    if (result == DAT_SUCCESS) {
      EXPECT_THAT(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), succeeds());
    } else if (type_of(result) != DAT_PROVIDER_NOT_FOUND) {  // no descriptor to load the provider by
      EXPECT_THAT(result, fails_with(DAT_INSUFFICIENT_RESOURCES));
    }
  }
  EXPECT_TRUE(was_refused);
  EXPECT_TRUE(was_opened);
}

#if SOFTDAT_DAT_MAJOR == 2
TEST_F(Descriptors, ACnoWithoutItsDescriptorIsAnAnswer) {
  Adapter adapter;
  DAT_FD descriptor = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  for (rlim_t count = 0; count < 2; ++count) {
    const FewDescriptors few(count);
    EXPECT_THAT(dat_cno_fd_create(adapter.handle(), &descriptor, &cno),
                fails_with(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
    EXPECT_EQ(descriptor, -1);
    EXPECT_EQ(cno, DAT_HANDLE_NULL);
  }
  const FewDescriptors enough(2);
  EXPECT_THAT(dat_cno_fd_create(adapter.handle(), &descriptor, &cno), succeeds());
}
#endif

TEST_F(Descriptors, ConnectingWithoutThemIsAnAnswer) {
  bool was_connected = false;
  for (rlim_t count = 0; count < 12; ++count) {
    Peer server(kServerName);
    Peer client(kClientName);
    const FewDescriptors few(count);
    was_connected |= try_to_connect(server, client);
  }
  EXPECT_TRUE(was_connected);
  ConnectedPair pair;
  expect_conversation(pair.server, pair.client);
}

}  // namespace
}  // namespace softdat::conformance
