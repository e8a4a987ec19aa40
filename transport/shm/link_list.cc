// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/link_list.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/fault_guard.h"
#include "base/process_fence.h"
#include "transport/shm/carrier_parts.h"

namespace softdat::transport::shm {
namespace {

// So many links are looked at in every turn whatever they do; of more, only those that were not idle
// for so many polls, and a few of the others.
constexpr std::size_t kAlwaysHot = 4;
constexpr std::uint32_t kPollsUntilCold = 1024;
constexpr std::size_t kColdPerTurn = 2;
// How long a sleep lasts if membarrier(2) fails: the program has forbidden it since the handshake.
constexpr base::Duration kPauseWithoutFence = std::chrono::milliseconds(1);

}  // namespace

// Room first: a link in one list alone would be forgotten.
Link* LinkList::add(LinkParts parts) {
  carrier_.attention.stir();
  // The program may have registered no memory, or have replaced the handlers since it did.
  may_show_words_ = base::install_fault_guard();
  const std::size_t count = links_.size() + 1;
  if (links_.capacity() < count) links_.reserve(2 * count);
  if (hot_.capacity() < count) hot_.reserve(2 * count);
  if (auto sleepers = sleepers_.lock(); sleepers->capacity() < count) sleepers->reserve(2 * count);
  links_.push_back(std::make_unique<Link>(carrier_, std::move(parts)));
  Link* link = links_.back().get();
  sleepers_.lock()->push_back(link);
  heat(*link);
  return link;
}

Link* LinkList::find(const CarrierId& peer) const {
  for (const auto& link : links_) {
    if (link->peer() == peer && !link->ending().is_due()) return link.get();
  }
  return nullptr;
}

// Links are only added by the reactor's sinks, so none comes while we go through them.
std::size_t LinkList::poll() {
  if (carrier_.attention.take_poll_of_all()) return poll_all();
  std::size_t count = poll_hot();
  for (std::size_t i = 0; i < kColdPerTurn && hot_.size() < links_.size(); ++i) count += poll_next_cold();
  return count;
}

std::size_t LinkList::poll_hot() {
  WatchWords& words = carrier_.attention.watch_words();
  std::size_t count = 0;
  for (std::size_t i = 0; i < hot_.size(); ++i) {
    Link& link = *hot_[i];
    const std::size_t done = link.is_quiet() ? link.heat().count_idle_poll() : link.take_records();
    if (done == 0) continue;
    count += done;
    if (i < WatchWords::kMost) words.set(i, link.next_word());
  }
  if (hot_.size() > kAlwaysHot) [[unlikely]]
    cool_idle();
  if (count > 0 && !words.are_published()) [[unlikely]]
    publish_words();
  return count;
}

[[gnu::noinline]] void LinkList::cool_idle() {
  for (std::size_t i = hot_.size(); i-- > 0 && hot_.size() > kAlwaysHot;) {
    if (hot_[i]->heat().idle_polls > kPollsUntilCold) cool(i);
  }
}

std::size_t LinkList::poll_next_cold() {
  if (next_cold_ >= links_.size()) next_cold_ = 0;
  Link& link = *links_[next_cold_++];
  if (link.heat().is_hot) return 0;
  const std::size_t count = link.take_records();
  if (count > 0) heat(link);
  return count;
}

// After a sleep any link may have something; and the ends of links are dealt with here.
std::size_t LinkList::poll_all() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < links_.size();) {
    Link& link = *links_[i];
    if (link.writer().is_mute()) link.ending().lose_peer();
    const std::size_t done = link.ending().is_due() ? 0 : link.take_records();
    count += done;
    if (done > 0) heat(link);
    if (!link.ending().is_due()) {
      ++i;
      continue;
    }
    link.end();
    retire(link);
    ++count;
  }
  return count;
}

void LinkList::heat(Link& link) {
  if (!std::exchange(link.heat().is_hot, true)) hot_.push_back(&link);
}

void LinkList::cool(std::size_t index) {
  carrier_.attention.stir();
  hot_[index]->heat().is_hot = false;
  hot_[index] = hot_.back();
  hot_.pop_back();
}

void LinkList::retire(Link& link) {
  std::erase(*sleepers_.lock(), &link);
  std::erase(hot_, &link);
  carrier_.introductions.forget(link);
  std::erase_if(links_, [&](const auto& owned) { return owned.get() == &link; });
}

// Without words every poll takes the baton. `may_show_words_`: a load of a word may fault where a peer's link ends,
// which the fault guard catches.
void LinkList::publish_words() {
  Attention& attention = carrier_.attention;
  if (!attention.is_calm() || !may_show_words_ || hot_.size() > WatchWords::kMost) return attention.watch_more();
  for (std::size_t i = 0; i < hot_.size(); ++i) {
    if (hot_[i]->writer().has_writers()) return attention.watch_more();
    attention.watch_words().set(i, hot_[i]->next_word());
  }
  attention.watch_words().publish(hot_.size());
}

void LinkList::check() {
  for (const auto& link : links_) {
    if (!link->ending().is_due() && (link->writer().is_mute() || !link->is_intact())) link->ending().lose_peer();
  }
}

void LinkList::lose_all() {
  for (const auto& link : links_) link->ending().lose_peer();
}

void LinkList::sever_all() {
  for (const auto& link : links_) link->sever();
}

void LinkList::say_farewells() const {
  for (const auto& link : links_) link->say_farewell();
}

// First say on every ring that we sleep, then look once more. A record that comes in between is seen here, or its
// writer sees the sleeper and rings. Without the fence neither is sure, so the sleep is short.
base::Duration LinkList::prepare_wait() {
  const bool wants_fence = arm_all();
  // Without the lock: the call waits for other processors. Who adds a link meanwhile ends the wait.
  const bool is_fenced = !wants_fence || base::fence_everyone();
  auto sleepers = sleepers_.lock();
  for (const Link* link : *sleepers) {
    if (link->has_work()) return base::Duration::zero();
  }
  if (!is_fenced) return kPauseWithoutFence;
  return sleepers->empty() ? base::Duration::max() : kPauseBetweenChecks;
}

// Whether a fence must follow.
bool LinkList::arm_all() {
  auto sleepers = sleepers_.lock();
  bool wants_fence = false;
  for (Link* link : *sleepers) wants_fence |= link->arm();
  return wants_fence;
}

void LinkList::finish_wait() {
  auto sleepers = sleepers_.lock();
  for (Link* link : *sleepers) link->disarm();
}

}  // namespace softdat::transport::shm
