// SPDX-License-Identifier: BSD-2-Clause
// What lies at our addresses, as the kernel tells it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace softdat::transport::direct {

enum class MappingKind : std::uint8_t {
  kPlain,    // private anonymous memory, readable and writable, of which the consumer disposes alone
  kArena,    // a view of the file asked for
  kForeign,  // anything else: stacks, malloc's heaps, files
};

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  MappingKind kind;
  int protection;             // as of mmap(); PROT_NONE for kForeign
  std::uint64_t file_offset;  // kArena
};

// Tells a file from all others.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
FileIdentity identify_file(int file);

// The mappings that touch [begin, end), in ascending order; views of the arena are whole. None when the kernel does
// not tell. `count` is how many lie below `end`. Throws std::bad_alloc.
struct AddressMap {
  std::vector<Mapping> mappings;
  std::size_t count = 0;
};
AddressMap read_address_map(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena);

// Gives `sink` the views of the arena wherever they are, whole, in ascending order. Takes no memory of malloc's.
void walk_views(const FileIdentity& arena, const std::function<void(const Mapping&)>& sink);

}  // namespace softdat::transport::direct
