// SPDX-License-Identifier: BSD-2-Clause
// dat_evd_create, _dequeue, _post_se, _resize, _enable, _modify_cno, _free. Waiting: event_wait_test.cc.
#include "libdat/object/event_dispatcher.h"

#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

hca::Completion completion(std::uint64_t wr_id) {
  return {wr_id, 0, 64, hca::CompletionStatus::kSuccess, hca::CompletionOpcode::kRecv, false};
}

class EventDispatcherTest : public testing::Test {
 protected:
  Status create(std::int32_t qlen, std::uint32_t streams, Handle& evd) {
    return EventDispatcher::create(*pin_handle<InterfaceAdapter>(world_.ia), qlen, nullptr, streams, evd);
  }
  FakeCompletionQueue& queue() { return *world_.device->queues.back(); }
  Event next(Handle evd) {
    Event event;
    EXPECT_EQ(evd_of(evd)->dequeue(event), kOk);
    return event;
  }
  Status peek_cno(Handle cno) {
    Handle hint = &world_;
    return cno_of(cno)->wait(0, hint);
  }

  World world_;
};

TEST_F(EventDispatcherTest, EveryCombinationOfStreamsIsLegal) {
  for (std::uint32_t streams = 1; streams <= kAllStreams; ++streams) {
    if ((streams & ~kAllStreams) != 0) continue;
    Handle evd = nullptr;
    ASSERT_EQ(create(4, streams, evd), kOk) << streams;
    EXPECT_EQ(evd_of(evd)->query().streams, streams);
    EXPECT_EQ(EventDispatcher::free(evd_of(evd)), kOk);
  }
}

TEST_F(EventDispatcherTest, BadArgumentsAreNamedAndLeaveNothing) {
  Handle evd = nullptr;
  for (const std::int32_t qlen : {0, -1, 100001}) {
    EXPECT_EQ(create(qlen, kDtoStream, evd), invalid_parameter(StatusDetail::kInvalidArg2));
  }
  for (const std::uint32_t streams : {0u, 0x2u, 0x400u, 0xffffffffu}) {
    EXPECT_EQ(create(4, streams, evd), invalid_parameter(StatusDetail::kInvalidArg4));
  }
  EXPECT_EQ(evd, nullptr);
  EXPECT_EQ(world_.close(true), kOk);
}

TEST_F(EventDispatcherTest, EmptyQueueIsSpelledByItsStreams) {
  Event event;
  EXPECT_EQ(evd_of(world_.make_evd(kDtoStream))->dequeue(event), kBareEmpty);
  EXPECT_EQ(evd_of(world_.make_evd(kRmrBindStream))->dequeue(event), kBareEmpty);
  EXPECT_EQ(evd_of(world_.make_evd(kConnectionStream))->dequeue(event), kEmpty);
}

TEST_F(EventDispatcherTest, DequeueProgressesTheDeviceWhenNothingIsThere) {
  const Handle evd = world_.make_evd(kDtoStream);
  world_.device->on_progress([&] { queue().add(completion(7)); });
  const Event event = next(evd);
  EXPECT_EQ(std::get<DtoCompletion>(event.body).cookie, 7u);
  EXPECT_EQ(event.evd, evd);
  EXPECT_EQ(world_.device->progress_calls.load(), 1);
}

TEST_F(EventDispatcherTest, DequeueLeavesTheDeviceAloneWhenSomethingIsThere) {
  const Handle evd = world_.make_evd(kDtoStream);
  queue().add(completion(7));
  next(evd);
  EXPECT_EQ(world_.device->progress_calls.load(), 0);
}

TEST_F(EventDispatcherTest, StreamsKeepTheirOrder) {
  const Handle evd = world_.make_evd(kSoftwareStream | kDtoStream);
  for (std::uintptr_t i = 1; i <= 5; ++i) {
    post_software(evd, i);
    queue().add(completion(i));
  }
  std::uintptr_t software = 0;
  std::uint64_t dto = 0;
  for (int i = 0; i < 10; ++i) {
    const Event event = next(evd);
    if (std::holds_alternative<SoftwareEvent>(event.body)) {
      EXPECT_EQ(software_value(event), ++software);
    } else {
      EXPECT_EQ(std::get<DtoCompletion>(event.body).cookie, ++dto);
    }
  }
}

// "All successful Completion events of in-progress DTOs precede the Disconnect Completion event."
TEST_F(EventDispatcherTest, CompletionsThatCameBeforeAnEventGoBeforeIt) {
  const Handle evd = world_.make_evd(kConnectionStream | kDtoStream);
  for (std::uint64_t i = 1; i <= 3; ++i) queue().add(completion(i));
  ASSERT_TRUE(evd_of(evd)->post({nullptr, ConnectionNotice{}}));
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(std::get<DtoCompletion>(next(evd).body).cookie, i);
  EXPECT_TRUE(std::holds_alternative<ConnectionNotice>(next(evd).body));
}

