// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/upcall_queue.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/uncancelled.h"
#include "simnic/direct/direct_path.h"

namespace softdat::simnic {
namespace {

struct Deliver {
  void operator()(CompletionUpcall& upcall) const { upcall.sink->on_completion(); }
  void operator()(OverflowUpcall& upcall) const { upcall.sink->on_overflow(); }
  void operator()(ConnectionUpcall& upcall) const {
    // The consumer hears of the end only when no peer copies into its memory any more. Here no lock and no baton is
    // held.
    if (upcall.path != nullptr && upcall.event.type != hca::ConnectionEventType::kEstablished) upcall.path->settle();
    upcall.sink->on_connection_event(upcall.event);
  }
  void operator()(DatagramUpcall& upcall) const { upcall.sink->on_datagram_event(upcall.event); }
  void operator()(RequestUpcall& upcall) const { upcall.sink->on_request(std::move(upcall.request)); }
  void operator()(RecvLimitUpcall& upcall) const { upcall.sink->on_recv_limit(); }
  void operator()(LowReceivesUpcall& upcall) const { upcall.sink->on_low(); }
  void operator()(FailureUpcall& upcall) const { upcall.sink->on_device_failed(); }
};

}  // namespace

// Room for `places` more than is promised and taken.
void UpcallQueue::make_room_locked(std::size_t places) {
  base::require_lock(locks::kUpcallQueue);
  const std::size_t needed = reserved_ + others_ + places;
  if (needed > items_.capacity()) items_.set_capacity(std::max(needed, 2 * items_.capacity()));
}

void UpcallQueue::reserve(std::size_t places) {
  const std::lock_guard lock(mutex_);
  make_room_locked(places);
  reserved_ += places;
}

void UpcallQueue::release(std::size_t places) {
  const std::lock_guard lock(mutex_);
  reserved_ -= places;
}

void UpcallQueue::post(const void* owner, Upcall upcall) {
  const std::lock_guard lock(mutex_);
  --reserved_;
  ++others_;
  items_.push_back({.owner = owner, .upcall = std::move(upcall)});
  has_news_.store(true, std::memory_order_seq_cst);
}

// For upcalls without a reserved place. False: no memory, and the upcall is unchanged.
bool UpcallQueue::try_post(const void* owner, Upcall& upcall) try {
  const std::lock_guard lock(mutex_);
  make_room_locked(1);
  ++others_;
  items_.push_back({.owner = owner, .upcall = std::move(upcall)});
  has_news_.store(true, std::memory_order_seq_cst);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

UpcallQueue::Item* UpcallQueue::find_waiting_locked(const void* owner, const Upcall& upcall) {
  base::require_lock(locks::kUpcallQueue);
  const auto is_same = [&](const Item& item) {
    return item.owner == owner && item.has_standing_place && item.upcall.index() == upcall.index();
  };
  const auto found = std::find_if(items_.begin(), items_.end(), is_same);
  return found == items_.end() ? nullptr : &*found;
}

// One item for each kind and owner, however often it is posted: its place was reserved once.
void UpcallQueue::post_in_standing_place(const void* owner, Upcall upcall, std::uint32_t more) {
  const std::lock_guard lock(mutex_);
  if (Item* const waiting = find_waiting_locked(owner, upcall)) {
    waiting->times += more;
    return;
  }
  items_.push_back({.owner = owner, .upcall = std::move(upcall), .has_standing_place = true});
  has_news_.store(true, std::memory_order_seq_cst);
}

bool UpcallQueue::deliver() {
  if (!has_news()) return false;
  const base::Uncancelled guard;  // a thread that ended in a sink would keep the others from speaking
  std::unique_lock lock(mutex_);
  // The other thread delivers this upcall too, in order: it looks at the queue until it is empty.
  if (is_delivering_) return false;
  is_delivering_ = true;
  bool has_spoken = false;
  while (!items_.empty()) {
    {
      Item item = std::move(items_.front());
      items_.pop_front();
      if (!item.has_standing_place) --others_;
      // forget() waits while an upcall of its owner runs, unless it is called within that very upcall.
      speaking_ = item.owner;
      speaker_ = std::this_thread::get_id();
      lock.unlock();
      // The sink itself may forget the owner.
      do std::visit(Deliver{}, item.upcall);
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

bool UpcallQueue::holds_any_of(const void* owner) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(items_.begin(), items_.end(), [owner](const Item& item) { return item.owner == owner; });
}

// Dropped upcalls are destroyed without the lock, and one by one: there may be no memory to keep them in meanwhile.
void UpcallQueue::forget(const void* owner) {
  const base::Uncancelled guard;  // destructors call this
  std::unique_lock lock(mutex_);
  const auto is_ours = [owner](const Item& item) { return item.owner == owner; };
  for (;;) {
    const auto found = std::find_if(items_.begin(), items_.end(), is_ours);
    if (found == items_.end()) break;
    {
      if (!found->has_standing_place) --others_;
      const Upcall dropped = std::move(found->upcall);
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
