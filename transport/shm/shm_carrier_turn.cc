// SPDX-License-Identifier: BSD-2-Clause
// How a ShmCarrier moves, sleeps and wakes.
#include <algorithm>
#include <new>
#include <utility>

#include "base/uncancelled.h"
#include "transport/shm/link.h"
#include "transport/shm/shm_carrier.h"
#include "transport/shm/shm_port.h"

namespace softdat::transport::shm {
namespace {

// How often a turn looks at the kernel while the rings are all there is to look at.
constexpr std::uint32_t kTurnsPerLook = 256;
constexpr base::Duration kPauseBetweenLooks = std::chrono::microseconds(50);
// So many links are looked at in every turn whatever they do; of more, only those that were not idle
// for so many polls, and a few of the others.
constexpr std::size_t kAlwaysHot = 4;
constexpr std::uint32_t kPollsUntilCold = 1024;
constexpr std::size_t kColdPerTurn = 2;
constexpr base::Duration kRetryPause = std::chrono::milliseconds(1);
// Between two looks at whether the sockets of the links are still ours.
constexpr base::Duration kPauseBetweenChecks = std::chrono::seconds(1);
constexpr base::Duration kPortsRest = std::chrono::milliseconds(100);
// A dying process closes its link before its listeners.
constexpr base::Duration kAbandonedPause = std::chrono::milliseconds(5);
// A process that dies closes one socket after the other, perhaps without a processor.
constexpr int kAbandonedTries = 400;
constexpr std::size_t kMostAbandoned = 1024;

}  // namespace

std::size_t ShmCarrier::turn(base::Time now) {
  const bool look = wants_look(now);
  // Marks that a wait() left are dispatched at once. Without a wait() there are none until the next look.
  const bool has_waited =
      has_waited_.load(std::memory_order_relaxed) && has_waited_.exchange(false, std::memory_order_acquire);
  std::size_t told = 0;
  if (look || has_waited) {
    told = reactor_.dispatch(look);
    stir();
  }
  return told + move(now);
}

// Links that are not hot have to be looked at in turns.
bool ShmCarrier::can_be_calm() const {
  // A calm carrier has nothing to do but to look at its hot links, so its turns take the short way (move).
  return news_.empty() && !is_meeting() && resting_ports_.empty() && abandoned_.empty() && !links_.empty() &&
         hot_.size() == links_.size();
}

// Often while a peer is being met, else now and then: everything that matters to an established
// link is in memory, but for its peer's death.
bool ShmCarrier::wants_look(base::Time now) {
  const bool is_time = ++turns_since_look_ >= kTurnsPerLook || now - last_look_ >= kPauseBetweenLooks;
  if (!is_time && !is_meeting()) return false;
  turns_since_look_ = 0;
  last_look_ = now;
  return true;
}

std::size_t ShmCarrier::move(base::Time now) {
  return is_calm() ? poll_hot() : move_slow(now);
}

// All that a turn may have to do beside the hot links. Whether the next one can be short is decided at its end.
std::size_t ShmCarrier::move_slow(base::Time now) {
  const base::Uncancelled guard;
  const bool fails_now = reactor_.has_failed() && !std::exchange(has_failed_, true);
  if (fails_now) break_down();
  if (now >= check_links_at_) check_links(now);
  const std::size_t count = poll_links() + (news_.empty() ? 0 : tell_news()) + (fails_now ? 1 : 0);
  if (is_meeting()) {
    bool has_retries = false;
    for (const auto& [key, connector] : connectors_) {
      connector->retry_if_due(now);
      has_retries |= connector->is_retrying();
    }
    note_duty(has_retries_, has_retries);
    sweep();
  }
  if (!resting_ports_.empty()) wake_ports(now);
  if (!abandoned_.empty()) remove_abandoned(now);
  if (!departed_.empty()) part_with_the_dead();
  is_calm_ = can_be_calm();
  publish_words();
  return count;
}

void ShmCarrier::publish_words() {
  // Without words every poll takes the baton. `may_show_words_`: a load of a word may fault where a peer's link ends,
  // which the fault guard catches.
  if (!is_calm() || !may_show_words_ || hot_.size() > WatchWords::kMost) return watch_words_.clear();
  for (std::size_t i = 0; i < hot_.size(); ++i) {
    if (hot_[i]->has_writers()) return watch_words_.clear();
    watch_words_.set(i, hot_[i]->next_word());
  }
  watch_words_.publish(hot_.size());
}

// A thread that sleeps already knows nothing of a duty that another's turn has begun, and would sleep through it.
void ShmCarrier::note_duty(std::atomic<bool>& is_noted, bool is_there) {
  const bool was_there = is_noted.load(std::memory_order_relaxed);
  if (was_there == is_there) return;
  is_noted.store(is_there, std::memory_order_relaxed);
  if (is_there) reactor_.interrupt();
}

// Without memory to note it the next carrier that opens removes it.
void ShmCarrier::note_abandoned(const ServiceKey& key) try {
  stir();
  if (abandoned_.size() < kMostAbandoned) abandoned_.push_back({key, kAbandonedTries});
  note_duty(has_abandoned_, true);
} catch (const std::bad_alloc&) {
  return;
}

void ShmCarrier::note_names_of(const Link& link) {
  for (const auto& [key, server] : known_services_) {
    if (server == &link) note_abandoned(key);
  }
}

void ShmCarrier::remove_abandoned(base::Time now) {
  if (remove_abandoned_at_ && now < *remove_abandoned_at_) return;
  remove_abandoned_at_ = base::deadline_after(now, kAbandonedPause);
  std::erase_if(abandoned_, [this](Abandoned& entry) {
    return rendezvous_.remove_if_stale(entry.name.first, entry.name.second) || --entry.tries_left == 0;
  });
  note_duty(has_abandoned_, !abandoned_.empty());
}

// Time comes from turns only, so a rest begins at the end of the turn in which it was asked for.
void ShmCarrier::wake_ports(base::Time now) {
  if (!rest_until_) rest_until_ = base::deadline_after(now, kPortsRest);
  if (now >= *rest_until_) {
    rest_until_.reset();
    for (const std::uint64_t service_id : std::exchange(resting_ports_, {})) {
      if (ShmPort* const port = find_port(service_id)) port->look_again();
    }
  }
  note_duty(has_resting_ports_, !resting_ports_.empty());
}

// Where a program closes descriptors that it does not know, and leaves those of the reactor, the end of a link's socket
// is not heard.
void ShmCarrier::check_links(base::Time now) {
  check_links_at_ = base::deadline_after(now, kPauseBetweenChecks);
  for (const auto& link : links_) {
    if (!link->is_ending() && (link->is_mute() || !link->is_intact())) link->lose_peer();
  }
}

void ShmCarrier::break_down() {
  for (const auto& link : links_) link->lose_peer();
  for (const auto& [key, connector] : connectors_) connector->give_up(Refusal::kUnreachable);
}

// Links that were busy of late are looked at in every turn, the others one or two at a time: what a
// turn costs grows with the peers that talk, not with those that there are. Links are only added by
// the reactor's sinks, so none comes while we go through them.
std::size_t ShmCarrier::poll_links() {
  if (must_poll_all_.load(std::memory_order_relaxed) && must_poll_all_.exchange(false, std::memory_order_acquire)) {
    return poll_all();
  }
  std::size_t count = poll_hot();
  for (std::size_t i = 0; i < kColdPerTurn && hot_.size() < links_.size(); ++i) count += poll_next_cold();
  return count;
}

std::size_t ShmCarrier::poll_hot() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < hot_.size(); ++i) {
    Link& link = *hot_[i];
    const std::size_t done = link.poll();
    if (done == 0) continue;
    count += done;
    if (i < WatchWords::kMost) watch_words_.set(i, link.next_word());
  }
  if (hot_.size() > kAlwaysHot) [[unlikely]]
    cool_idle();
  if (count > 0 && !watch_words_.are_published()) [[unlikely]]
    publish_words();
  return count;
}

