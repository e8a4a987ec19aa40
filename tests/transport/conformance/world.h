// SPDX-License-Identifier: BSD-2-Clause
// World: two carriers that can reach each other, and how to let time pass for them.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "transport/carrier.h"

namespace softdat::transport::conformance {

class World {
 public:
  virtual ~World() = default;
  virtual Carrier& here() = 0;
  virtual Carrier& there() = 0;  // may be the same as here()
  virtual Address here_address() = 0;
  virtual Address there_address() = 0;
  // An address of this kind at which nobody is.
  virtual Address nowhere_address() = 0;
  // Ends the other side at once, as its death would. After it there() is not used any more.
  virtual void kill_there() = 0;
  virtual bool can_kill() { return !is_one_carrier(); }
  virtual bool is_one_carrier() { return &here() == &there(); }

  // One turn of each carrier; how many things were done.
  virtual std::size_t turn() = 0;
};

struct WorldFactory {
  std::string name;
  std::function<std::unique_ptr<World>()> make;
};
inline void PrintTo(const WorldFactory& factory, std::ostream* out) {
  *out << factory.name;
}

// One per carrier and unkindness.
const std::vector<WorldFactory>& worlds();

}  // namespace softdat::transport::conformance
