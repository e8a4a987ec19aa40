// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/hub.h"

#include <utility>

#include "base/assert.h"
#include "base/uncancelled.h"
#include "transport/tcp/connection.h"

namespace softdat::transport::tcp {
namespace {

// The reactor is asked at the latest after so many idle turns, and after so many turns at all.
constexpr unsigned kIdleTurnsPerLook = 64;
constexpr unsigned kTurnsPerLook = 256;
// For how many idle turns it is asked in each, once more connections are busy than are tried
// directly.
constexpr unsigned kEagerLooks = 128;
constexpr std::size_t kUsualDue = 64;

}  // namespace

Hub::Hub(Reactor& reactor, const TcpOptions& options) : options_(options), reactor_(reactor) {
  due_.reserve(kUsualDue);
  running_.reserve(kUsualDue);
  unarmed_.reserve(kUsualDue);
}

void Hub::defer(HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.held_ != nullptr, "a connection that is deferred is enlisted");
  if (std::exchange(entry.is_deferred_, true)) return;
  is_still_ = false;
  // Never allocates: enlist() has made room for every connection.
  due_.push_back(entry.held_);
  note_work();
}

void Hub::note_unarmed(HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.held_ != nullptr, "a connection that is to be armed is enlisted");
  if (std::exchange(entry.is_listed_unarmed_, true)) return;
  is_still_ = false;
  unarmed_.push_back(entry.held_);
}

void Hub::note_active(const HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.held_ != nullptr, "a connection that is active is enlisted");
  const ActiveConnections::Noted noted = active_.note(entry.held_);
  if (noted == ActiveConnections::Noted::kKnown) return;
  is_still_ = false;
  if (noted == ActiveConnections::Noted::kDisplaced) eager_looks_ = kEagerLooks;
}

void Hub::note_work() {
  if (std::exchange(is_work_noted_, true)) return;
  // Published, so that the turn that does it takes it back.
  published_.has_work = true;
  // A connection changes outside of a turn (a post, say): the thread in wait() must come back and make one.
  rest_.lock()->has_work = true;
  reactor_.interrupt();
}

void Hub::enlist(const SharedConnection& connection) {
  for (auto* const list : {&due_, &running_, &unarmed_}) {
    // A list may still hold connections that this turn has forgotten.
    const std::size_t most = list->size() + connections_.size();
    if (list->capacity() <= most) list->reserve(2 * (most + 1));
  }
  const bool is_first = connections_.size() == 0;
  connections_.add(connection);
  if (is_first) note_work();
}

void Hub::forget(HubEntry& entry) {
  const SharedConnection held = connections_.remove(entry);
  active_.forget(held);
}

// During a turn or a look nobody needs to be woken: conclude() publishes what is left.
void Hub::begin() {
  is_work_noted_ = true;
  done_ = 0;
}

// Beside traffic in shared memory there is mostly nothing to do.
std::size_t Hub::move(base::Time now) {
  begin();
  timers_.start(now);
  // Fast path beside shared memory: no connection has work, and no timer is due.
  if (is_still_ && now < timers_.next()) return 0;
  const base::Uncancelled guard;
  note_done(timers_.run(now));
  run_due();
  active_.try_all();
  return done_;
}

std::size_t Hub::settle(base::Time now) {
  arm_all();
  timers_.start(now);
  conclude();
  return done_;
}

void Hub::conclude() {
  idle_turns_ = done_ == 0 ? idle_turns_ + 1 : 0;
  if (!is_still_) is_still_ = due_.empty() && !has_active();
  publish();
}

bool Hub::may_look() const {
  if (is_still_ || !due_.empty() || !unarmed_.empty() || timers_.has_fresh()) return false;
  return !is_kernel_due() && turns_since_look_ + 1 < kTurnsPerLook;
}

std::size_t Hub::look() {
  SOFTDAT_DEBUG_CHECK(may_look(), "a turn is due");
  const base::Uncancelled guard;
  begin();
  ++turns_since_look_;
  active_.try_all();
  conclude();
  return done_;
}

void Hub::run_due() {
  SOFTDAT_DEBUG_CHECK(running_.empty(), "a turn does not begin within another", running_.size());
  // A connection that defers itself again waits for the next turn, so one turn ends.
  running_.swap(due_);
  // By number: a sink may begin a connection, which makes room in this list too.
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const SharedConnection connection = std::move(running_[i]);
    connection->HubEntry::is_deferred_ = false;
    connection->on_due();
  }
  running_.clear();
}

// Whether an idle turn is to ask the kernel. Not the first one because it is idle: every message is followed by one.
bool Hub::is_kernel_due() const {
  const bool is_idle_for_long = idle_turns_ % kIdleTurnsPerLook == kIdleTurnsPerLook - 1;
  return blocked_writers_ > 0 || eager_looks_ > 0 || is_idle_for_long || !has_active();
}

// Whether to ask the kernel about all descriptors. Rarely while a few connections are busy and are
// tried directly; the others must not starve beside them either.
bool Hub::wants_look() {
  bool wants = ++turns_since_look_ >= kTurnsPerLook;
  if (done_ == 0) {
    wants = wants || is_kernel_due();
    if (eager_looks_ > 0) --eager_looks_;
  }
  if (wants) turns_since_look_ = 0;
  return wants;
}

void Hub::arm_all() {
  for (const SharedConnection& connection : unarmed_) {
    connection->HubEntry::is_listed_unarmed_ = false;
    connection->arm();
  }
  unarmed_.clear();
}

// Tells wait() what this turn leaves behind. A thread that waits already with less is woken.
void Hub::publish() {
  // A look leaves what only settle() does.
  const bool is_settled = unarmed_.empty() && !timers_.has_fresh();
  const Rest now{.has_work = !due_.empty() || !is_settled, .next = timers_.next()};
  is_work_noted_ = now.has_work;
  if (now.has_work == published_.has_work && now.next == published_.next) return;
  // The waiter read an older Rest, and would sleep beyond the new deadline.
  const bool is_sooner = now.next < published_.next || (now.has_work && !published_.has_work);
  published_ = now;
  *rest_.lock() = now;
  if (is_sooner) reactor_.interrupt();
}

base::Time Hub::wait_until() {
  const Rest rest = *rest_.lock();
  return rest.has_work ? base::Time::min() : rest.next;
}

}  // namespace softdat::transport::tcp
