// SPDX-License-Identifier: BSD-2-Clause
// What lies at our addresses, as the kernel tells it.
#pragma once

#include <cstdint>
#include <vector>

namespace softdat::transport::direct {

enum class MappingKind : std::uint8_t {
  kPlain,    // private anonymous memory, readable and writable
  kArena,    // a view of the file asked for
  kForeign,  // anything else, stacks above all
};

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  MappingKind kind;
  std::uint64_t file_offset;  // kArena
};

// Tells a file from all others.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
FileIdentity identify_file(int file);

// The mappings that touch [begin, end), in ascending order; those that only touch it are whole.
// Empty when the kernel does not tell. `count` is how many lie below `end`.
struct AddressMap {
  std::vector<Mapping> mappings;
  std::size_t count = 0;
};
AddressMap read_address_map(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena);

}  // namespace softdat::transport::direct
