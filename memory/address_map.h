// SPDX-License-Identifier: BSD-2-Clause
// What lies at our addresses, as the kernel tells it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace softdat::memory {

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
// not tell. Throws std::bad_alloc.
std::vector<Mapping> read_address_map(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena);

// Where the mapping ends in which the address lies; beyond everything when the kernel does not tell.
std::uint64_t end_of_mapping(std::uint64_t address);

// Whether the address lies in one of malloc's heaps, as far as it can be told without a look at the map. Cheap.
bool is_surely_heap(std::uint64_t address);

// Whether a mapping of this name means that the kernel or a device may store into our memory, or read there, without
// any thread of ours: a ring of io_uring or of asynchronous I/O, or what a device's driver has mapped.
bool is_of_others_at_work(std::string_view name);

// All mappings, which takes longer the more there are. Others are said to be at work when the kernel does not tell.
struct LinesSeen {
  std::size_t count = 0;
  bool has_others_at_work = false;
};
LinesSeen look_through_map();

// Gives `sink` the views of the arena wherever they are, whole, in ascending order. Takes no memory of malloc's.
void walk_views(const FileIdentity& arena, const std::function<void(const Mapping&)>& sink);

}  // namespace softdat::memory
