// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_modify, field by field and state by state, and what becomes of receives that are posted.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/conformance/endpoint_states.h"
#include "tests/conformance/lacks.h"

namespace softdat::conformance {
namespace {

DAT_EP_PARAM query(DAT_EP_HANDLE ep) {
  DAT_EP_PARAM param{};
  require(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
  return param;
}

// "Can be modified when in Unconnected, Reserved, Passive Connection Pending, and Tentative Connection Pending states."
const std::set<DAT_EP_STATE> kBeforeConnecting = {DAT_EP_STATE_UNCONNECTED, DAT_EP_STATE_RESERVED,
                                                  DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
                                                  DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING};
// "Can be modified when in Quiescent, Unconnected, and Tentative Connection Pending states."
const std::set<DAT_EP_STATE> kQuiescent = {DAT_EP_STATE_UNCONNECTED, DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING};

struct Field {
  const char* name;
  DAT_EP_PARAM_MASK mask;
  const std::set<DAT_EP_STATE>& states;
};

const std::vector<Field>& modifiable_fields() {
  static const std::vector<Field> fields = {
      {"Protection Zone", DAT_EP_FIELD_PZ_HANDLE, kQuiescent},
      {"In DTO Event Dispatcher", DAT_EP_FIELD_RECV_EVD_HANDLE, kBeforeConnecting},
      {"Out DTO Event Dispatcher", DAT_EP_FIELD_REQUEST_EVD_HANDLE, kBeforeConnecting},
      {"Connection Event Dispatcher", DAT_EP_FIELD_CONNECT_EVD_HANDLE, kBeforeConnecting},
      {"Service Type", DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, kBeforeConnecting},
      {"Maximum Message Size", DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, kBeforeConnecting},
      {"Maximum RDMA Size", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE, kBeforeConnecting},
      {"Quality of Service", DAT_EP_FIELD_EP_ATTR_QOS, kBeforeConnecting},
      {"Recv Completion Flags", DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, kBeforeConnecting},
      {"Request Completion Flags", DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, kBeforeConnecting},
      {"Maximum Recv DTO", DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, kBeforeConnecting},
      {"Maximum Request DTO", DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, kBeforeConnecting},
      {"Maximum Recv IOV", DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, kBeforeConnecting},
      {"Maximum Request IOV", DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, kBeforeConnecting},
      {"Maximum outstanding RDMA Read as target", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, kBeforeConnecting},
      {"Maximum outstanding RDMA Read as originator", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, kBeforeConnecting},
  };
  return fields;
}

class EpModifyInEveryState : public testing::TestWithParam<DAT_EP_STATE> {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_state(GetParam()); !lack.empty()) GTEST_SKIP() << lack;
  }

