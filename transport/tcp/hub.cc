// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/hub.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/uncancelled.h"
#include "transport/tcp/connection.h"
#include "transport/tcp/peer_signs.h"

namespace softdat::transport::tcp {
namespace {

// How many turns in a row a connection may have nothing before the reactor watches it alone.
constexpr int kMaxMisses = 256;
// The reactor is asked at the latest after so many idle turns, and after so many turns at all.
constexpr unsigned kIdleTurnsPerLook = 64;
constexpr unsigned kTurnsPerLook = 256;
// For how many idle turns it is asked in each, once more connections are busy than are tried
// directly.
constexpr unsigned kEagerLooks = 128;
constexpr std::size_t kUsualDue = 64;
// A dead peer is found by asking the kernel eight times within the timeout. Silence at six looks in a row is death: the
// first may come an eighth late, so all is over after seven eighths. Looks are counted, not seconds: a process that has
// been stopped itself does not blame its peers.
constexpr int kLooksPerTimeout = 8;
constexpr unsigned kMostSilentLooks = 6;
// Connections looked at in one turn.
constexpr std::size_t kLooksPerTurn = 256;

// A file with an inode of its own, by which UniqueFd knows it again.
base::UniqueFd open_spare() {
  return base::UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

}  // namespace

Hub::Hub(Reactor& reactor, const TcpOptions& options)
    : options_(options),
      reactor_(reactor),
      half_open_(options.max_half_open, options.max_half_open_per_source),
      spare_(open_spare()) {
  due_.reserve(kUsualDue);
  running_.reserve(kUsualDue);
  unarmed_.reserve(kUsualDue);
}

Hub::~Hub() {
  SOFTDAT_DEBUG_CHECK(connections_.empty(), "a carrier ends its connections before its hub", connections_.size());
  SOFTDAT_DEBUG_CHECK(half_open_.size() == 0, "a connection that ends is not half open", half_open_.size());
}

void Hub::defer(HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.held_ != nullptr, "a connection that is deferred is enlisted");
  if (std::exchange(entry.is_deferred_, true)) return;
  is_still_ = false;
  due_.push_back(entry.held_);
  note_work();
}

void Hub::note_unarmed(HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.held_ != nullptr, "a connection that is to be armed is enlisted");
  if (std::exchange(entry.is_listed_unarmed_, true)) return;
  is_still_ = false;
  unarmed_.push_back(entry.held_);
}

void Hub::note_active(const HubEntry& connection) {
  SOFTDAT_DEBUG_CHECK(connection.held_ != nullptr, "a connection that is active is enlisted");
  Active* stalest = &active_[0];
  for (Active& entry : active_) {
    if (entry.connection == connection.held_) {
      entry.misses = 0;
      return;
    }
    if (!stalest->connection) continue;
    if (!entry.connection || entry.misses > stalest->misses) stalest = &entry;
  }
  is_still_ = false;
  if (stalest->connection) eager_looks_ = kEagerLooks;
  *stalest = {connection.held_, 0};
}

void Hub::note_work() {
  if (std::exchange(is_work_noted_, true)) return;
  // Published, so that the turn that does it takes it back.
  published_.has_work = true;
  rest_.lock()->has_work = true;
  reactor_.interrupt();
}

void Hub::enlist(const SharedConnection& connection) {
  for (auto* const list : {&due_, &running_, &unarmed_}) {
    if (list->capacity() <= connections_.size()) list->reserve(2 * list->capacity());
  }
  HubEntry& entry = *connection;
  base::check(!entry.is_linked() && entry.held_ == nullptr, "a connection is enlisted once");
  if (connections_.empty()) {
    timers_.set_after(*this, options_.peer_timeout / kLooksPerTimeout);
    note_work();
  }
  entry.held_ = connection;
  connections_.push_back(entry);
}

void Hub::forget(HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.is_linked() == (entry.held_ != nullptr), "a hub holds the connections of its list");
  if (entry.is_linked()) connections_.erase(connections_.iterator_to(entry));
  if (connections_.empty()) cancel_timer();
  const SharedConnection held = std::move(entry.held_);
  for (Active& active : active_) {
    if (active.connection == held) active = {};
  }
}

