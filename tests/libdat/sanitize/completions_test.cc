// SPDX-License-Identifier: BSD-2-Clause
// Completions that a faulty device loses or doubles, as SOFTDAT_SANITIZE=completions tells of them.
#include <cstdlib>
#include <string>

#include "libdat/sanitize/ledger.h"
#include "libdat/sanitize/settings.h"
#include "tests/libdat/object/waiter.h"

namespace softdat::sanitize {
namespace {

using object::ep_of;
using object::evd_of;
using object::FakeQueuePair;
using object::kOk;

// Before the mode is read.
const int is_set = ::setenv("SOFTDAT_SANITIZE", "completions", 1);

class CompletionsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(is_set, 0);
    ASSERT_EQ(mode(), Mode::kCompletions);
    make(request_, Kind::kEvd);
    make(connect_, Kind::kEvd);
    make(ep_, Kind::kEp);
    ASSERT_EQ(ep_of(ep_)->connection().connect({.remote = {1, 0}, .conn_qual = 1, .timeout_us = 1}), kOk);
    queue_pair().establish();
    dequeue(connect_);
  }

  FakeQueuePair& queue_pair() { return *world_.device->queue_pairs.front(); }

  void make(Handle handle, Kind kind) { ledger_.objects().on_made(handle, kind, world_.ia, site_); }

  void post_send(std::uint64_t cookie) {
    LedgerPosts::Posting posting(ledger_.posts(),
                                 {.kind = OperationKind::kSend, .queue = ep_, .cookie = cookie, .site = site_});
    ASSERT_EQ(ep_of(ep_)->posts().post_send({}, cookie, 0), kOk);
    posting.accept();
  }

  void dequeue(Handle evd) {
    object::Event event;
    ASSERT_EQ(evd_of(evd)->dequeue(event), kOk);
    ledger_.events().on_event(event, site_);
  }

  void disconnect_and_free() {
    queue_pair().happen(hca::ConnectionEventType::kDisconnected, hca::QueuePairState::kError);
    dequeue(connect_);
    ledger_.endpoints().before_free(ep_, site_);
  }

  // What is told while `act` runs.
  template <typename Act>
  std::string told_by(const Act& act) {
    testing::internal::CaptureStderr();
    act();
    return testing::internal::GetCapturedStderr();
  }

  const Site site_{"dat_test", __builtin_return_address(0)};
  Ledger& ledger_ = Ledger::instance();
  object::World world_;
  const Handle pz_ = world_.make_pz();
  const Handle request_ = world_.make_evd(object::kDtoStream);
  const Handle connect_ = world_.make_evd(object::kConnectionStream);
  const Handle ep_ = world_.make_ep(pz_, nullptr, request_, connect_);
};

TEST_F(CompletionsTest, AreNotToldOfWhenEachComesOnce) {
  EXPECT_EQ(told_by([&] {
              for (const std::uint64_t cookie : {1, 2}) post_send(cookie);
              for (int i = 0; i < 2; ++i) {
                queue_pair().complete_send();
                dequeue(request_);
              }
              disconnect_and_free();
            }),
            "");
}

TEST_F(CompletionsTest, ThatNeverComeAreTold) {
  post_send(0x11);
  post_send(0x12);
  queue_pair().sends.pop_front();
  queue_pair().complete_send();
  dequeue(request_);
  const std::string told = told_by([&] { disconnect_and_free(); });
  EXPECT_NE(told.find("lost-completion: The send with the cookie 0x11 of EP "), std::string::npos) << told;
  EXPECT_EQ(told.find("0x12"), std::string::npos) << told;
}

TEST_F(CompletionsTest, ThatComeTwiceAreTold) {
  post_send(0x21);
  queue_pair().sends.push_back(queue_pair().sends.front());
  queue_pair().complete_send();
  dequeue(request_);
  queue_pair().complete_send();
  const std::string told = told_by([&] { dequeue(request_); });
  EXPECT_NE(told.find("doubled-completion: EP "), std::string::npos) << told;
  EXPECT_NE(told.find("no outstanding operation with the cookie 0x21"), std::string::npos) << told;
}

}  // namespace
}  // namespace softdat::sanitize
