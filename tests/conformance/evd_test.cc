// SPDX-License-Identifier: BSD-2-Clause
// Making, asking, resizing and freeing event dispatchers, and posting software events.
#include <gtest/gtest.h>

#include "tests/conformance/peer.h"
#include "tests/conformance/waiter.h"

namespace softdat::conformance {
namespace {

constexpr int kAllStreams = DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG |
                            DAT_EVD_RMR_BIND_FLAG | DAT_EVD_ASYNC_FLAG;

class Evd : public testing::Test {
 protected:
  DAT_RETURN create(DAT_COUNT length, int flags, DAT_EVD_HANDLE* evd, DAT_CNO_HANDLE cno = DAT_HANDLE_NULL) {
    return dat_evd_create(adapter_.handle(), length, cno, static_cast<DAT_EVD_FLAGS>(flags), evd);
  }

  static DAT_EVD_PARAM query(DAT_EVD_HANDLE evd) {
    DAT_EVD_PARAM param{};
    require(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param), "dat_evd_query");
    return param;
  }

  Adapter adapter_;
};

// Every non-empty set of streams that a consumer may ask for can feed one dispatcher.
TEST_F(Evd, EveryCombinationOfStreamsCanShareADispatcher) {
  constexpr int kConsumerStreams = kAllStreams & ~DAT_EVD_ASYNC_FLAG;
  for (int flags = 1; flags <= kAllStreams; ++flags) {
    if ((flags & ~kConsumerStreams) != 0) continue;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    ASSERT_THAT(create(8, flags, &evd), succeeds()) << flags;
    EXPECT_EQ(static_cast<int>(query(evd).evd_flags) & kAllStreams, flags);
    EXPECT_THAT(dat_evd_free(evd), succeeds()) << flags;
  }
}

TEST_F(Evd, UnknownOrNoStreamsAreInvalid) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  for (const int flags : {0, 0x2, 0x8, 0x10000, DAT_EVD_DTO_FLAG | 0x4000})
    EXPECT_THAT(create(8, flags, &evd), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4)) << flags;
  EXPECT_EQ(evd, DAT_HANDLE_NULL);
}

TEST_F(Evd, QueueIsAtLeastAsLongAsAsked) {
  for (const DAT_COUNT length : {1, 8, 10, 16, 256, 1024, 2014, 6000, 51200}) {
    if (length <= adapter_.attributes().max_evd_qlen) {
      EXPECT_GE(query(adapter_.make_evd(DAT_EVD_DTO_FLAG, length)).evd_qlen, length);
    }
  }
}

TEST_F(Evd, AskedLengthCanBeFilled) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(10);
  for (std::uintptr_t value = 0; value < 10; ++value) post_software_event(evd, value);
  for (std::uintptr_t value = 0; value < 10; ++value) EXPECT_EQ(software_value(next_event(evd)), value);
}

TEST_F(Evd, SenselessLengthIsInvalid) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  const DAT_COUNT limit = adapter_.attributes().max_evd_qlen;
  for (const DAT_COUNT length : {0, -1, limit + 1, 0x7fffffff})
    EXPECT_THAT(create(length, DAT_EVD_SOFTWARE_FLAG, &evd), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2))
        << length;
  EXPECT_EQ(evd, DAT_HANDLE_NULL);
}

