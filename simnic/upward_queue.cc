// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/upward_queue.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/uncancelled.h"
#include "simnic/direct/direct_path.h"

namespace softdat::simnic {
namespace {

struct Speak {
  void operator()(CompletionNews& news) const { news.sink->on_completion(); }
  void operator()(OverflowNews& news) const { news.sink->on_overflow(); }
  void operator()(ConnectionNews& news) const {
    if (news.path != nullptr && news.event.type != hca::ConnectionEventType::kEstablished) news.path->settle();
    news.sink->on_connection_event(news.event);
  }
  void operator()(DatagramNews& news) const { news.sink->on_datagram_event(news.event); }
  void operator()(RequestNews& news) const { news.sink->on_request(std::move(news.request)); }
  void operator()(RecvLimitNews& news) const { news.sink->on_recv_limit(); }
  void operator()(LowReceivesNews& news) const { news.sink->on_low(); }
  void operator()(FailureNews& news) const { news.sink->on_device_failed(); }
};

}  // namespace

// Room for `places` more than is promised and taken.
void UpwardQueue::make_room_locked(std::size_t places) {
  base::require_lock(locks::kUpwardQueue);
  const std::size_t needed = promised_ + others_ + places;
  if (needed > items_.capacity()) items_.set_capacity(std::max(needed, 2 * items_.capacity()));
}

void UpwardQueue::promise(std::size_t places) {
  const std::lock_guard lock(mutex_);
  make_room_locked(places);
  promised_ += places;
}

void UpwardQueue::release(std::size_t places) {
  const std::lock_guard lock(mutex_);
  promised_ -= places;
}

void UpwardQueue::say(const void* owner, News news) {
  const std::lock_guard lock(mutex_);
  --promised_;
  ++others_;
  items_.push_back({.owner = owner, .news = std::move(news)});
  has_news_.store(true, std::memory_order_seq_cst);
}

bool UpwardQueue::try_say(const void* owner, News& news) try {
  const std::lock_guard lock(mutex_);
  make_room_locked(1);
  ++others_;
  items_.push_back({.owner = owner, .news = std::move(news)});
  has_news_.store(true, std::memory_order_seq_cst);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

UpwardQueue::Item* UpwardQueue::find_waiting_locked(const void* owner, const News& news) {
  base::require_lock(locks::kUpwardQueue);
  const auto is_same = [&](const Item& item) {
    return item.owner == owner && item.has_standing_place && item.news.index() == news.index();
  };
  const auto found = std::find_if(items_.begin(), items_.end(), is_same);
  return found == items_.end() ? nullptr : &*found;
}

void UpwardQueue::say_in_standing_place(const void* owner, News news, std::uint32_t more) {
  const std::lock_guard lock(mutex_);
  if (Item* const waiting = find_waiting_locked(owner, news)) {
    waiting->times += more;
    return;
  }
  items_.push_back({.owner = owner, .news = std::move(news), .has_standing_place = true});
  has_news_.store(true, std::memory_order_seq_cst);
}

bool UpwardQueue::deliver() {
  if (!has_news()) return false;
  const base::Uncancelled guard;  // a thread that ended in a sink would keep the others from speaking
  std::unique_lock lock(mutex_);
  if (is_delivering_) return false;
  is_delivering_ = true;
  bool has_spoken = false;
  while (!items_.empty()) {
    {
      Item item = std::move(items_.front());
      items_.pop_front();
      if (!item.has_standing_place) --others_;
      speaking_ = item.owner;
      speaker_ = std::this_thread::get_id();
      lock.unlock();
      // The sink itself may forget the owner.
      do std::visit(Speak{}, item.news);
      while (--item.times > 0 && speaking_ == item.owner);
    }
    lock.lock();
    speaking_ = nullptr;
    if (awaiting_silence_ > 0) fell_silent_.notify_all();
    has_spoken = true;
  }
  has_news_.store(false, std::memory_order_seq_cst);
  is_delivering_ = false;
  return has_spoken;
}

// What is dropped dies after the lock, and one by one: there may be no memory to keep it in meanwhile.
void UpwardQueue::forget(const void* owner) {
  std::unique_lock lock(mutex_);
  const auto is_ours = [owner](const Item& item) { return item.owner == owner; };
  for (;;) {
    const auto found = std::find_if(items_.begin(), items_.end(), is_ours);
    if (found == items_.end()) break;
    {
      if (!found->has_standing_place) --others_;
      const News dropped = std::move(found->news);
      items_.erase(found);
      lock.unlock();
    }
    lock.lock();
  }
  if (speaking_ == owner && speaker_ == std::this_thread::get_id()) {
    speaking_ = nullptr;
    return;
  }
  ++awaiting_silence_;
  fell_silent_.wait(lock, [&] { return speaking_ != owner; });
  --awaiting_silence_;
}

}  // namespace softdat::simnic
