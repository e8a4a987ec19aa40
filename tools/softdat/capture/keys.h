// SPDX-License-Identifier: BSD-2-Clause
// Keys and addresses of a recorded run, and those of this run that stand for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/softdat/capture/script.h"

namespace softdat::tools::capture {

class Keys {
 public:
  // `script` must live as long.
  explicit Keys(const Script& script) : script_(script) {}

  void set_own(std::uint32_t recorded, std::uint32_t live) { own_[recorded] = live; }
  // The bytes with every recorded key of the played side replaced by that of this run, in either byte order.
  Bytes with_own(const Bytes& recorded) const;
  // Learns keys and addresses from the bytes that the program sent in place of `message` (null: its private data).
  void learn(const Message* message, std::span<const std::byte> live);
  // The program's. REQUIRES: a request of the played side's that the script has.
  std::uint32_t live_key(std::uint32_t recorded) const { return learnt_.at(recorded).key; }
  std::uint64_t live_address(std::uint32_t recorded, std::uint64_t address) const {
    return address + learnt_.at(recorded).shift;
  }
  // The first place where the bytes of this run differ from the recorded ones, keys and addresses aside. A difference
  // in length counts.
  std::optional<std::size_t> find_difference(const Message* message, std::span<const std::byte> expected,
                                             std::span<const std::byte> live) const;

 private:
  struct Learnt {
    std::uint32_t key = 0;
    std::uint64_t shift = 0;  // from recorded addresses to live ones
  };
  std::vector<bool> changing(const Message* message, std::span<const std::byte> recorded) const;

  const Script& script_;
  std::map<std::uint32_t, std::uint32_t> own_;
  std::map<std::uint32_t, Learnt> learnt_;
};

}  // namespace softdat::tools::capture
