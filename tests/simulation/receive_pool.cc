// SPDX-License-Identifier: BSD-2-Clause
#include "tests/simulation/receive_pool.h"

namespace softdat::simnic::simulation {
namespace {

constexpr std::size_t kMostReceives = 20;

}  // namespace

ReceivePool::ReceivePool(Host& host, Random& random) {
  hca::SharedReceiveQueueConfig config;
  config.pd = &host.pd();
  config.capacity = static_cast<std::uint32_t>(4 + pick(random, kMostReceives));
  config.max_sge = 4;
  config.sink = this;
  srq_ = testing::expect_ok(host.nic().create_srq(config));
}

void ReceivePool::post(Work work, const testing::Segments& segments) {
  work.wr_id = next_wr_++;
  const auto outcome = srq_->post_recv({.wr_id = work.wr_id, .local = segments});
  EXPECT_EQ(outcome.ok(), owed_.size() < srq_->capacity());
  if (outcome) owed_.emplace(work.wr_id, std::move(work));
}

void ReceivePool::meddle(Random& random) {
  if (chance(random, 2)) {
    ++armed_;
    srq_->arm(static_cast<std::uint32_t>(pick(random, kMostReceives)));
    return;
  }
  const auto capacity = static_cast<std::uint32_t>(4 + pick(random, kMostReceives));
  EXPECT_EQ(srq_->resize(capacity).ok(), owed_.size() <= capacity);
}

void ReceivePool::revoke_something(Random& random) {
  if (owed_.empty()) return;
  const auto place = std::next(owed_.begin(), static_cast<std::ptrdiff_t>(pick(random, owed_.size() - 1)));
  if (std::exchange(place->second.is_revoked, true)) return;
  place->second.local->deregister();
}

std::unique_ptr<Work> ReceivePool::take(std::uint64_t wr_id) {
  const auto place = owed_.find(wr_id);
  if (place == owed_.end()) return nullptr;
  auto work = std::make_unique<Work>(std::move(place->second));
  owed_.erase(place);
  return work;
}

std::string ReceivePool::check() const {
  const hca::SharedReceiveCounts counts = srq_->counts();
  if (counts.outstanding != owed_.size()) return "a shared queue's outstanding receives are not those owed";
  if (counts.available > counts.outstanding) return "a shared queue has more receives than are outstanding";
  if (told_ > armed_) return "a shared queue's limit was told more often than it was set";
  return {};
}

}  // namespace softdat::simnic::simulation