  // What cannot be built is left out only after this.
  EndpointInState world_{lack_of_state(GetParam()).empty() ? GetParam() : DAT_EP_STATE_UNCONNECTED};
};

TEST_P(EpModifyInEveryState, EachFieldChangesOnlyInItsStates) {
  Peer& owner = world_.owner();
  DAT_EP_PARAM param = query(world_.ep());
  param.pz_handle = owner.pz;
  param.recv_evd_handle = owner.adapter.make_evd(DAT_EVD_DTO_FLAG);
  param.request_evd_handle = owner.adapter.make_evd(DAT_EVD_DTO_FLAG);
  param.connect_evd_handle = owner.adapter.make_evd(DAT_EVD_CONNECTION_FLAG);
  param.ep_attr.max_recv_dtos += 1;
  param.ep_attr.max_rdma_read_in = 2;
  param.ep_attr.max_rdma_read_out = 3;
  param.ep_attr.qos = DAT_QOS_LOW_LATENCY;
  for (const Field& field : modifiable_fields()) {
    const DAT_RETURN result = dat_ep_modify(world_.ep(), field.mask, &param);
    if (field.states.count(GetParam()) != 0) {
      EXPECT_THAT(result, succeeds()) << field.name;
    } else {
      EXPECT_THAT(result, fails_with(DAT_INVALID_STATE, subtype_of(GetParam()))) << field.name;
    }
  }
  EXPECT_EQ(world_.now(), GetParam());
  const DAT_EP_PARAM after = query(world_.ep());
  const bool may_change = kBeforeConnecting.count(GetParam()) != 0;
  EXPECT_EQ(after.recv_evd_handle == param.recv_evd_handle, may_change);
  EXPECT_EQ(after.request_evd_handle == param.request_evd_handle, may_change);
  EXPECT_EQ(after.connect_evd_handle == param.connect_evd_handle, may_change);
  EXPECT_EQ(after.ep_attr.max_rdma_read_in == 2, may_change);
  EXPECT_EQ(after.ep_attr.max_rdma_read_out == 3, may_change);
  EXPECT_EQ(after.ep_attr.qos == DAT_QOS_LOW_LATENCY, may_change);
}

// "Cannot be modified", in whatever state; SRQ and communicator come with the endpoint.
TEST_P(EpModifyInEveryState, WhatIdentifiesTheEndpointNeverChanges) {
  const DAT_EP_PARAM param = query(world_.ep());
  for (const DAT_EP_PARAM_MASK field :
       {DAT_EP_FIELD_IA_HANDLE, DAT_EP_FIELD_EP_STATE, DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR, DAT_EP_FIELD_LOCAL_PORT_QUAL,
        DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR, DAT_EP_FIELD_REMOTE_PORT_QUAL, DAT_EP_FIELD_SRQ_HANDLE}) {
    EXPECT_THAT(dat_ep_modify(world_.ep(), field, &param), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2))
        << field;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EpModifyInEveryState, testing::ValuesIn(kAllStates),
                         [](const auto& test) { return std::string(name_of(test.param)); });

class EpModify : public testing::Test {
 protected:
  DAT_RETURN modify(DAT_EP_PARAM_MASK mask) { return dat_ep_modify(server_.ep, mask, &param_); }
  // The oldest posted receive takes a message and says so on `evd`.
  DAT_DTO_COMPLETION_EVENT_DATA receive(DAT_EVD_HANDLE evd) {
    require(client_.post_send(0, 64, 99), "dat_ep_post_send");
    return next_completion(evd);
  }

  Peer server_{kServerName};
  Peer client_{kClientName};
  DAT_EP_PARAM param_ = query(server_.ep);
};

// Changes the attribute again and again; how often it was not what it had just been set to.
template <typename Size>
int count_lost_changes(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK field, Size DAT_EP_ATTR::*attribute) {
  int lost = 0;
  for (Size size = 1; size <= 3000; ++size) {
    DAT_EP_PARAM param{};
    param.ep_attr.*attribute = size;
    const bool is_changed =
        dat_ep_modify(ep, field, &param) == DAT_SUCCESS && dat_ep_query(ep, DAT_EP_FIELD_ALL, &param) == DAT_SUCCESS;
    if (!is_changed || param.ep_attr.*attribute != size) ++lost;
  }
  return lost;
}

// "Only the parameters that the mask names are changed": also while another thread changes others.
TEST_F(EpModify, TwoThreadsThatChangeDifferentAttributesLoseNothing) {
  int lost_by_other = 0;
  std::thread other([&] {
    lost_by_other = count_lost_changes(server_.ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE, &DAT_EP_ATTR::max_rdma_size);
  });
  EXPECT_EQ(count_lost_changes(server_.ep, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, &DAT_EP_ATTR::max_message_size), 0);
  other.join();
  EXPECT_EQ(lost_by_other, 0);
}

// A new dispatcher gets the completions of receives that were posted before, in their order.
TEST_F(EpModify, PostedReceivesMoveToTheNewDispatcher) {
  for (std::uint64_t cookie = 1; cookie <= 3; ++cookie) ASSERT_THAT(server_.post_recv(0, 64, cookie), succeeds());
  param_.recv_evd_handle = server_.adapter.make_evd(DAT_EVD_DTO_FLAG);
  ASSERT_THAT(modify(DAT_EP_FIELD_RECV_EVD_HANDLE), succeeds());
  ASSERT_THAT(server_.post_recv(0, 64, 4), succeeds());
  DAT_BOOLEAN idle = DAT_TRUE;
  ASSERT_THAT(dat_ep_get_status(server_.ep, nullptr, &idle, nullptr), succeeds());
  EXPECT_EQ(idle, DAT_FALSE);
  establish(server_, client_);
  for (std::uint64_t cookie = 1; cookie <= 4; ++cookie) {
    const auto completion = receive(param_.recv_evd_handle);
    EXPECT_EQ(completion.status, DAT_DTO_SUCCESS);
    EXPECT_EQ(completion.user_cookie.as_64, cookie);
    EXPECT_EQ(completion.ep_handle, server_.ep);
  }
  EXPECT_TRUE(is_quiet(server_.recv_evd));
  EXPECT_THAT(dat_evd_free(server_.recv_evd), succeeds());
}

// "Consumers should be aware that any Receive DTOs currently posted to the Endpoint that do not match the new
// Protection Zone fail with a DAT_PROTECTION_VIOLATION return."
TEST_F(EpModify, PostedReceivesOfTheOldZoneFailWhenTheyAreUsed) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(server_.post_recv(0, 64, 1), succeeds());
  param_.pz_handle = server_.adapter.make_pz();
  ASSERT_THAT(modify(DAT_EP_FIELD_PZ_HANDLE), succeeds());
  EXPECT_THAT(server_.post_recv(0, 64, 2), fails_with(DAT_PROTECTION_VIOLATION));
  establish(server_, client_);
  const auto completion = receive(server_.recv_evd);
  EXPECT_EQ(completion.status, DAT_DTO_ERR_LOCAL_PROTECTION);
  EXPECT_EQ(completion.user_cookie.as_64, 1u);
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
}