// A stream of completions does not keep other events away for ever.
TEST_F(EventDispatcherTest, EventsAreNotStarvedByLaterCompletions) {
  const Handle evd = world_.make_evd(kConnectionStream | kDtoStream);
  ASSERT_TRUE(evd_of(evd)->post({nullptr, ConnectionNotice{}}));
  for (std::uint64_t i = 1; i <= 3; ++i) queue().add(completion(i));
  EXPECT_TRUE(std::holds_alternative<ConnectionNotice>(next(evd).body));
}

TEST_F(EventDispatcherTest, FullQueueRefusesSoftwareEventsWithoutAnAsynchronousError) {
  const Handle evd = world_.make_evd(kSoftwareStream, 3);
  for (std::uintptr_t i = 1; i <= 3; ++i) post_software(evd, i);
  EXPECT_EQ(evd_of(evd)->post_software(nullptr), Status{StatusType::kQueueFull});
  Event event;
  EXPECT_EQ(evd_of(world_.async_evd)->dequeue(event), kEmpty);
  for (std::uintptr_t i = 1; i <= 3; ++i) EXPECT_EQ(software_value(next(evd)), i);
}

TEST_F(EventDispatcherTest, SoftwareEventsNeedTheirStream) {
  const Handle evd = world_.make_evd(kConnectionStream);
  EXPECT_EQ(evd_of(evd)->post_software(nullptr).type, StatusType::kInvalidHandle);
}

TEST_F(EventDispatcherTest, OverflowIsReportedOnce) {
  const Handle evd = world_.make_evd(kConnectionStream, 1);
  EXPECT_TRUE(evd_of(evd)->post({nullptr, ConnectionNotice{}}));
  EXPECT_FALSE(evd_of(evd)->post({nullptr, ConnectionNotice{}}));
  EXPECT_FALSE(evd_of(evd)->post({nullptr, ConnectionNotice{}}));
  const AsyncError error = std::get<AsyncError>(next(world_.async_evd).body);
  EXPECT_EQ(error.object, evd);
  EXPECT_EQ(error.type, AsyncErrorType::kEvdOverflow);
  Event event;
  EXPECT_EQ(evd_of(world_.async_evd)->dequeue(event), kEmpty);
}

TEST_F(EventDispatcherTest, OverflowOfTheCompletionQueueIsReportedOnce) {
  const Handle evd = world_.make_evd(kDtoStream, 2);
  for (std::uint64_t i = 0; i < 5; ++i) queue().add(completion(i));
  EXPECT_EQ(std::get<AsyncError>(next(world_.async_evd).body).object, evd);
  Event event;
  EXPECT_EQ(evd_of(world_.async_evd)->dequeue(event), kEmpty);
}

TEST_F(EventDispatcherTest, ResizeKeepsWhatIsQueued) {
  const Handle evd = world_.make_evd(kSoftwareStream | kDtoStream, 4);
  for (std::uintptr_t i = 1; i <= 3; ++i) post_software(evd, i);
  EXPECT_EQ(evd_of(evd)->queue().resize(50), kOk);
  EXPECT_EQ(evd_of(evd)->query().qlen, 50);
  EXPECT_EQ(queue().capacity(), 50u);
  for (std::uintptr_t i = 4; i <= 50; ++i) post_software(evd, i);
  EXPECT_EQ(evd_of(evd)->queue().resize(49).type, StatusType::kInvalidState);
  EXPECT_EQ(evd_of(evd)->query().qlen, 50);
  for (std::uintptr_t i = 1; i <= 50; ++i) EXPECT_EQ(software_value(next(evd)), i);
  EXPECT_EQ(evd_of(evd)->queue().resize(1), kOk);
  EXPECT_EQ(evd_of(evd)->queue().resize(0), invalid_parameter(StatusDetail::kInvalidArg2));
}

// More completions than the new length: neither half of the queue changes.
TEST_F(EventDispatcherTest, RefusedResizeChangesNothing) {
  const Handle evd = world_.make_evd(kSoftwareStream | kDtoStream, 4);
  for (std::uint64_t i = 0; i < 4; ++i) queue().add(completion(i));
  EXPECT_EQ(evd_of(evd)->queue().resize(2).type, StatusType::kInvalidState);
  for (std::uintptr_t i = 1; i <= 4; ++i) post_software(evd, i);
}

