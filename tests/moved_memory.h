// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>

#include "memory/moved_memory.h"

namespace softdat {

// Whether the file that peers map stands behind the address.
inline bool is_moved(std::uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char dash = 0;
    words >> std::hex >> begin >> dash >> end;
    if (address >= begin && address < end) return line.ends_with(memory::kMovedMemoryPath);
  }
  return false;
}

}  // namespace softdat
