// SPDX-License-Identifier: BSD-2-Clause
// /proc/self/maps, line by line, or one mapping of it where the kernel can be asked for one (Linux 6.11).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/unique_fd.h"
#include "memory/address_map.h"

namespace softdat::memory {

struct MapLine {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view rights;  // as "rw-p"
  std::uint64_t offset = 0;
  FileIdentity file;
  std::string_view name;
};

// Hands out the lines in ascending order until one is not wanted; what they view dies with the call. Takes no memory of
// malloc's. False when the kernel does not tell.
bool walk_map_lines(const std::function<bool(const MapLine&)>& wants_more);

// One thread at a time, for one look at the map.
class MapQuery {
 public:
  enum class Answer : std::uint8_t { kFound, kNone, kUnable };

  MapQuery();
  // The mapping that holds the address, or else the next one. What `out` views lives until the next call. kUnable: walk
  // the lines instead.
  Answer find(std::uint64_t address, MapLine& out);

 private:
  const base::UniqueFd maps_;
  char rights_[4] = {};
  char name_[256] = {};
};

}  // namespace softdat::memory
