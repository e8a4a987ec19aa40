// SPDX-License-Identifier: BSD-2-Clause
// Attention: tells a ShmCarrier whether its next turn has more to look at than its busy links. While it has not, the
// carrier is calm: a turn polls those links and nothing else, and a poll without the baton looks at their words.
//
// Threads: REQUIRES the baton, but for what says otherwise. Errors: none.
#pragma once

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "transport/reactor.h"
#include "transport/watch_words.h"

namespace softdat::transport::shm {

class Attention {
 public:
  // The reactor outlives it.
  explicit Attention(Reactor& reactor) : reactor_(reactor) {}

  bool is_calm() const { return is_calm_ && !must_poll_all_.load(std::memory_order_relaxed); }
  void set_calm(bool is_calm) { is_calm_ = is_calm; }
  // The next turn takes the long way: the reactor may have found out that it has failed, or a part of the carrier has
  // something to do.
  void stir() {
    is_calm_ = false;
    watch_words_.clear();
  }
  // A poll has more to look at than the links.
  void watch_more() { watch_words_.clear(); }
  // A peer has rung: the next turn looks at every link.
  void on_bell() {
    must_poll_all_.store(true, std::memory_order_relaxed);
    watch_more();
  }
  // A turn would find work that no peer announces. Ends a wait.
  void note_work() {
    on_bell();
    reactor_.interrupt();
  }
  // Any thread. As note_work(), but a thread that polls without a turn hears of it at the carrier's next check.
  void note_work_from_any_thread() {
    must_poll_all_.store(true, std::memory_order_release);
    reactor_.interrupt();
  }
  // Whether the turn has to look at every link. True once for each wish.
  bool take_poll_of_all() {
    return must_poll_all_.load(std::memory_order_relaxed) && must_poll_all_.exchange(false, std::memory_order_acquire);
  }

  // Any thread: a wait has ended, so the reactor may have marks to dispatch.
  void note_wait() {
    must_poll_all_.store(true, std::memory_order_release);
    has_waited_.store(true, std::memory_order_release);
  }
  bool has_waited() const { return has_waited_.load(std::memory_order_relaxed); }
  bool take_wait() { return has_waited() && has_waited_.exchange(false, std::memory_order_acquire); }

  // The words at which a poll without the baton looks.
  WatchWords& watch_words() { return watch_words_; }
  const WatchWords& watch_words() const { return watch_words_; }

 private:
  Reactor& reactor_;
  // Owned by the baton.
  bool is_calm_ = false;
  WatchWords watch_words_;
  // Set with or without the baton, cleared with it.
  std::atomic<bool> must_poll_all_{false};
  std::atomic<bool> has_waited_{false};
};

// Duty: work that turns must look at again after a pause until it is done, because nobody announces when it can be
// done. A wait ends in time for the next look. REQUIRES the baton, but for shorten().
class Duty {
 public:
  // `pause`: between two looks.
  Duty(Reactor& reactor, base::Duration pause) : reactor_(reactor), pause_(pause) {}

  // A thread that sleeps already knows nothing of a duty that another's turn has begun, and would sleep through it.
  void note(bool is_there) {
    if (is_there_.load(std::memory_order_relaxed) == is_there) return;
    is_there_.store(is_there, std::memory_order_relaxed);
    if (is_there) reactor_.interrupt();
  }
  // Any thread: a wait may last no longer than the pause.
  void shorten(base::Duration& wait) const {
    if (is_there_.load(std::memory_order_relaxed)) wait = std::min(wait, pause_);
  }

 private:
  Reactor& reactor_;
  const base::Duration pause_;
  std::atomic<bool> is_there_{false};
};

}  // namespace softdat::transport::shm
