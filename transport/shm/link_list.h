// SPDX-License-Identifier: BSD-2-Clause
// LinkList: the links of one carrier, and which of them a turn looks at. Links that were busy of late are hot and are
// looked at in every turn, the others one or two at a time: what a turn costs grows with the peers that talk, not with
// those that there are.
//
// Threads: REQUIRES the baton, but for prepare_wait() and finish_wait().
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "transport/lock_places.h"
#include "transport/shm/link.h"

namespace softdat::transport::shm {

// Between two looks at whether the sockets of the links are still ours.
inline constexpr base::Duration kPauseBetweenChecks = std::chrono::seconds(1);

class LinkList {
 public:
  // `carrier` outlives it.
  explicit LinkList(CarrierParts& carrier) : carrier_(carrier) {}

  // Throws std::bad_alloc, and nothing has changed then.
  Link* add(LinkParts parts);
  // The link with that peer; null: there is none that goes on.
  Link* find(const CarrierId& peer) const;
  bool is_empty() const { return links_.empty(); }
  // There are links, and every turn looks at all of them.
  bool are_all_hot() const { return !links_.empty() && hot_.size() == links_.size(); }

  // Looks at the hot links. Returns how many things it did, as poll() does.
  std::size_t poll_hot();
  // At the hot ones and some others; at all of them after a sleep or a bell, which also ends those that have to end.
  std::size_t poll();
  // Shows polls without the baton where to look, if the links are all that there is to look at.
  void publish_words();

  // Loses peers whose bell cannot be heard or rung any more. A program may close descriptors that it does not know, and
  // leave those of the reactor, so that no bell is heard on that link.
  void check();
  void lose_all();
  // Hangs up on every peer at once, as the death of this process would. For tests.
  void sever_all();
  void say_farewells() const;

  // Any thread. Tells peers that we are about to sleep. Zero: there is work; else how long a wait may last.
  base::Duration prepare_wait();
  // Any thread: tells them that we are awake.
  void finish_wait();

 private:
  bool arm_all();
  std::size_t poll_all();
  std::size_t poll_next_cold();
  void heat(Link& link);
  void cool(std::size_t index);
  void cool_idle();
  void retire(Link& link);

  CarrierParts& carrier_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<Link*> hot_;       // those that every turn looks at
  std::size_t next_cold_ = 0;    // of links_: where looking at the others goes on
  bool may_show_words_ = false;  // a polling thread survives the load of a word that has been unmapped
  // Guarded: the links as those who sleep see them. A link leaves this list before it dies.
  base::Guarded<std::vector<Link*>, locks::kSleepers> sleepers_;
};

}  // namespace softdat::transport::shm
