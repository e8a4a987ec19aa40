// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/connections.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "transport/tcp/connection.h"
#include "transport/tcp/peer_signs.h"

namespace softdat::transport::tcp {
namespace {

// A dead peer is found by asking the kernel eight times within the timeout. Silence at six looks in a row is death: the
// first may come an eighth late, so all is over after seven eighths. Looks are counted, not seconds: a process that has
// been stopped itself does not blame its peers.
constexpr int kLooksPerTimeout = 8;
constexpr unsigned kMostSilentLooks = 6;
// Connections looked at in one turn.
constexpr std::size_t kLooksPerTurn = 256;

}  // namespace

Connections::Connections(base::Timers& timers, const TcpOptions& options)
    : timers_(timers), options_(options), half_open_(options.max_half_open, options.max_half_open_per_source) {}

Connections::~Connections() {
  SOFTDAT_DEBUG_CHECK(all_.empty(), "a carrier ends its connections before its hub", all_.size());
  SOFTDAT_DEBUG_CHECK(half_open_.size() == 0, "a connection that ends is not half open", half_open_.size());
}

void Connections::add(const SharedConnection& connection) {
  HubEntry& entry = *connection;
  base::check(!entry.is_linked() && entry.held_ == nullptr, "a connection is enlisted once");
  if (all_.empty()) timers_.set_after(*this, options_.peer_timeout / kLooksPerTimeout);
  entry.held_ = connection;
  all_.push_back(entry);
}

SharedConnection Connections::remove(HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.is_linked() == (entry.held_ != nullptr), "the connections of the list are held");
  if (entry.is_linked()) all_.erase(all_.iterator_to(entry));
  if (all_.empty()) cancel_timer();
  return std::move(entry.held_);
}

void Connections::add_half_open(HalfOpen::Entry& connection, const Address& source) {
  // The oldest gives way, so that a peer that opens connections and says nothing cannot keep others out.
  if (HalfOpen::Entry* const oldest = half_open_.surplus(source)) static_cast<Connection*>(oldest)->end();
  half_open_.add(connection, source);
}

// All connections are looked at once in an eighth of the timeout, in turns that are spread over it when they are many.
void Connections::schedule_look() {
  const auto turns = static_cast<int>((all_.size() + kLooksPerTurn - 1) / kLooksPerTurn);
  if (turns > 0) timers_.set_after(*this, options_.peer_timeout / (kLooksPerTimeout * turns));
}

void Connections::on_timer() {
  for (std::size_t left = std::min(all_.size(), kLooksPerTurn); left > 0 && !all_.empty(); --left) {
    HubEntry& entry = all_.front();
    // To the end before the look, which may end the connection: the list stays a queue of those that wait longest.
    all_.splice(all_.end(), all_, all_.begin());
    look_at(entry);
  }
  schedule_look();
}

// Held: on_peer_dead() may end the connection, which then leaves the list.
void Connections::look_at(HubEntry& entry) {
  SOFTDAT_DEBUG_CHECK(entry.held_ != nullptr, "the connections of the list are held");
  const SharedConnection connection = entry.held_;
  const PeerSigns signs = peer_signs(connection->socket().fd());
  if (!signs.is_awaited || signs.heard != std::exchange(entry.heard_, signs.heard)) {
    entry.silent_looks_ = 0;
  } else if (++entry.silent_looks_ >= kMostSilentLooks) {
    entry.silent_looks_ = 0;
    connection->on_peer_dead();
  }
}

}  // namespace softdat::transport::tcp
