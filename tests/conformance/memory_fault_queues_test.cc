// SPDX-License-Identifier: BSD-2-Clause
// Memory that is gone when a receive of a shared queue, or a datagram, gets there: as for other operations
// (memory_fault_test.cc), but a datagram leaves its endpoint as it was.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/conformance/damaged_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/shared_server.h"

namespace softdat::conformance {
namespace {

constexpr std::size_t kLength = 200;

std::string name_of(const testing::TestParamInfo<Damage>& which) {
  static constexpr const char* kNames[] = {"Unmapped", "Truncated", "NoAccess", "ReadOnly"};
  return kNames[static_cast<int>(which.param)];
}
const auto every_damage = testing::Values(Damage::kUnmapped, Damage::kTruncated, Damage::kNoAccess, Damage::kReadOnly);

class SharedReceiveFault : public testing::TestWithParam<Damage> {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
    memory_.emplace(server_.peer, GetParam() == Damage::kTruncated);
  }
  void post_damaged() {
    DAT_LMR_TRIPLET segment = memory_->local(memory_->edge() - kLength / 2, kLength);
    ASSERT_THAT(dat_srq_post_recv(server_.srq, 1, &segment, make_cookie(5)), succeeds());
    memory_->damage(GetParam());
  }

  SharedServer server_;
  std::optional<DamagedMemory> memory_;
};
INSTANTIATE_TEST_SUITE_P(Every, SharedReceiveFault, every_damage, name_of);

// Only the connection whose message it was breaks; the queue goes on.
TEST_P(SharedReceiveFault, IsAnErrorCompletionOfOneConnection) {
  Peer& client = server_.connect_client();
  Peer& other = server_.connect_client();
  post_damaged();
  ASSERT_THAT(client.post_send(0, kLength, 1), succeeds());
  const auto received = next_completion(server_.peer.recv_evd);
  EXPECT_EQ(received.status, DAT_DTO_ERR_LOCAL_PROTECTION);
  EXPECT_EQ(received.ep_handle, server_.endpoints[0]);
  EXPECT_EQ(received.user_cookie.as_64, 5u);
  EXPECT_EQ(next_completion(client.request_evd).status, DAT_DTO_ERR_REMOTE_RESPONDER);
  EXPECT_EQ(next_event(client.connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
  ASSERT_THAT(server_.post(0, kLength, 6), succeeds());
  ASSERT_THAT(other.post_send(0, kLength, 2), succeeds());
  EXPECT_EQ(next_completion(server_.peer.recv_evd).user_cookie.as_64, 6u);
  EXPECT_EQ(next_completion(other.request_evd).status, DAT_DTO_SUCCESS);
}

#if SOFTDAT_DAT_MAJOR == 2

PeerOptions datagram_options() {
  PeerOptions options;
  options.attributes = default_attributes();
  if (lack_of_datagrams().empty()) {
    options.attributes->service_type = static_cast<DAT_SERVICE_TYPE>(DAT_IB_SERVICE_TYPE_UD);
  }
  return options;
}

class DatagramFault : public testing::TestWithParam<Damage> {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_simulation(); !lack.empty()) GTEST_SKIP() << lack;
    if (const Lack lack = lack_of_datagrams(); !lack.empty()) GTEST_SKIP() << lack;
    require(client_.connect(server_, server_.listen()), "dat_ep_connect");
    const DAT_EVENT request = next_extension(server_.cr_evd, DAT_IB_UD_CONNECTION_REQUEST_EVENT);
    require(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, server_.ep, 0, nullptr), "dat_cr_accept");
    const DAT_EVENT active = next_extension(client_.connect_evd, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED);
    to_server_ = reinterpret_cast<const DAT_IB_EXTENSION_EVENT_DATA&>(active.event_extension_data).remote_ah;
    next_extension(server_.connect_evd, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED);
  }
  static DAT_EVENT next_extension(DAT_EVD_HANDLE evd, DAT_IB_EVENT_NUMBER number) {
    return next_event(evd, static_cast<DAT_EVENT_NUMBER>(number));
  }
  static DAT_DTO_COMPLETION_STATUS next_status(DAT_EVD_HANDLE evd) {
    return next_extension(evd, DAT_IB_DTO_EVENT).event_data.dto_completion_event_data.status;
  }
  void send(DAT_LMR_TRIPLET local) {
    require(dat_ib_post_send_ud(client_.ep, 1, &local, &to_server_, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
            "dat_ib_post_send_ud");
  }
  void expect_to_go_on() {
    require(server_.post_recv(0, 512, 9), "a receive");
    send(client_.memory->local(0, kLength));
    EXPECT_EQ(next_status(client_.request_evd), DAT_DTO_SUCCESS);
    EXPECT_EQ(next_status(server_.recv_evd), DAT_DTO_SUCCESS);
  }

  Peer server_{kServerName, datagram_options()};
  Peer client_{kClientName, datagram_options()};
  DAT_IB_ADDR_HANDLE to_server_{};
};
INSTANTIATE_TEST_SUITE_P(Every, DatagramFault, every_damage, name_of);

TEST_P(DatagramFault, OfTheSourceIsItsSendersError) {
  DamagedMemory memory(client_, GetParam() == Damage::kTruncated);
  memory.damage(GetParam());
  if (GetParam() == Damage::kReadOnly) require(server_.post_recv(2048, 512, 8), "a receive");
  send(memory.local(memory.edge() - kLength / 2, kLength));
  const auto expected = GetParam() == Damage::kReadOnly ? DAT_DTO_SUCCESS : DAT_DTO_ERR_LOCAL_PROTECTION;
  EXPECT_EQ(next_status(client_.request_evd), expected);
  if (GetParam() == Damage::kReadOnly) {
    EXPECT_EQ(next_status(server_.recv_evd), DAT_DTO_SUCCESS);
  }
  expect_to_go_on();
}

TEST_P(DatagramFault, OfTheBufferIsItsReceiversError) {
  DamagedMemory memory(server_, GetParam() == Damage::kTruncated);
  DAT_LMR_TRIPLET local = memory.local(memory.edge() - 100, 512);
  require(dat_ep_post_recv(server_.ep, 1, &local, make_cookie(7), DAT_COMPLETION_DEFAULT_FLAG), "a receive");
  memory.damage(GetParam());
  send(client_.memory->local(0, kLength));
  EXPECT_EQ(next_status(client_.request_evd), DAT_DTO_SUCCESS);
  EXPECT_EQ(next_status(server_.recv_evd), DAT_DTO_ERR_LOCAL_PROTECTION);
  expect_to_go_on();
}

#endif

}  // namespace
}  // namespace softdat::conformance
