// SPDX-License-Identifier: BSD-2-Clause
// AbandonedNames: names of services whose process has gone. Their socket files are removed as soon as nobody listens
// there. REQUIRES the baton, but for duty().
#pragma once

#include <optional>
#include <vector>

#include "transport/shm/attention.h"
#include "transport/shm/rendezvous.h"

namespace softdat::transport::shm {

class AbandonedNames {
 public:
  // All three outlive it.
  AbandonedNames(const Rendezvous& rendezvous, Attention& attention, Reactor& reactor);

  // The server of this name hung up and may be dead.
  void add(const ServiceKey& name);
  bool are_none() const { return names_.empty(); }
  // Looks at once, and then every few milliseconds.
  void turn(base::Time now);
  const Duty& duty() const { return duty_; }

 private:
  struct Name {
    ServiceKey key;
    int tries_left;
  };

  const Rendezvous& rendezvous_;
  Attention& attention_;
  std::vector<Name> names_;
  std::optional<base::Time> look_at_;
  Duty duty_;
};

}  // namespace softdat::transport::shm