TEST_F(Evd, CreateRefusesNullAndBadHandles) {
  EXPECT_THAT(create(8, DAT_EVD_DTO_FLAG, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_THAT(create(8, DAT_EVD_DTO_FLAG, &evd, adapter_.make_pz()),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
}

TEST_F(Evd, QueryTellsWhatItWasMadeWith) {
  const DAT_CNO_HANDLE cno = adapter_.make_cno();
  const DAT_EVD_PARAM param = query(adapter_.make_software_evd(8, cno));
  EXPECT_EQ(param.ia_handle, adapter_.handle());
  EXPECT_EQ(param.cno_handle, cno);
  EXPECT_EQ(param.evd_flags, DAT_EVD_SOFTWARE_FLAG);
  EXPECT_EQ(param.evd_state & (DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_DISABLED), DAT_EVD_STATE_ENABLED + 0u);
  EXPECT_EQ(param.evd_state & (DAT_EVD_STATE_WAITABLE | DAT_EVD_STATE_UNWAITABLE), DAT_EVD_STATE_WAITABLE + 0u);
}

TEST_F(Evd, QueryRefusesUnknownBitsAndNull) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd();
  DAT_EVD_PARAM param{};
  EXPECT_THAT(dat_evd_query(evd, static_cast<DAT_EVD_PARAM_MASK>(0x100), &param),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_evd_query(evd, DAT_EVD_FIELD_ALL, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(Evd, EnableAndDisableShowInTheState) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd();
  for (int repeat = 0; repeat < 2; ++repeat) EXPECT_THAT(dat_evd_disable(evd), succeeds());
  EXPECT_NE(query(evd).evd_state & DAT_EVD_STATE_DISABLED, 0u);
  EXPECT_EQ(query(evd).evd_state & DAT_EVD_STATE_ENABLED, 0u);
  for (int repeat = 0; repeat < 2; ++repeat) EXPECT_THAT(dat_evd_enable(evd), succeeds());
  EXPECT_NE(query(evd).evd_state & DAT_EVD_STATE_ENABLED, 0u);
  EXPECT_EQ(query(evd).evd_state & DAT_EVD_STATE_DISABLED, 0u);
}

TEST_F(Evd, WaitabilityShowsInTheState) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd();
  for (int repeat = 0; repeat < 2; ++repeat) EXPECT_THAT(dat_evd_set_unwaitable(evd), succeeds());
  EXPECT_NE(query(evd).evd_state & DAT_EVD_STATE_UNWAITABLE, 0u);
  EXPECT_EQ(query(evd).evd_state & DAT_EVD_STATE_WAITABLE, 0u);
  for (int repeat = 0; repeat < 2; ++repeat) EXPECT_THAT(dat_evd_clear_unwaitable(evd), succeeds());
  EXPECT_NE(query(evd).evd_state & DAT_EVD_STATE_WAITABLE, 0u);
}

TEST_F(Evd, FreedDispatcherIsInvalid) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd();
  post_software_event(evd, 1);
  EXPECT_THAT(dat_evd_free(evd), succeeds());
  EXPECT_THAT(dat_evd_free(evd), fails_with(DAT_INVALID_HANDLE, kEvdSubtype));
  EXPECT_THAT(dat_evd_enable(evd), fails_with(DAT_INVALID_HANDLE, kEvdSubtype));
}

// A dispatcher that a stream feeds cannot go.
TEST_F(Evd, DispatcherOfAnEndpointCannotBeFreed) {
  Peer peer(kServerName);
  for (const DAT_EVD_HANDLE evd : {peer.recv_evd, peer.request_evd, peer.connect_evd})
    EXPECT_THAT(dat_evd_free(evd), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
  ASSERT_THAT(dat_ep_free(peer.ep), succeeds());
  for (const DAT_EVD_HANDLE evd : {peer.recv_evd, peer.request_evd, peer.connect_evd})
    EXPECT_THAT(dat_evd_free(evd), succeeds());
}

TEST_F(Evd, DispatcherOfAServicePointCannotBeFreed) {
  Peer peer(kServerName);
  peer.listen();
  EXPECT_THAT(dat_evd_free(peer.cr_evd), fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
  peer.stop_listening();
  EXPECT_THAT(dat_evd_free(peer.cr_evd), succeeds());
}

TEST_F(Evd, ResizingKeepsTheEvents) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(4);
  for (std::uintptr_t value = 1; value <= 3; ++value) post_software_event(evd, value);
  ASSERT_THAT(dat_evd_resize(evd, 100), succeeds());
  EXPECT_GE(query(evd).evd_qlen, 100);
  for (std::uintptr_t value = 4; value <= 100; ++value) post_software_event(evd, value);
  for (std::uintptr_t value = 1; value <= 100; ++value) EXPECT_EQ(software_value(next_event(evd)), value);
  ASSERT_THAT(dat_evd_resize(evd, 4), succeeds());
  EXPECT_GE(query(evd).evd_qlen, 4);
}

TEST_F(Evd, ResizingBelowTheQueuedEventsIsRefused) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(200);
  for (std::uintptr_t value = 1; value <= 100; ++value) post_software_event(evd, value);
  EXPECT_THAT(dat_evd_resize(evd, 2), fails_with(DAT_INVALID_STATE));
  EXPECT_GE(query(evd).evd_qlen, 200);
  for (std::uintptr_t value = 1; value <= 100; ++value) EXPECT_EQ(software_value(next_event(evd)), value);
}

TEST_F(Evd, ResizingToSenselessLengthIsInvalid) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8);
  for (const DAT_COUNT length : {0, -1, 0x7fffffff})
    EXPECT_THAT(dat_evd_resize(evd, length), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_GE(query(evd).evd_qlen, 8);
}

TEST_F(Evd, FullQueueRefusesASoftwareEventAndRaisesNothing) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(4);
  const DAT_COUNT length = query(evd).evd_qlen;
  for (DAT_COUNT i = 0; i < length; ++i) post_software_event(evd, static_cast<std::uintptr_t>(i));
  const DAT_EVENT event = make_software_event(999);
  EXPECT_THAT(dat_evd_post_se(evd, &event), fails_with(DAT_QUEUE_FULL));
  EXPECT_TRUE(is_quiet(adapter_.async_evd()));
  EXPECT_EQ(drain(evd), length);
}

