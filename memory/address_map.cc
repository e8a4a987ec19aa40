// SPDX-License-Identifier: BSD-2-Clause
#include "memory/address_map.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

#include "base/assert.h"
#include "memory/map_lines.h"

namespace softdat::memory {
namespace {

// malloc gives threads heaps of their own, each in a block of address space that begins at such a multiple.
constexpr std::uint64_t kHeapBlock = std::uint64_t{64} << 20;
constexpr std::uint64_t kPage = 4096;

constexpr std::uint64_t block_of(std::uint64_t address) {
  return address / kHeapBlock * kHeapBlock;
}

// Whether malloc's heap of a thread begins here. Its first words say where its arena is described, which is in the
// first page of this or another such heap, and which heap of the arena came before. Somebody may unmap it while we
// look, hence not by a load.
bool is_thread_heap(std::uint64_t block, bool if_unreadable) {
  std::uint64_t words[2] = {};
  const iovec into{.iov_base = words, .iov_len = sizeof words};
  const iovec from{.iov_base = reinterpret_cast<void*>(block), .iov_len = sizeof words};
  // An unmapped page makes process_vm_readv return short or fail; a load would raise SIGSEGV.
  // syscall() takes words, and the last of six lies on the stack: the upper half of an int there would be undefined.
  const auto got = ::syscall(SYS_process_vm_readv, ::getpid(), &into, 1, &from, 1, 0UL);
  if (got != static_cast<long>(sizeof words)) return if_unreadable;
  const std::uint64_t place = words[0] % kHeapBlock;
  return words[0] >= kHeapBlock && place != 0 && place < kPage && words[1] % kHeapBlock == 0;
}

// Where the main heap begins, once it has been seen; it never moves. Any thread; all store the same.
std::atomic<std::uint64_t> main_heap{0};

// The kernel names only the main heap "[heap]". Other threads' heaps have no name, so is_thread_heap() looks at their
// bytes.
void note_heap(const MapLine& line) {
  if (line.name != "[heap]" || main_heap.load(std::memory_order_relaxed) != 0) return;
  main_heap.store(line.begin, std::memory_order_relaxed);
}

bool has_plain_name(std::string_view name) {
  if (name.substr(0, 6) == "[anon:") return name.find("stack") == std::string_view::npos;
  return name.empty();
}

int protection_of(std::string_view rights) {
  return (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) | (rights[2] == 'x' ? PROT_EXEC : 0);
}

// Whether the mapping may be a thread's stack: anonymous memory right behind a guard is one, and may be much else,
// which then is not shared. But memory that begins with a block may lie behind the unused rest of the heap before it.
bool may_be_stack(const MapLine& line, std::uint64_t guard_end) {
  if (guard_end != line.begin) return false;
  return line.begin % kHeapBlock != 0 || !is_thread_heap(line.begin - kHeapBlock, false);
}

MappingKind kind_of(const MapLine& line, const FileIdentity& arena, std::uint64_t guard_end) {
  if (line.file.inode == arena.inode && line.file.device == arena.device && arena.inode != 0) {
    if (line.rights[3] == 's') return MappingKind::kArena;
    // Private pages that have taken the place of shared ones (Arena::retire).
    return line.rights == "rw-p" ? MappingKind::kPlain : MappingKind::kForeign;
  }
  const bool is_plain = line.rights == "rw-p" && line.file.inode == 0 && has_plain_name(line.name);
  return is_plain && !may_be_stack(line, guard_end) ? MappingKind::kPlain : MappingKind::kForeign;
}

using Sink = std::function<void(const Mapping&)>;

class Collector {
 public:
  Collector(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena, bool wants_all, const Sink& sink)
      : begin_(begin), end_(end), arena_(arena), wants_all_(wants_all), sink_(sink) {}

  // False when there is nothing more to come.
  bool on_line(const MapLine& line) {
    note_heap(line);
    if (line.begin >= end_) return false;
    // From the block on in which the range begins, because the block's begin says what the rest is.
    if (line.end > block_of(begin_)) add(line);
    // A guard is smaller than a block of the heap. A larger mapping without rights is a reserve of addresses, as our
    // own for handles, and what the kernel maps behind it is no stack.
    if (line.rights == "---p" && line.end - line.begin < kHeapBlock) guard_end_ = line.end;
    return true;
  }

 private:
  void add(const MapLine& line) {
    const MappingKind kind = kind_of(line, arena_, guard_end_);
    if (line.end <= begin_ && kind != MappingKind::kPlain) return;
    if (!wants_all_ && kind != MappingKind::kArena) return;
    if (kind == MappingKind::kPlain) return add_plain(line);
    const int protection = kind == MappingKind::kArena ? protection_of(line.rights) : PROT_NONE;
    sink_({line.begin, line.end, kind, protection, line.offset});
  }

  // Block by block: neighbouring mappings of this kind are one to the kernel, heaps among them.
  void add_plain(const MapLine& line) {
    const std::uint64_t end = std::min(line.end, end_);
    for (std::uint64_t at = std::max(line.begin, block_of(begin_)); at < end;) {
      const std::uint64_t block = block_of(at);
      const std::uint64_t until = std::min(line.end, block + kHeapBlock);
      // An unreadable block counts as a heap: it is not moved, so it is reached by messages, which is always correct.
      if (at == block && is_thread_heap(block, true)) heap_ = block;
      const bool is_heap = heap_ == block && block != 0;
      const MappingKind kind = is_heap ? MappingKind::kForeign : MappingKind::kPlain;
      if (until > begin_) sink_({at, until, kind, is_heap ? PROT_NONE : PROT_READ | PROT_WRITE, 0});
      at = until;
    }
  }