[[gnu::noinline]] void ShmCarrier::cool_idle() {
  for (std::size_t i = hot_.size(); i-- > 0 && hot_.size() > kAlwaysHot;) {
    if (hot_[i]->idle_polls() > kPollsUntilCold) cool(i);
  }
}

std::size_t ShmCarrier::poll_next_cold() {
  if (next_cold_ >= links_.size()) next_cold_ = 0;
  Link& link = *links_[next_cold_++];
  if (link.is_hot()) return 0;
  const std::size_t count = link.poll();
  if (count > 0) heat(link);
  return count;
}

// After a sleep any link may have something; and the ends of links are dealt with here.
std::size_t ShmCarrier::poll_all() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < links_.size();) {
    Link& link = *links_[i];
    if (link.is_mute()) link.lose_peer();
    const std::size_t done = link.is_ending() ? 0 : link.poll();
    count += done;
    if (done > 0) heat(link);
    if (!link.is_ending()) {
      ++i;
      continue;
    }
    link.end();
    retire(link);
    ++count;
  }
  return count;
}

void ShmCarrier::heat(Link& link) {
  if (link.set_hot(true)) return;
  hot_.push_back(&link);
}

void ShmCarrier::cool(std::size_t index) {
  stir();
  hot_[index]->set_hot(false);
  hot_[index] = hot_.back();
  hot_.pop_back();
}

