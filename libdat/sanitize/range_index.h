// SPDX-License-Identifier: BSD-2-Clause
// Which outstanding operations use which bytes. Not for several threads.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "libdat/sanitize/operation.h"

namespace softdat::sanitize {

class RangeIndex {
 public:
  RangeIndex();

  // The operation must stay where it is until it is removed.
  void add(Operation& operation);
  void remove(Operation& operation);
  void clear();

  struct Clash {
    Operation* operation = nullptr;  // null: there is none
    std::uint64_t address = 0;       // of the bytes in common
    std::uint64_t length = 0;
  };
  // An operation with which `operation` must not be outstanding at once: both use the bytes, and one stores into them.
  Clash find_clash(const Operation& operation) const;
  // An operation that stores into some of these bytes.
  Clash find_store(const Range& range) const { return find(stores_, range); }

 private:
  struct Use {
    std::uint64_t end = 0;
    Operation* operation = nullptr;
  };
  using ByBegin = std::multimap<std::uint64_t, Use>;
  struct Uses {
    ByBegin by_begin;
    std::uint64_t longest = 0;  // of all that have been here
  };
  static Clash find(const Uses& uses, const Range& range);

  Uses loads_;
  Uses stores_;
  std::vector<ByBegin::node_type> spares_;  // for the next ranges; never more than it has room for
};

}  // namespace softdat::sanitize
