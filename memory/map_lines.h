// SPDX-License-Identifier: BSD-2-Clause
// Reads /proc/self/maps line by line, or asks the kernel for one mapping (PROCMAP_QUERY, Linux 6.11).
#pragma once

#include <cstddef>
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

// Memory to read the map into, neither malloc's nor on the stack, which may be a small one. One thread at a time.
class MapBuffer {
 public:
  static constexpr std::size_t kSize = 8192;

  MapBuffer();
  ~MapBuffer();
  MapBuffer(const MapBuffer&) = delete;
  MapBuffer& operator=(const MapBuffer&) = delete;

  // Null if there was no memory.
  char* data() const { return data_; }

 private:
  char* const data_;
};

// Calls `wants_more` for each line in ascending order until it returns false. The views in a line are valid during the
// call only. Does not use malloc. False if lines may be missing: the file cannot be opened or read to its end, for want
// of descriptors or memory.
bool walk_map_lines(const std::function<bool(const MapLine&)>& wants_more);
bool walk_map_lines(const MapBuffer& buffer, const std::function<bool(const MapLine&)>& wants_more);

// One thread at a time, for one look at the map.
class MapQuery {
 public:
  enum class Answer : std::uint8_t { kFound, kNone, kUnable };

  MapQuery();
  // Finds the mapping that contains the address, or the next one above it. The views in `out` are valid until the next
  // call. kUnable: the kernel cannot answer; use walk_map_lines().
  Answer find(std::uint64_t address, MapLine& out);

 private:
  const base::UniqueFd maps_;
  char rights_[4] = {};
  char name_[256] = {};
};

}  // namespace softdat::memory
