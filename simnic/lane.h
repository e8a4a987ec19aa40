// SPDX-License-Identifier: BSD-2-Clause
// Lane: the lock of one queue pair's protocol state, taken after the baton. A poster takes the lane alone for one short
// message, and never waits for it. The holder of the baton takes the lane before it touches the queue pair, and waits
// for a poster at most as long as a short message is copied.
//
// The engine lists the lanes that posters may hold (Engine::list_lane). After a key was removed,
// Engine::await_posters() takes each listed lane once; then no poster reads through the key.
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
  friend class Engine;

  base::Ordered<base::SpinLock, locks::kLane> lock_;
  // Owned by the baton.
  unsigned holds_ = 0;
  boost::intrusive::list_member_hook<> listed_;
};

}  // namespace softdat::simnic
