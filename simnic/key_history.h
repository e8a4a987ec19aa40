// SPDX-License-Identifier: BSD-2-Clause
// KeyHistory: why a key does not open what was asked for, for the words of a failure (docs/decisions/0020). Knows keys
// that were freed, keys that were never issued, and which call of the program made the last key of each slot.
//
// Owns only the places of these calls; reads the slots of its table, which must outlive it.
//
// Threads: REQUIRES the lock of memory keys. Errors: none. Without memory a place is not noted. explain_locked() walks
// over all slots at worst.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "hca/failure.h"
#include "simnic/key_slots.h"

namespace softdat::simnic {

class KeyHistory {
 public:
  explicit KeyHistory(const KeySlots& slots) : slots_(slots) {}

  // The calling thread's call of the API makes a key in this slot.
  void note_place_locked(std::uint32_t index);
  // Fills in the rule and the facts. REQUIRES: key, address, length and the needed rights are there. `fault`: the rule
  // that the access breaks, if the key is live.
  void explain_locked(hca::Rule fault, hca::Failure& to) const;

 private:
  hca::Rule history_locked(std::uint32_t key, hca::RegionFacts& region) const;
  bool find_rightless_locked(hca::Failure& to) const;
  void find_successor_locked(hca::Failure& to) const;
  void describe_locked(std::uint32_t index, hca::RegionFacts& region) const;

  const KeySlots& slots_;
  // Guarded by the lock of memory keys. By index: the program's call that made the last key.
  std::unordered_map<std::uint32_t, const void*> places_;
};

}  // namespace softdat::simnic