// There and back again: memory of the zone is good once more.
TEST_F(EpModify, ZoneCanBeChangedBackUnderPostedReceives) {
  ASSERT_THAT(server_.post_recv(0, 64, 1), succeeds());
  const DAT_PZ_HANDLE old = param_.pz_handle;
  param_.pz_handle = server_.adapter.make_pz();
  ASSERT_THAT(modify(DAT_EP_FIELD_PZ_HANDLE), succeeds());
  const DAT_PZ_HANDLE other = param_.pz_handle;
  param_.pz_handle = old;
  ASSERT_THAT(modify(DAT_EP_FIELD_PZ_HANDLE), succeeds());
  EXPECT_THAT(dat_pz_free(other), succeeds());
  establish(server_, client_);
  EXPECT_EQ(receive(server_.recv_evd).status, DAT_DTO_SUCCESS);
}

TEST_F(EpModify, LargerAndSmallerQueuesKeepWhatIsPosted) {
  for (std::uint64_t cookie = 1; cookie <= 20; ++cookie) ASSERT_THAT(server_.post_recv(0, 64, cookie), succeeds());
  for (const DAT_COUNT size : {4000, 2}) {
    param_.ep_attr.max_recv_dtos = size;
    param_.ep_attr.max_rdma_read_in = size % 7;
    ASSERT_THAT(modify(DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN), succeeds());
    EXPECT_EQ(query(server_.ep).ep_attr.max_recv_dtos, size);
  }
  establish(server_, client_);
  for (std::uint64_t cookie = 1; cookie <= 20; ++cookie) {
    EXPECT_EQ(receive(server_.recv_evd).user_cookie.as_64, cookie);
  }
}

