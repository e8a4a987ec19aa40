// SPDX-License-Identifier: BSD-2-Clause
// What there is no memory for: an answer then leaves the request with whoever had it; a call at a later time, which the
// event thread asks for where nobody could help it, takes none.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/scarce_memory.h"
#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

using softdat::scarce_memory::allocations_left;

// Whether it could be answered with so many allocations.
bool accept_with(QueuePair& queue_pair, CmEvent& request, int allocations) {
  allocations_left = allocations;
  bool is_accepted = false;
  try {
    is_accepted = queue_pair.accept(request, {}).ok();
  } catch (const std::bad_alloc&) {
    is_accepted = false;
  }
  allocations_left = -1;
  return is_accepted;
}

TEST(AcceptShortageTest, RequestBelongsToOneOfTheTwo) {
  bool is_accepted = false;
  for (int allocations = 0; !is_accepted; ++allocations) {
    ASSERT_LT(allocations, 100);
    CmEvent request{.type = RDMA_CM_EVENT_CONNECT_REQUEST};
    const int before = fake::ids_alive();
    {
      Stand stand;
      Hearer consumer;
      const auto queue = stand.make_cq(8);
      const auto queue_pair = stand.make_qp(*queue, 4, &consumer);
      request.id = fake::make_id();
      is_accepted = accept_with(*queue_pair, request, allocations);
    }
    // With the stand its thread has ended, which destroys what was given to it.
    ASSERT_EQ(fake::ids_alive() - before, request.id == nullptr ? 0 : 1) << allocations;
    if (request.id != nullptr) Stand::library().cm.destroy_id(request.id);
  }
  EXPECT_EQ(fake::ids_alive(), 0);
}

// What a device counts of a region's binds begins with the first one.
TEST(BindShortageTest, RefusedBindLeavesTheRegionUnbound) {
  Stand stand{{.has_invalidate = true, .has_windows = true}};
  Hearer hearer;
  stand.memory().insert(
      {.address = 0, .length = 1000, .access = hca::kBindRemoteRead, .domain = 1, .lkey = 1, .rkey = 2});
  const auto queue = stand.make_cq(16);
  const auto queue_pair = stand.make_qp(*queue, 16, &hearer);
  Stand::accept(*queue_pair);
  ASSERT_EQ(hearer.await(1).size(), 1u);
  const auto window = stand.make_window();
  const hca::BindRequest request{
      .wr_id = 1, .window = window.get(), .lkey = 1, .address = 0, .length = 100, .access = hca::kRemoteRead};
  allocations_left = 0;
  const auto refused = queue_pair->post_bind(request);
  allocations_left = -1;
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.reason(), hca::Error::kNoMemory);
  EXPECT_FALSE(stand.memory().is_bound(1));
  EXPECT_TRUE(queue_pair->post_bind(request));
  EXPECT_TRUE(stand.memory().is_bound(1));
}

class Sleeper final : public EventTarget {
 public:
  bool await() {
    std::unique_lock lock(mutex_);
    return woken_.wait_for(lock, std::chrono::seconds(240), [&] { return is_awake_; });
  }

 private:
  void on_wake() override {
    const std::lock_guard lock(mutex_);
    is_awake_ = true;
    woken_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_awake_ = false;
};

TEST(WakeShortageTest, AskingForACallTakesNoMemory) {
  Stand stand;
  Sleeper sleepers[3];
  for (Sleeper& sleeper : sleepers)
    stand.events().add(key_of_qp(static_cast<std::uint32_t>(&sleeper - sleepers)), sleeper);
  allocations_left = 0;
  for (Sleeper& sleeper : sleepers) stand.events().wake_at(sleeper, base::Clock::now() + std::chrono::hours(1));
  for (Sleeper& sleeper : sleepers) stand.events().wake_at(sleeper, base::Clock::now() + std::chrono::milliseconds(1));
  allocations_left = -1;
  for (Sleeper& sleeper : sleepers) EXPECT_TRUE(sleeper.await());
  for (Sleeper& sleeper : sleepers) stand.events().forget(sleeper);
}

TEST(WakeShortageTest, PostingAndBuryingTakeNoMemory) {
  Stand stand;
  Sleeper sleepers[3];
  for (Sleeper& sleeper : sleepers)
    stand.events().add(key_of_qp(static_cast<std::uint32_t>(&sleeper - sleepers)), sleeper);
  rdma_cm_id* const ids[] = {fake::make_id(), fake::make_id()};
  allocations_left = 0;
  for (Sleeper& sleeper : sleepers) stand.events().post(sleeper);
  stand.events().bury(ids[0]);
  stand.events().bury_and_wait(ids[1]);
  allocations_left = -1;
  for (Sleeper& sleeper : sleepers) EXPECT_TRUE(sleeper.await());
  for (Sleeper& sleeper : sleepers) stand.events().forget(sleeper);
  EXPECT_EQ(fake::ids_alive(), 0);
}

}  // namespace
}  // namespace softdat::verbs
