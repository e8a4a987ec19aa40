// SPDX-License-Identifier: BSD-2-Clause
// Writes each message before it is sent and looks at each that has come, if the user wants it verified. The last byte
// of a message belongs to whoever watches it and is not looked at here.
#pragma once

#include <cstdint>

#include "tools/softdat/perf/lanes.h"

namespace softdat::tools::perf {

class Checker {
 public:
  explicit Checker(Lanes& lanes) : lanes_(lanes), verify_(lanes.setup().verify) {}

  bool verify() const { return verify_; }
  void write_outgoing(std::uint64_t number, std::uint64_t size) {
    if (verify_) write(number, size);
  }
  // What the other side may read: every place holds the message that it will be read as.
  void write_all_outgoing(std::uint64_t size);
  // Failure if message `number` of the other side is not what it has to be.
  void look_at_incoming(std::uint64_t number, std::uint64_t size) {
    if (verify_) look(number, number, size);
  }
  // The same, of one whose receive has completed with `event`.
  void look_at_received(Operation operation, const DAT_EVENT& event, std::uint64_t number, std::uint64_t size) {
    if (verify_ && operation == Operation::kWriteImmediate) look_at_immediate(event, number);
    look_at_incoming(number, size);
  }
  // The same for the answer to our read, and for what our atomic found.
  void look_at_fetched(Operation operation, std::uint64_t number, std::uint64_t size);

 private:
  void write(std::uint64_t number, std::uint64_t size);
  static void look_at_immediate(const DAT_EVENT& event, std::uint64_t number);
  void look(std::uint64_t number, std::uint64_t seed, std::uint64_t size);

  Lanes& lanes_;
  const bool verify_;
};

}  // namespace softdat::tools::perf
