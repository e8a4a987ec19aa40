// SPDX-License-Identifier: BSD-2-Clause
// MessagePlaces: the memory that the messages of a measurement leave from and land in, and where each message lies in
// it. Both sides have the same layout, so that an offset here is one there.
//
// Messages of a side are numbered from 0; number n goes over lane (endpoint) n % active. Without verifying, all
// messages share one place in memory on each side, as in other benchmarks; with it, each that is in flight has one of
// its own.
//
// The memory is registered from the constructor to the destructor. The layout is fixed after construction, so every
// call runs on any thread; what lies in the places is the business of the threads that use them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/plan.h"

namespace softdat::tools::perf {

class MessagePlaces {
 public:
  // Throws Failure if the memory cannot be registered.
  MessagePlaces(const Adapter& adapter, const Setup& setup);

  const Region& memory() const { return memory_; }

  std::uint32_t lane_of(std::uint64_t number) const { return active_ == 1 ? 0 : number % active_; }
  // The how manieth message of its lane that is, from 0.
  std::uint64_t turn_of(std::uint64_t number) const { return active_ == 1 ? number : number / active_; }

  // Places, each way: of all lanes together, and of one.
  std::uint64_t count() const { return places_; }
  std::uint64_t count_of_lane() const { return slots_; }
  // Different for any two messages that are in flight at once, when verifying.
  std::uint64_t slot_of(std::uint64_t number) const {
    return verify_ ? lane_of(number) * slots_ + turn_of(number) % slots_ : 0;
  }

  // How many messages lay in the place of that one before it.
  std::uint64_t use_of(std::uint64_t number) const { return verify_ ? turn_of(number) / slots_ : number; }

  // Where message `number` leaves from and lands, on this side.
  std::uint8_t* outgoing(std::uint64_t number) const { return memory_.data() + outgoing_offset(number); }
  std::uint8_t* incoming(std::uint64_t number) const { return memory_.data() + incoming_offset(number); }
  // Where the messages of one place leave from and land.
  std::uint8_t* outgoing_slot(std::uint64_t slot) const { return memory_.data() + slot * slot_size_; }
  std::uint8_t* incoming_slot(std::uint64_t slot) const { return memory_.data() + (places_ + slot) * slot_size_; }
  // The word that the other side's atomics on this lane work upon.
  std::uint64_t& word(std::uint32_t lane) const;

  // The same in bytes from the beginning of the memory.
  std::size_t outgoing_offset(std::uint64_t number) const { return slot_of(number) * slot_size_; }
  std::size_t incoming_offset(std::uint64_t number) const { return (places_ + slot_of(number)) * slot_size_; }
  std::size_t word_offset(std::uint32_t lane) const;

 private:
  const bool verify_;
  const std::uint32_t active_;
  const std::size_t slot_size_;
  const std::uint64_t slots_;   // places of each lane, each way
  const std::uint64_t places_;  // of all lanes together, each way
  Region memory_;
};

}  // namespace softdat::tools::perf