void Hub::enlist_half_open(HalfOpen::Entry& connection, const Address& source) {
  if (HalfOpen::Entry* const oldest = half_open_.surplus(source)) static_cast<Connection*>(oldest)->end();
  half_open_.add(connection, source);
}

Hub::TurnedAway Hub::turn_away(int listener) {
  if (!spare_) spare_ = open_spare();
  if (!spare_) return TurnedAway::kNoSpare;
  spare_.reset();
  const bool was_there = static_cast<bool>(base::UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)));
  spare_ = open_spare();
  return was_there ? TurnedAway::kOne : TurnedAway::kNobodyThere;
}

// Beside traffic in shared memory there is mostly nothing to do.
std::size_t Hub::move(base::Time now) {
  is_work_noted_ = true;
  done_ = 0;
  timers_.start(now);
  if (is_still_ && now < timers_.next()) return 0;
  const base::Uncancelled guard;
  note_done(timers_.run(now));
  run_due();
  try_active();
  return done_;
}

std::size_t Hub::settle(base::Time now) {
  arm_all();
  timers_.start(now);
  idle_turns_ = done_ == 0 ? idle_turns_ + 1 : 0;
  if (!is_still_) is_still_ = due_.empty() && !has_active();
  publish();
  return done_;
}

// All connections are looked at once in an eighth of the timeout, in turns that are spread over it when they are many.
void Hub::schedule_look() {
  const auto turns = static_cast<int>((connections_.size() + kLooksPerTurn - 1) / kLooksPerTurn);
  if (turns > 0) timers_.set_after(*this, options_.peer_timeout / (kLooksPerTimeout * turns));
}

void Hub::on_timer() {
  for (std::size_t left = std::min(connections_.size(), kLooksPerTurn); left > 0 && !connections_.empty(); --left) {
    HubEntry& entry = connections_.front();
    connections_.splice(connections_.end(), connections_, connections_.begin());
    look_at(entry);
  }
  schedule_look();
}

void Hub::look_at(HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.held_ != nullptr, "a hub holds the connections of its list");
  const SharedConnection connection = entry.held_;
  const PeerSigns signs = peer_signs(connection->socket().fd());
  if (!signs.is_awaited || signs.heard != std::exchange(entry.heard_, signs.heard)) {
    entry.silent_looks_ = 0;
  } else if (++entry.silent_looks_ >= kMostSilentLooks) {
    entry.silent_looks_ = 0;
    connection->on_peer_dead();
  }
}

bool Hub::has_active() const {
  return std::any_of(active_.begin(), active_.end(), [](const Active& entry) { return entry.connection != nullptr; });
}

void Hub::run_due() {
  SOFTDAT_DEBUG_CHECK(running_.empty(), "a turn does not begin within another", running_.size());
  running_.swap(due_);
  // By number: a sink may begin a connection, which makes room in this list too.
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const SharedConnection connection = std::move(running_[i]);
    connection->HubEntry::is_deferred_ = false;
    connection->on_due();
  }
  running_.clear();
}

void Hub::try_active() {
  for (Active& entry : active_) {
    if (!entry.connection || std::exchange(entry.is_empty, false)) continue;
    const SharedConnection connection = entry.connection;
    if (connection->try_read()) {
      if (entry.connection == connection) entry = {connection, 0, true};
    } else if (entry.connection == connection && ++entry.misses > kMaxMisses) {
      entry = {};
    }
  }
}

// Whether to ask the kernel about all descriptors. Rarely while a few connections are busy and are
// tried directly; the others must not starve beside them either.
bool Hub::wants_look() {
  bool wants = ++turns_since_look_ >= kTurnsPerLook;
  if (done_ == 0) {
    // Not in the first of them: every message is followed by one.
    const bool is_idle_for_long = idle_turns_ % kIdleTurnsPerLook == kIdleTurnsPerLook - 1;
    wants = wants || blocked_writers_ > 0 || eager_looks_ > 0 || is_idle_for_long || !has_active();
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
  const Rest now{.has_work = !due_.empty(), .next = timers_.next()};
  is_work_noted_ = now.has_work;
  if (now.has_work == published_.has_work && now.next == published_.next) return;
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