void ShmCarrier::retire(Link& link) {
  if (link.is_peer_gone()) note_names_of(link);
  std::erase(*sleepers_.lock(), &link);
  std::erase(hot_, &link);
  std::erase_if(known_services_, [&](const auto& known) { return known.second == &link; });
  std::erase_if(links_, [&](const auto& owned) { return owned.get() == &link; });
}

// Without memory to note the peer, the NIC finds out when it meets another one.
void ShmCarrier::await_end(std::unique_ptr<DeathWatch> watch, const std::shared_ptr<PeerResources>& peer) try {
  watch->tell([this] { stir(); });
  departed_.push_back({std::move(watch), peer});
} catch (const std::bad_alloc&) {
  return;
}

void ShmCarrier::part_with_the_dead() {
  std::erase_if(departed_, [this](const Departed& departed) {
    if (!departed.watch->has_ended()) return false;
    static_cast<void>(resources()->detach_peer(departed.peer, true));
    return true;
  });
}

std::size_t ShmCarrier::tell_news() {
  std::size_t count = 0;
  ChannelQueue news;  // what is added meanwhile waits for the next turn
  news.splice(news.end(), news_);
  for (; !news.empty(); ++count) {
    ShmChannel& channel = news.front();
    news.pop_front();
    channel.tell_news();
  }
  return count;
}

void ShmCarrier::sweep() {
  std::erase_if(connectors_, [](const auto& connector) { return connector.second->is_done(); });
  std::erase_if(pending_accepts_, [](const auto& pending) { return pending->is_done(); });
}

void ShmCarrier::sever_links() {
  for (const auto& link : links_) link->sever();
}

// REQUIRES an owner that turns and waits in one thread, because the wait is not announced (see AutoCarrier::wait).
void ShmCarrier::wait(base::Time deadline) {
  const base::Time latest = prepare_wait();
  if (latest != base::Time::min()) reactor_.wait(std::min(deadline, latest));
  finish_wait();
}

base::Time ShmCarrier::prepare_wait() {
  auto sleepers = sleepers_.lock();
  // First say on every ring that we sleep, then look once more. A record that comes in between is seen here, or its
  // writer sees the sleeper and rings.
  for (Link* link : *sleepers) link->arm();
  for (const Link* link : *sleepers) {
    if (link->has_work()) return base::Time::min();
  }
  if (has_retries_.load(std::memory_order_relaxed)) return base::Clock::now() + kRetryPause;
  if (has_abandoned_.load(std::memory_order_relaxed)) return base::Clock::now() + kAbandonedPause;
  if (has_resting_ports_.load(std::memory_order_relaxed)) return base::Clock::now() + kPortsRest;
  return sleepers->empty() ? base::kNever : base::Clock::now() + kPauseBetweenChecks;
}

void ShmCarrier::finish_wait() {
  {
    auto sleepers = sleepers_.lock();
    for (Link* link : *sleepers) link->disarm();
  }
  must_poll_all_.store(true, std::memory_order_release);
  has_waited_.store(true, std::memory_order_release);
}

void ShmCarrier::note_work() {
  on_bell();
  reactor_.interrupt();
}

// A thread that polls without a turn hears of it at the next check.
void ShmCarrier::note_end_of_link() {
  must_poll_all_.store(true, std::memory_order_release);
  reactor_.interrupt();
}

void ShmCarrier::interrupt() {
  reactor_.interrupt();
}

}  // namespace softdat::transport::shm
