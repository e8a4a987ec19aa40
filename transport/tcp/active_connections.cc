// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/active_connections.h"

#include <algorithm>
#include <utility>

#include "transport/tcp/connection.h"

namespace softdat::transport::tcp {
namespace {

// How many turns in a row a connection may have nothing before the reactor watches it alone.
constexpr int kMaxMisses = 256;

}  // namespace

// A free place, else that of the connection which has missed most.
ActiveConnections::Noted ActiveConnections::note(const SharedConnection& connection) {
  Place* stalest = &places_[0];
  for (Place& place : places_) {
    if (place.connection == connection) {
      place.misses = 0;
      return Noted::kKnown;
    }
    if (!stalest->connection) continue;
    if (!place.connection || place.misses > stalest->misses) stalest = &place;
  }
  const bool is_free = stalest->connection == nullptr;
  *stalest = {connection, 0};
  return is_free ? Noted::kAdded : Noted::kDisplaced;
}

void ActiveConnections::forget(const SharedConnection& connection) {
  for (Place& place : places_) {
    if (place.connection == connection) place = {};
  }
}

void ActiveConnections::try_all() {
  for (Place& place : places_) {
    // A connection that was read empty by the last try is left out once: reading twice in a row mostly finds nothing.
    if (!place.connection || std::exchange(place.is_empty, false)) continue;
    const SharedConnection connection = place.connection;
    const bool has_read = connection->try_read();
    // The sink that try_read() called may have ended the connection, and its place may be another's by now.
    if (place.connection != connection) continue;
    place.is_empty = has_read;
    place.misses = has_read ? 0 : place.misses + 1;
    if (place.misses > kMaxMisses) place = {};
  }
}

bool ActiveConnections::empty() const {
  return std::all_of(places_.begin(), places_.end(), [](const Place& place) { return place.connection == nullptr; });
}

}  // namespace softdat::transport::tcp