TEST_F(EventDispatcherTest, QueryTellsWhatItWasMadeWith) {
  const Handle cno = world_.make_cno();
  const Handle evd = world_.make_evd(kSoftwareStream, 8, cno);
  const EventDispatcherParameters now = evd_of(evd)->query();
  EXPECT_EQ(now.ia, world_.ia);
  EXPECT_EQ(now.cno, cno);
  EXPECT_EQ(now.qlen, 8);
  EXPECT_TRUE(now.is_enabled);
  EXPECT_TRUE(now.is_waitable);
}

TEST_F(EventDispatcherTest, EventsTriggerTheCnoOnlyWhileEnabled) {
  const Handle cno = world_.make_cno();
  const Handle evd = world_.make_evd(kSoftwareStream, 8, cno);
  EXPECT_EQ(evd_of(evd)->cno_trigger().disable(), kOk);
  post_software(evd, 1);
  EXPECT_EQ(peek_cno(cno), kBareEmpty);
  EXPECT_EQ(evd_of(evd)->cno_trigger().enable(), kOk);
  EXPECT_EQ(peek_cno(cno), kBareEmpty);  // only arrivals count
  post_software(evd, 2);
  EXPECT_EQ(peek_cno(cno), kOk);
  EXPECT_EQ(peek_cno(cno), kBareEmpty);
}

TEST_F(EventDispatcherTest, EveryCompletionTriggersTheCno) {
  const Handle cno = world_.make_cno();
  const Handle evd = world_.make_evd(kDtoStream, 8, cno);
  for (std::uint64_t i = 0; i < 3; ++i) {
    queue().add(completion(i));
    EXPECT_EQ(peek_cno(cno), kOk) << i;
    next(evd);
  }
  queue().add(completion(9), true);  // but not a quiet one
  EXPECT_EQ(peek_cno(cno), kBareEmpty);
}

TEST_F(EventDispatcherTest, CompletionsTriggerTheCnoAttachedLater) {
  const Handle evd = world_.make_evd(kDtoStream, 8);
  queue().add(completion(1));
  const Handle cno = world_.make_cno();
  ASSERT_EQ(evd_of(evd)->cno_trigger().modify_cno(&*cno_of(cno)), kOk);
  queue().add(completion(2));
  EXPECT_EQ(peek_cno(cno), kOk);
  ASSERT_EQ(evd_of(evd)->cno_trigger().modify_cno(nullptr), kOk);
  queue().add(completion(3));
  EXPECT_EQ(peek_cno(cno), kBareEmpty);
}

TEST_F(EventDispatcherTest, FreeIsRefusedWhileStreamsFeedIt) {
  const Handle evd = world_.make_evd(kConnectionStream);
  ASSERT_TRUE(evd_of(evd)->streams().add());
  EXPECT_EQ(EventDispatcher::free(evd_of(evd)), invalid_state(StatusDetail::kInvalidStateEvdInUse));
  evd_of(evd)->streams().remove();
  EXPECT_EQ(EventDispatcher::free(evd_of(evd)), kOk);
  EXPECT_FALSE(evd_of(evd));
}

TEST_F(EventDispatcherTest, AsynchronousDispatcherBelongsToItsAdapter) {
  EXPECT_EQ(EventDispatcher::free(evd_of(world_.async_evd)), invalid_state(StatusDetail::kInvalidStateEvdInUse));
}

TEST_F(EventDispatcherTest, ReportsTheStrictestModeOfItsStreams) {
  constexpr auto kHandle = StatusDetail::kInvalidHandleEvdRecv;
  auto evd = evd_of(world_.make_evd(kDtoStream | kConnectionStream));
  EXPECT_EQ(evd->query().mode, NotifyMode::kThreshold);
  for (const NotifyMode mode : {NotifyMode::kThreshold, NotifyMode::kSolicited, NotifyMode::kUnsignalled}) {
    EXPECT_EQ(evd->streams().add_dto(mode, kHandle), kOk);
    EXPECT_EQ(evd->query().mode, mode);
  }
  evd->streams().remove_dto(NotifyMode::kUnsignalled);
  EXPECT_EQ(evd->query().mode, NotifyMode::kSolicited);
  evd->streams().remove_dto(NotifyMode::kSolicited);
  EXPECT_EQ(evd->query().mode, NotifyMode::kThreshold);
  evd->streams().remove_dto(NotifyMode::kThreshold);
}

TEST_F(EventDispatcherTest, OnlyDispatchersOfCompletionsTakeThem) {
  auto evd = evd_of(world_.make_evd(kConnectionStream));
  EXPECT_EQ(evd->streams().add_dto(NotifyMode::kThreshold, StatusDetail::kInvalidHandleEvdRecv),
            invalid_handle(StatusDetail::kInvalidHandleEvdRecv));
}

}  // namespace
}  // namespace softdat::object
