// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/message_places.h"

#include <algorithm>

namespace softdat::tools::perf {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;  // for places, when verifying

std::size_t slot_size(const Setup& setup) {
  return (setup.max_size + kLine - 1) / kLine * kLine;
}

// With --verify each message under way has a place of its own; else all share one, which stays in the cache.
std::uint64_t slot_count(const Setup& setup) {
  if (!setup.verify) return 1;
  const std::uint64_t affordable = kMostMemory / (2 * slot_size(setup) * setup.active);
  return std::clamp<std::uint64_t>(affordable, 4, std::uint64_t{2} * setup.window);
}

std::uint64_t places_of(const Setup& setup) {
  return setup.verify ? slot_count(setup) * setup.active : 1;
}

std::size_t memory_size(const Setup& setup) {
  return 2 * places_of(setup) * slot_size(setup) + setup.active * kLine;
}

}  // namespace

MessagePlaces::MessagePlaces(const Adapter& adapter, const Setup& setup)
    : verify_(setup.verify),
      active_(setup.active),
      slot_size_(slot_size(setup)),
      slots_(slot_count(setup)),
      places_(places_of(setup)),
      memory_(adapter, memory_size(setup)) {}

std::size_t MessagePlaces::word_offset(std::uint32_t lane) const {
  return 2 * places_ * slot_size_ + lane * kLine;
}

std::uint64_t& MessagePlaces::word(std::uint32_t lane) const {
  return *reinterpret_cast<std::uint64_t*>(memory_.data() + word_offset(lane));
}

}  // namespace softdat::tools::perf