  const std::uint64_t begin_;
  const std::uint64_t end_;
  const FileIdentity arena_;
  const bool wants_all_;
  const Sink& sink_;
  std::uint64_t guard_end_ = 0;
  std::uint64_t heap_ = 0;  // the last one's block
};

void walk(Collector& collector) {
  static_cast<void>(walk_map_lines([&](const MapLine& line) { return collector.on_line(line); }));
}

// Where the kernel answers for single addresses: what begins the block, what lies before the mapping in which the range
// begins, and the range.
// Returns false if the kernel has no PROCMAP_QUERY; the caller then reads the whole text. `known` keeps a mapping that
// covers two of the addresses from being passed twice.
bool query(std::uint64_t begin, Collector& collector) {
  MapQuery map;
  std::uint64_t known = 0;
  const auto pass = [&](std::uint64_t address) {
    MapLine line;
    const MapQuery::Answer answer = address < known ? MapQuery::Answer::kFound : map.find(address, line);
    if (address < known || answer != MapQuery::Answer::kFound) return answer;
    known = line.end;
    return collector.on_line(line) ? answer : MapQuery::Answer::kNone;
  };
  MapLine first;
  if (map.find(begin, first) == MapQuery::Answer::kUnable) return false;
  const std::uint64_t block = block_of(begin);
  std::array<std::uint64_t, 3> before{std::min(first.begin, begin), block, block + 1};
  std::sort(before.begin(), before.end());
  for (const std::uint64_t address : before) {
    if (address != 0 && pass(address - 1) == MapQuery::Answer::kUnable) return false;
  }
  for (known = std::max(known, begin); pass(known) == MapQuery::Answer::kFound;) {
  }
  return true;
}

}  // namespace

FileIdentity identify_file(int file) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) return {};
  return {.device = status.st_dev, .inode = status.st_ino};
}

std::vector<Mapping> read_address_map(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena) {
  base::check(begin <= end, "a range ends behind its begin", begin, end);
  std::vector<Mapping> map;
  const Sink sink = [&map](const Mapping& mapping) { map.push_back(mapping); };
  Collector collector(begin, end, arena, true, sink);
  if (!query(begin, collector)) walk(collector);
  return map;
}

bool is_covered(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena,
                const std::function<bool(const Mapping&)>& is_fine) {
  MapQuery map;
  MapLine line;
  for (std::uint64_t at = begin; at < end; at = line.end) {
    if (map.find(at, line) != MapQuery::Answer::kFound || line.begin > at) return false;
    if (kind_of(line, arena, 0) != MappingKind::kArena) return false;
    if (!is_fine({line.begin, line.end, MappingKind::kArena, protection_of(line.rights), line.offset})) return false;
  }
  return true;
}

std::uint64_t end_of_mapping(std::uint64_t address) {
  MapQuery map;
  MapLine line;
  if (map.find(address, line) == MapQuery::Answer::kFound) return line.end;
  // An address that no line covers gets the greatest end, so stand_in() finds every stack above the range.
  std::uint64_t end = ~std::uint64_t{0};
  static_cast<void>(walk_map_lines([&](const MapLine& other) {
    if (address < other.begin || address >= other.end) return true;
    end = other.end;
    return false;
  }));
  return end;
}

bool is_surely_main_heap(std::uint64_t address) {
  const std::uint64_t begin = main_heap.load(std::memory_order_relaxed);
  return begin != 0 && address >= begin && address < reinterpret_cast<std::uint64_t>(::sbrk(0));
}

bool is_surely_heap(std::uint64_t address) {
  return is_surely_main_heap(address) || is_thread_heap(block_of(address), false);
}

bool is_of_others_at_work(std::string_view name) {
  if (name.find("[io_uring]") != std::string_view::npos || name.find("/[aio]") != std::string_view::npos) return true;
  const auto is_in = [name](std::string_view directory) { return name.starts_with(directory); };
  // Memory, though it lies there too.
  return is_in("/dev/") && !is_in("/dev/zero") && !is_in("/dev/shm/") && !is_in("/dev/hugepages");
}

LinesSeen look_through_map() {
  LinesSeen seen;
  const bool is_told = walk_map_lines([&](const MapLine& line) {
    ++seen.count;
    note_heap(line);
    if (is_of_others_at_work(line.name)) seen.has_others_at_work = true;
    return true;
  });
  // Without /proc nobody can rule out io_uring or pinned pages, so `auto` moves nothing.
  if (!is_told) seen.has_others_at_work = true;
  return seen;
}

bool walk_views(const FileIdentity& arena, const MapBuffer& buffer, const Sink& sink) {
  Collector collector(0, ~std::uint64_t{0}, arena, false, sink);
  return walk_map_lines(buffer, [&](const MapLine& line) { return collector.on_line(line); });
}

}  // namespace softdat::memory
