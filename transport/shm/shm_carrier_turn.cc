// SPDX-License-Identifier: BSD-2-Clause
// How a ShmCarrier moves, sleeps and wakes.
#include <algorithm>

#include "transport/shm/link.h"
#include "transport/shm/shm_carrier.h"
#include "transport/shm/shm_port.h"

namespace softdat::transport::shm {
namespace {

// How often a turn looks at the kernel while the rings are all there is to look at.
constexpr std::uint32_t kTurnsPerLook = 256;
constexpr base::Duration kPauseBetweenLooks = std::chrono::microseconds(50);
constexpr base::Duration kRetryPause = std::chrono::milliseconds(1);

}  // namespace

std::size_t ShmCarrier::turn(base::Time now) {
  const bool look = wants_look(now);
  // What a wait() found is told at once; without one there is nothing to tell but at a look.
  const bool has_waited =
      has_waited_.load(std::memory_order_relaxed) && has_waited_.exchange(false, std::memory_order_acquire);
  const std::size_t told = look || has_waited ? reactor_.dispatch(look) : 0;
  return told + move(now);
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
  const std::size_t count = poll_links() + tell_news();
  if (is_meeting()) {
    bool has_retries = false;
    for (const auto& [key, contact] : contacts_) {
      contact->retry_if_due(now);
      has_retries |= contact->is_retrying();
    }
    has_retries_.store(has_retries, std::memory_order_relaxed);
    sweep();
  }
  return count;
}

// By index: a sink may connect, and so add a link, while we go through them.
std::size_t ShmCarrier::poll_links() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < links_.size();) {
    Link& link = *links_[i];
    if (!link.is_ending()) count += link.poll();
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

void ShmCarrier::retire(Link& link) {
  auto sleepers = sleepers_.lock();
  std::erase(*sleepers, &link);
  std::erase_if(known_services_, [&](const auto& known) { return known.second == &link; });
  std::erase_if(links_, [&](const auto& owned) { return owned.get() == &link; });
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
  std::erase_if(contacts_, [](const auto& contact) { return contact.second->is_done(); });
  std::erase_if(greeters_, [](const auto& greeter) { return greeter->is_done(); });
}

void ShmCarrier::sever_links() {
  for (const auto& link : links_) link->sever();
}

void ShmCarrier::wait(base::Time deadline) {
  const base::Time latest = prepare_wait();
  if (latest != base::Time::min()) reactor_.wait(std::min(deadline, latest));
  finish_wait();
}

base::Time ShmCarrier::prepare_wait() {
  auto sleepers = sleepers_.lock();
  for (Link* link : *sleepers) link->arm();
  for (const Link* link : *sleepers) {
    if (link->has_work()) return base::Time::min();
  }
  if (!has_retries_.load(std::memory_order_relaxed)) return base::kNever;
  return base::Clock::now() + kRetryPause;
}

void ShmCarrier::finish_wait() {
  {
    auto sleepers = sleepers_.lock();
    for (Link* link : *sleepers) link->disarm();
  }
  has_waited_.store(true, std::memory_order_release);
}

void ShmCarrier::interrupt() {
  reactor_.interrupt();
}

void ShmCarrier::on_ready(std::uint32_t) {
  bell_.silence();
  bell_watch_->want(kReadable);
}

}  // namespace softdat::transport::shm