// "Recv Completion Flags can be changed ... before posting of any Recvs."
TEST_F(EpModify, ReceiveFlagsAreSettledByTheFirstReceive) {
  param_.ep_attr.recv_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  ASSERT_THAT(server_.post_recv(0, 64, 1), succeeds());
  EXPECT_THAT(modify(DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  EXPECT_EQ(query(server_.ep).ep_attr.recv_completion_flags, DAT_COMPLETION_DEFAULT_FLAG);
  server_.renew_endpoint();
  EXPECT_THAT(modify(DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS), succeeds());
}

// Receives would have no place without a zone.
TEST_F(EpModify, ZoneCannotBeTakenFromUnderPostedReceives) {
  ASSERT_THAT(server_.post_recv(0, 64, 1), succeeds());
  param_.pz_handle = DAT_HANDLE_NULL;
  EXPECT_THAT(modify(DAT_EP_FIELD_PZ_HANDLE), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
  EXPECT_EQ(query(server_.ep).pz_handle, server_.pz);
}

TEST_F(EpModify, ReservedEndpointKeepsItsReceivesThroughAModify) {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  ASSERT_THAT(server_.post_recv(0, 64, 7), succeeds());
  require(dat_rsp_create(server_.adapter.handle(), qualifier, server_.ep, server_.cr_evd, &rsp), "dat_rsp_create");
  ASSERT_THAT(client_.connect(server_, qualifier), succeeds());
  const DAT_CR_HANDLE cr = server_.next_request();
  param_.recv_evd_handle = server_.adapter.make_evd(DAT_EVD_DTO_FLAG);
  ASSERT_THAT(modify(DAT_EP_FIELD_RECV_EVD_HANDLE), succeeds());
  ASSERT_THAT(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, nullptr), succeeds());
  next_event(client_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(receive(param_.recv_evd_handle).user_cookie.as_64, 7u);
}

// A pool uses an endpoint again before it has taken the last event of its connection.
TEST_F(EpModify, TheEndOfTheLastConnectionIsToldAfterAModifyToo) {
  for (int round = 0; round < 20; ++round) {
    establish(server_, client_);
    ASSERT_THAT(dat_ep_disconnect(server_.ep, DAT_CLOSE_ABRUPT_FLAG), succeeds());
    ASSERT_THAT(dat_ep_reset(server_.ep), succeeds());
    param_.recv_evd_handle = server_.adapter.make_evd(DAT_EVD_DTO_FLAG);
    ASSERT_THAT(modify(DAT_EP_FIELD_RECV_EVD_HANDLE), succeeds());
    ASSERT_THAT(dat_evd_free(std::exchange(server_.recv_evd, param_.recv_evd_handle)), succeeds());
    next_event(server_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    next_event(client_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    ASSERT_THAT(dat_ep_reset(client_.ep), succeeds());
  }
}

// "one of the requested Endpoint parameters or attributes was invalid, not supported": nothing changes then, not even
// what was good.
TEST_F(EpModify, OneBadParameterChangesNothing) {
  param_.connect_evd_handle = server_.adapter.make_evd(DAT_EVD_CONNECTION_FLAG);
  param_.recv_evd_handle = server_.cr_evd;  // takes no completions
  ASSERT_THAT(server_.post_recv(0, 64, 1), succeeds());
  EXPECT_THAT(modify(DAT_EP_FIELD_CONNECT_EVD_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  const DAT_EP_PARAM now = query(server_.ep);
  EXPECT_EQ(now.connect_evd_handle, server_.connect_evd);
  EXPECT_EQ(now.recv_evd_handle, server_.recv_evd);
  establish(server_, client_);
  EXPECT_EQ(receive(server_.recv_evd).user_cookie.as_64, 1u);
}

// "DAT_INVALID_PARAMETER: ... one of the requested Endpoint parameters or attributes was invalid, not supported, or
// cannot be modified." DAT_INVALID_HANDLE is for ep_handle alone.
TEST_F(EpModify, UnsupportedAttributesAndForeignObjectsAreInvalidParameters) {
  const DAT_EP_PARAM before = param_;
  param_.ep_attr.service_type = static_cast<DAT_SERVICE_TYPE>(DAT_SERVICE_TYPE_RC + 0x20);
  EXPECT_THAT(modify(DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  param_.ep_attr = before.ep_attr;
  param_.ep_attr.qos = static_cast<DAT_QOS>(0x100);
  EXPECT_THAT(modify(DAT_EP_FIELD_EP_ATTR_QOS), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  param_.pz_handle = client_.pz;  // of another adapter
  EXPECT_THAT(modify(DAT_EP_FIELD_PZ_HANDLE), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  param_.connect_evd_handle = client_.connect_evd;
  EXPECT_THAT(modify(DAT_EP_FIELD_CONNECT_EVD_HANDLE), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  const DAT_EP_PARAM now = query(server_.ep);
  EXPECT_EQ(now.pz_handle, before.pz_handle);
  EXPECT_EQ(now.connect_evd_handle, before.connect_evd_handle);
  EXPECT_EQ(now.ep_attr.qos, before.ep_attr.qos);
}

}  // namespace
}  // namespace softdat::conformance