TEST_F(Evd, OnlySoftwareEventsCanBePosted) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(4);
  DAT_EVENT event = make_software_event(1);
  event.event_number = DAT_DTO_COMPLETION_EVENT;
  EXPECT_THAT(dat_evd_post_se(evd, &event), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_evd_post_se(evd, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_TRUE(is_quiet(evd));
}

TEST_F(Evd, SoftwareEventNeedsASoftwareStream) {
  const DAT_EVD_HANDLE evd = adapter_.make_evd(DAT_EVD_CONNECTION_FLAG);
  const DAT_EVENT event = make_software_event(1);
  EXPECT_THAT(dat_evd_post_se(evd, &event), testing::Not(succeeds()));
  EXPECT_TRUE(is_quiet(evd));
}

TEST_F(Evd, ModifyCnoMovesTheNotifications) {
  const DAT_CNO_HANDLE first = adapter_.make_cno();
  const DAT_CNO_HANDLE second = adapter_.make_cno();
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, first);
  ASSERT_THAT(dat_evd_modify_cno(evd, second), succeeds());
  EXPECT_EQ(query(evd).cno_handle, second);
  post_software_event(evd, 1);
  DAT_EVD_HANDLE triggered = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_cno_wait(second, kPatience, &triggered), succeeds());
  EXPECT_EQ(triggered, evd);
  EXPECT_THAT(dat_cno_wait(first, 0, &triggered), is_empty_queue());
}

TEST_F(Evd, ModifyCnoWithNullDetaches) {
  const DAT_CNO_HANDLE cno = adapter_.make_cno();
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd(8, cno);
  ASSERT_THAT(dat_evd_modify_cno(evd, DAT_HANDLE_NULL), succeeds());
  EXPECT_EQ(query(evd).cno_handle, DAT_HANDLE_NULL);
  post_software_event(evd, 1);
  DAT_EVD_HANDLE triggered = DAT_HANDLE_NULL;
  EXPECT_THAT(dat_cno_wait(cno, 0, &triggered), is_empty_queue());
  EXPECT_THAT(dat_cno_free(cno), succeeds());
}

TEST_F(Evd, ModifyCnoRefusesWhatIsNoCno) {
  const DAT_EVD_HANDLE evd = adapter_.make_software_evd();
  EXPECT_THAT(dat_evd_modify_cno(evd, adapter_.make_pz()), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
  EXPECT_EQ(query(evd).cno_handle, DAT_HANDLE_NULL);
}

// More completions than the queue holds, and nobody takes one: the adapter says so on the
// asynchronous dispatcher.
TEST_F(Evd, OverflowIsReportedAsynchronously) {
  PeerOptions options;
  options.queue_length = 1;
  ConnectedPair pair({}, options);
  const DAT_RMR_TRIPLET target = pair.server.memory->remote(0, 64);
  // A provider may hold more than it was asked for; not for ever, though.
  constexpr int kMoreThanAnyQueueOfOne = 1000;
  for (int i = 0; i < kMoreThanAnyQueueOfOne && pair.client.state() == DAT_EP_STATE_CONNECTED; ++i) {
    ASSERT_TRUE(eventually([&] { return pair.client.post_write(0, 64, target) == DAT_SUCCESS; }));
    ASSERT_TRUE(eventually([&] {
      DAT_BOOLEAN idle = DAT_FALSE;
      require(dat_ep_get_status(pair.client.ep, nullptr, nullptr, &idle), "dat_ep_get_status");
      return idle == DAT_TRUE;
    }));
  }
  const DAT_EVENT event = next_event(pair.client.adapter.async_evd(), DAT_ASYNC_ERROR_EVD_OVERFLOW);
  EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, pair.client.request_evd);
  EXPECT_TRUE(is_quiet(pair.client.adapter.async_evd()));
  // What completions are lost of is broken.
  next_event(pair.client.connect_evd, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(pair.client.state(), DAT_EP_STATE_DISCONNECTED);
}

}  // namespace
}  // namespace softdat::conformance
