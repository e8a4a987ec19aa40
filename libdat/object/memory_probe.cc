// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/memory_probe.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "base/moved_memory.h"
#include "base/unique_fd.h"

namespace softdat::object {
namespace {

// One line of /proc/self/maps: "start-end rwxp offset major:minor inode path".
struct Mapping {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t offset = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool is_readable = false;
  bool is_writable = false;
  bool is_shared = false;
};

// Takes numbers, each with the one character behind it, off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::uint64_t number(int base) {
    std::uint64_t value = 0;
    const auto end = std::from_chars(text_.data(), text_.data() + text_.size(), value, base);
    is_good_ = is_good_ && end.ec == std::errc();
    skip(static_cast<std::size_t>(end.ptr - text_.data()) + 1);
    return value;
  }
  std::string_view word(std::size_t length) {
    is_good_ = is_good_ && text_.size() >= length;
    const std::string_view taken = text_.substr(0, length);
    skip(length + 1);
    return taken;
  }
  bool is_good() const { return is_good_; }

 private:
  void skip(std::size_t length) { text_.remove_prefix(std::min(length, text_.size())); }

  std::string_view text_;
  bool is_good_ = true;
};

std::optional<Mapping> parse(std::string_view line) {
  Scanner scanner(line);
  Mapping mapping;
  mapping.from = scanner.number(16);
  mapping.to = scanner.number(16);
  const std::string_view rights = scanner.word(4);
  mapping.offset = scanner.number(16);
  const std::uint64_t major = scanner.number(16);
  mapping.device = major << 32 | scanner.number(16);
  mapping.inode = scanner.number(10);
  if (!scanner.is_good()) return std::nullopt;
  mapping.is_readable = rights[0] == 'r';
  mapping.is_writable = rights[1] == 'w';
  mapping.is_shared = rights[3] == 's';
  // Private pages as their owner knows them, whatever stands behind them.
  if (line.ends_with(base::kMovedMemoryPath)) {
    mapping.is_shared = false;
    mapping.inode = 0;
  }
  return mapping;
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

  void on_mapping(const Mapping& mapping) {
    SOFTDAT_DEBUG_CHECK(!is_done_, "no mapping is looked at once the outcome is known", need_, last_);
    SOFTDAT_DEBUG_CHECK(need_ <= last_, "a byte of the range is still unknown", need_, last_);
    if (mapping.to <= need_) return;
    const bool is_allowed = mapping.is_readable && (!is_written_ || mapping.is_writable);
    if (mapping.from > need_ || !is_allowed || !is_backed(mapping)) {
      is_done_ = true;
      return;
    }
    note_sharing(mapping);
    if (mapping.to > last_) {
      is_done_ = nature_.is_accessible = true;
    } else {
      need_ = mapping.to;
    }
  }

 private:
  // A file may end before its mapping does; then the last byte is the first to be missing.
  bool is_backed(const Mapping& mapping) const {
    return mapping.inode == 0 || can_kernel_read(std::min(last_, mapping.to - 1));
  }

  void note_sharing(const Mapping& mapping) {
    if (!has_begun_) {
      nature_.identity = {mapping.device, mapping.inode, mapping.offset + (need_ - mapping.from)};
    }
    nature_.is_shared = mapping.is_shared && (nature_.is_shared || !has_begun_);
    has_begun_ = true;
  }

  std::uint64_t need_;
  const std::uint64_t last_;
  const bool is_written_;
  MemoryNature nature_;
  bool has_begun_ = false;
  bool is_done_ = false;
};

// A read ends at a line's end only by chance: the rest of a line is kept for the next read.
void follow_lines(int fd, RangeFollower& follower) {
  // Not on the stack, which may be a small one.
  constexpr std::size_t kRoom = 8192;
  const auto owner = std::make_unique<char[]>(kRoom);
  char* const buffer = owner.get();
  std::size_t held = 0;
  while (follower.wants_more()) {
    const ssize_t got = ::read(fd, buffer + held, kRoom - held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    held += static_cast<std::size_t>(got);
    const char* at = buffer;
    const char* const end = buffer + held;
    for (const char* newline; follower.wants_more(); at = newline + 1) {
      newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      if (newline == nullptr) break;
      if (const auto mapping = parse({at, static_cast<std::size_t>(newline - at)})) follower.on_mapping(*mapping);
    }
    held = static_cast<std::size_t>(end - at);
    if (held == kRoom) return;  // no path is that long
    std::memmove(buffer, at, held);
  }
}

// The argument of PROCMAP_QUERY (Linux 6.11): one mapping, asked for by an address in it.
struct MappingQuery {
  std::uint64_t size = sizeof(MappingQuery);
  std::uint64_t query_flags = 0;
  std::uint64_t address = 0;
  // The answer.
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t flags = 0;
  std::uint64_t page_size = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint32_t name_size = 0;      // of the place for the name; in the answer its length, its zero included
  std::uint32_t build_id_size = 0;  // not asked for
  std::uint64_t name_place = 0;
  std::uint64_t build_id_place = 0;
};
static_assert(sizeof(MappingQuery) == 104);
constexpr unsigned long kQueryMapping = _IOWR('f', 17, MappingQuery);
constexpr std::uint64_t kIsReadable = 1;
constexpr std::uint64_t kIsWritable = 2;
constexpr std::uint64_t kIsShared = 8;

// Costs nothing for the mappings that do not matter. False when the kernel cannot be asked so.
bool follow_queries(int fd, RangeFollower& follower) {
  while (follower.wants_more()) {
    char name[256] = {};
    MappingQuery query{.address = follower.need()};
    query.name_size = sizeof name;
    query.name_place = reinterpret_cast<std::uintptr_t>(name);
    bool is_told = ::ioctl(fd, kQueryMapping, &query) == 0;
    if (!is_told && errno == ENAMETOOLONG) {
      query = {.address = follower.need()};  // a longer name is none that matters
      is_told = ::ioctl(fd, kQueryMapping, &query) == 0;
    }
    if (!is_told) return errno == ENOENT;  // that is: nothing is mapped there
    const bool is_moved = std::strcmp(name, base::kMovedMemoryPath) == 0;
    follower.on_mapping({.from = query.from,
                         .to = query.to,
                         .offset = query.offset,
                         .device = std::uint64_t{query.device_major} << 32 | query.device_minor,
                         .inode = is_moved ? 0 : query.inode,
                         .is_readable = (query.flags & kIsReadable) != 0,
                         .is_writable = (query.flags & kIsWritable) != 0,
                         .is_shared = !is_moved && (query.flags & kIsShared) != 0});
  }
  return true;
}

// So many are asked about in one call.
constexpr std::uint64_t kMostPages = 64;

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// Without /proc: at least it is mapped.
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
  const base::UniqueFd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!maps) {
    const bool is_there = is_mapped(address, length);
    return {.is_accessible = is_there, .is_shared = is_there, .identity = {}};
  }
  RangeFollower follower(address, length, is_written);
  if (reading == MapReading::kAll || !follow_queries(maps.get(), follower)) follow_lines(maps.get(), follower);
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
