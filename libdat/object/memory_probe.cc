// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/memory_probe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/assert.h"
#include "base/made_once.h"
#include "base/unique_fd.h"
#include "memory/map_lines.h"
#include "memory/moved_memory.h"

namespace softdat::object {
namespace {

using memory::MapLine;
using memory::MapQuery;

// Private pages as their owner knows them, whatever stands behind them.
bool is_moved(const MapLine& line) {
  return line.name == memory::kMovedMemoryPath;
}

// Whether the kernel can read that byte on our behalf. It brings the page in as our own access
// would, but answers instead of raising a signal. A program's AddressSanitizer would look at what write() is given.
bool can_kernel_read(std::uint64_t address) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return true;  // cannot be told; the mapping is all we know
  const base::UniqueFd out(ends[0]);
  const base::UniqueFd in(ends[1]);
  return ::syscall(SYS_write, in.get(), address, 1UL) == 1;
}

// Follows the range through the mappings, which come in ascending order. Everything below need_ is
// known to be good.
class RangeFollower {
 public:
  RangeFollower(std::uint64_t address, std::uint64_t length, bool is_written)
      : need_(address), last_(address + (length - 1)), is_written_(is_written) {
    SOFTDAT_DEBUG_CHECK(length > 0 && last_ >= address, "a range has bytes and does not wrap", address, length);
  }

  // Of which byte nothing is known yet.
  std::uint64_t need() const { return need_; }
  // False when the outcome is known.
  bool wants_more() const { return !is_done_; }
  const MemoryNature& nature() const { return nature_; }

  void on_line(const MapLine& line) {
    SOFTDAT_DEBUG_CHECK(!is_done_, "no mapping is looked at once the outcome is known", need_, last_);
    SOFTDAT_DEBUG_CHECK(need_ <= last_, "a byte of the range is still unknown", need_, last_);
    if (line.end <= need_) return;
    const bool is_allowed = line.rights[0] == 'r' && (!is_written_ || line.rights[1] == 'w');
    if (line.begin > need_ || !is_allowed || !is_backed(line)) {
      is_done_ = true;
      return;
    }
    note_sharing(line);
    if (line.end > last_) {
      is_done_ = nature_.is_accessible = true;
    } else {
      need_ = line.end;
    }
  }

 private:
  // A file may end before its mapping does; then the last byte is the first to be missing.
  bool is_backed(const MapLine& line) const {
    return line.file.inode == 0 || is_moved(line) || can_kernel_read(std::min(last_, line.end - 1));
  }

  void note_sharing(const MapLine& line) {
    const bool is_shared = line.rights[3] == 's' && !is_moved(line);
    if (is_shared && !has_begun_) {
      const std::uint64_t device = std::uint64_t{major(line.file.device)} << 32 | minor(line.file.device);
      nature_.identity = {device, line.file.inode, line.offset + (need_ - line.begin)};
    }
    nature_.is_shared = is_shared && (nature_.is_shared || !has_begun_);
    has_begun_ = true;
  }

  std::uint64_t need_;
  const std::uint64_t last_;
  const bool is_written_;
  MemoryNature nature_;
  bool has_begun_ = false;
  bool is_done_ = false;
};

// Costs nothing for the mappings that do not matter. False when the kernel cannot be asked so.
bool follow_queries(RangeFollower& follower) {
  MapQuery map;
  while (follower.wants_more()) {
    MapLine line;
    const MapQuery::Answer answer = map.find(follower.need(), line);
    if (answer != MapQuery::Answer::kFound) return answer == MapQuery::Answer::kNone;
    follower.on_line(line);
  }
  return true;
}

// False without /proc, and for want of descriptors or memory.
bool follow_lines(RangeFollower& follower) {
  return memory::walk_map_lines([&follower](const MapLine& line) {
    follower.on_line(line);
    return follower.wants_more();
  });
}

// So many are asked about in one call.
constexpr std::uint64_t kMostPages = 64;

std::uint64_t page_size() {
  static constinit base::FoundOnce<std::uint64_t> size;
  return size.get([] { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); });
}

// Where the map cannot be read: at least it is mapped.
bool is_mapped(std::uint64_t address, std::uint64_t length) {
  const std::uint64_t page = page_size();
  unsigned char residence[256];
  const std::uint64_t last = address + (length - 1);
  for (std::uint64_t at = address / page * page; at <= last; at += page * sizeof residence) {
    const std::uint64_t span = std::min(last - at, page * sizeof residence - 1) + 1;
    if (::mincore(reinterpret_cast<void*>(at), span, residence) != 0) return false;
    if (at + page * sizeof residence < at) break;
  }
  return true;
}

// One byte of each of so many pages, which the kernel reads as it would for another process, so that nothing is raised
// here. Nothing when we are not allowed to ask.
std::optional<bool> can_read_pages(std::uint64_t address, std::uint64_t first, std::uint64_t end) {
  base::check(first < end && end - first <= kMostPages, "one call asks about a few pages", first, end);
  iovec remote[kMostPages];
  for (std::uint64_t page = first; page < end; ++page) {
    remote[page - first] = {reinterpret_cast<void*>(std::max(address, page * page_size())), 1};
  }
  const std::uint64_t count = end - first;
  char bytes[kMostPages];
  const iovec local{bytes, count};
  const ssize_t got = ::process_vm_readv(::getpid(), &local, 1, remote, count, 0);
  if (got < 0 && errno != EFAULT) return std::nullopt;
  return got == static_cast<ssize_t>(count);
}

MemoryNature look_once(std::uint64_t address, std::uint64_t length, bool is_written, MapReading reading) {
  RangeFollower follower(address, length, is_written);
  const bool is_told = (reading == MapReading::kWanted && follow_queries(follower)) || follow_lines(follower);
  if (!is_told) {
    const bool is_there = is_mapped(address, length);
    return {.is_accessible = is_there, .is_shared = is_there, .identity = {}};
  }
  return follower.nature();
}

}  // namespace

bool is_readable(std::uint64_t address, std::uint64_t length) {
  if (length == 0) return true;
  const std::uint64_t last = address + (length - 1);
  if (last < address) return false;
  const std::uint64_t end = last / page_size() + 1;
  for (std::uint64_t page = address / page_size(); page < end; page += std::min(kMostPages, end - page)) {
    const auto outcome = can_read_pages(address, page, std::min(end, page + kMostPages));
    if (!outcome) return is_accessible(address, length, false);
    if (!*outcome) return false;
  }
  return true;
}

// A stack that has not grown so far down yet is not mapped; reading its lowest byte makes it grow.
MemoryNature look_at_memory(std::uint64_t address, std::uint64_t length, bool is_written, MapReading reading) {
  const MemoryNature nature = look_once(address, length, is_written, reading);
  if (nature.is_accessible || !can_kernel_read(address)) return nature;
  return look_once(address, length, is_written, reading);
}

}  // namespace softdat::object
