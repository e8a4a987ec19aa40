// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/loop_network.h"

#include "transport/loop/conversation.h"
#include "transport/loop/loop_carrier.h"

namespace softdat::transport::loop {

LoopNetwork::LoopNetwork(const LoopOptions& options) : options_(options), random_(options.seed) {}

LoopNetwork::~LoopNetwork() = default;

std::vector<std::uint64_t> LoopNetwork::connections() const {
  const Section section = enter();
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, conversation] : conversations_) {
    const auto alive = conversation.lock();
    if (alive && alive->active().state() != EndState::kClosed) numbers.push_back(number);
  }
  return numbers;
}

void LoopNetwork::cut(std::uint64_t connection) {
  const Section section = enter();
  const auto found = conversations_.find(connection);
  const auto alive = found == conversations_.end() ? nullptr : found->second.lock();
  if (!alive) return;
  alive->active().lose();
  alive->passive().lose();
}

// For tests: the cable between two hosts.
void LoopNetwork::cut(const LoopCarrier& one, const LoopCarrier& other) {
  const Section section = enter();
  for (const std::uint64_t number : connections()) {
    const auto alive = conversations_[number].lock();
    const LoopCarrier* active = alive->active().carrier();
    const LoopCarrier* passive = alive->passive().carrier();
    if ((active == &one && passive == &other) || (active == &other && passive == &one)) cut(number);
  }
}

std::optional<base::Time> LoopNetwork::next_due() const {
  const Section section = enter();
  std::optional<base::Time> soonest;
  const auto consider = [&](const End& end) {
    const std::optional<base::Time> due = end.inbox().next_due();
    // An item that is due already needs no clock: a turn delivers it.
    if (due && *due > now_ && (!soonest || *due < *soonest)) soonest = due;
  };
  for (const auto& [number, conversation] : conversations_) {
    const auto alive = conversation.lock();
    if (!alive) continue;
    consider(alive->active());
    consider(alive->passive());
  }
  return soonest;
}

std::uint64_t LoopNetwork::enlist(const std::shared_ptr<Conversation>& conversation) {
  base::require_lock(locks::kLoopNetwork);
  conversations_[++last_connection_] = conversation;
  return last_connection_;
}

// Several carriers may have one address; prefer the one that serves the id. Another one refuses in its own words.
LoopCarrier* LoopNetwork::find(const Address& address, std::uint64_t service_id) const {
  base::require_lock(locks::kLoopNetwork);
  LoopCarrier* there = nullptr;
  for (auto [at, end] = carriers_.equal_range(address.with_port(0)); at != end; ++at) {
    there = at->second;
    if (there->ports_.contains(service_id)) break;
  }
  return there;
}

base::Time LoopNetwork::pick_due() {
  if (options_.max_delay <= base::Duration::zero()) return now_;
  std::uniform_int_distribution<base::Duration::rep> delays(0, options_.max_delay.count());
  return now_ + base::Duration(delays(random_));
}

std::size_t LoopNetwork::pick_chunk() {
  if (!options_.random_chunks) return options_.max_chunk;
  return std::uniform_int_distribution<std::size_t>(1, options_.max_chunk)(random_);
}

}  // namespace softdat::transport::loop
