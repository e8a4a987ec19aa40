// SPDX-License-Identifier: BSD-2-Clause
// ActiveConnections: the few connections of a carrier that moved bytes last. Each turn and each look reads their
// sockets without asking the reactor. Holds them. Baton only.
#pragma once

#include <array>
#include <memory>

namespace softdat::transport::tcp {

class Connection;
using SharedConnection = std::shared_ptr<Connection>;

class ActiveConnections {
 public:
  enum class Noted {
    kKnown,     // it was there
    kAdded,     // there was room
    kDisplaced  // it took the place of the one that has had nothing for longest
  };
  // `connection` moves bytes.
  Noted note(const SharedConnection& connection);
  // Does nothing for one that is not here. May destroy it.
  void forget(const SharedConnection& connection);
  // Reads from each, once a turn or look. Their sinks may call note() and forget().
  void try_all();
  bool empty() const;

 private:
  struct Place {
    SharedConnection connection;
    int misses = 0;
    bool is_empty = false;  // the last try emptied its socket
  };
  std::array<Place, 4> places_;
};

}  // namespace softdat::transport::tcp
