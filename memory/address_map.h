// SPDX-License-Identifier: BSD-2-Clause
// The mappings of this process, as the kernel reports them. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace softdat::memory {

class MapBuffer;

enum class MappingKind : std::uint8_t {
  kPlain,    // private anonymous memory, readable and writable, that belongs to the consumer alone
  kArena,    // a view of the arena's file
  kForeign,  // anything else: stacks, malloc's heaps, files
};

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  MappingKind kind;
  int protection;             // as of mmap(); PROT_NONE for kForeign
  std::uint64_t file_offset;  // kArena
};

// Identifies a file on this host.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
FileIdentity identify_file(int file);

// The mappings that overlap [begin, end), in ascending order. Views of the arena are whole; other mappings may be cut
// or reported in parts. Empty if the kernel does not report them. Throws std::bad_alloc.
std::vector<Mapping> read_address_map(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena);

// Whether views of the arena for which `is_fine` is true cover [begin, end). False also if the kernel does not answer
// for single addresses.
bool is_covered(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena,
                const std::function<bool(const Mapping& view)>& is_fine);

// The end of the mapping that contains the address; the largest number if the kernel does not report it.
std::uint64_t end_of_mapping(std::uint64_t address);

// Whether the address is certainly in malloc's main heap. Makes no system call; false proves nothing.
bool is_surely_main_heap(std::uint64_t address);
// Whether it is certainly in one of malloc's heaps. Does not read the map, so false proves nothing.
bool is_surely_heap(std::uint64_t address);

// Whether a mapping of this name shows that the kernel or a device may access memory of this process by itself: a ring
// of io_uring or asynchronous I/O, or a mapping of a device's driver.
bool is_of_others_at_work(std::string_view name);

// Reads all mappings; the time grows with their number. `has_others_at_work` is also true if the kernel does not report
// them.
struct LinesSeen {
  std::size_t count = 0;
  bool has_others_at_work = false;
};
LinesSeen look_through_map();

// Calls `sink` for each view of the arena, whole, in ascending order. Does not use malloc, so that fork handlers may
// call it. False if views may be missing, because the kernel does not report all mappings.
[[nodiscard]] bool walk_views(const FileIdentity& arena, const MapBuffer& buffer,
                              const std::function<void(const Mapping&)>& sink);

}  // namespace softdat::memory
