// SPDX-License-Identifier: BSD-2-Clause
// Lane: the lock of one queue pair's protocol state, taken after the baton. A poster takes the lane alone for one short
// message, and never waits for it. The holder of the baton takes the lane before it touches the queue pair, and waits
// for a poster at most as long as a short message is copied.
//
// LaneList: the lanes that posters may hold. After a key was removed, LaneList::await_posters() takes each listed lane
// once; then no poster reads through the key.
#pragma once

#include <boost/intrusive/list.hpp>

#include "base/spin_lock.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {

class Lane {
 public:
  // For a poster. False: another thread holds the lane.
  bool try_enter() { return lock_.try_lock(); }
  void leave() { lock_.unlock(); }

  // With the baton while it lives. May be nested.
  class Hold {
   public:
    explicit Hold(Lane& lane) : lane_(lane) {
      if (lane_.holds_++ == 0) lane_.lock_.lock();
    }
    ~Hold() {
      if (--lane_.holds_ == 0) lane_.lock_.unlock();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Lane& lane_;
  };

 private:
  friend class LaneList;

  base::Ordered<base::SpinLock, locks::kLane> lock_;
  // Owned by the baton.
  unsigned holds_ = 0;
  boost::intrusive::list_member_hook<> listed_;
};

// REQUIRES the baton. Lanes belong to their queue pairs, which strike them before they die.
class LaneList {
 public:
  // Posters may be in the lane from now on / not any more.
  void list_lane(Lane& lane) { lanes_.push_back(lane); }
  void strike_lane(Lane& lane) { lanes_.erase(lanes_.iterator_to(lane)); }
  // After a key has gone: when this returns, no poster reads through it.
  void await_posters() {
    base::require_lock(locks::kBaton);
    for (Lane& lane : lanes_) const Lane::Hold hold(lane);
  }

 private:
  boost::intrusive::list<Lane,
                         boost::intrusive::member_hook<Lane, boost::intrusive::list_member_hook<>, &Lane::listed_>>
      lanes_;
};

}  // namespace softdat::simnic
