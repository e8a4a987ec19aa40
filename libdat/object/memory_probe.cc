// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/memory_probe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/unique_fd.h"

namespace softdat::object {
namespace {

// Follows the range through the lines of /proc/self/maps, which come in ascending order:
// "start-end rwxp ...". Everything below need_ is known to be good.
class RangeFollower {
 public:
  RangeFollower(std::uint64_t address, std::uint64_t length, bool is_written)
      : need_(address), last_(address + (length - 1)), is_written_(is_written) {}

  // False when the outcome is known.
  bool wants_more() const { return !is_done_; }
  bool is_good() const { return is_good_; }

  void on_line(const char* begin, const char* end) {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    const auto first = std::from_chars(begin, end, from, 16);
    if (first.ec != std::errc() || first.ptr + 1 >= end) return;
    const auto second = std::from_chars(first.ptr + 1, end, to, 16);
    if (second.ec != std::errc() || end - second.ptr < 4) return;
    if (to <= need_) return;
    const bool is_allowed = second.ptr[1] == 'r' && (!is_written_ || second.ptr[2] == 'w');
    if (from > need_ || !is_allowed) {
      is_done_ = true;
    } else if (to > last_) {
      is_done_ = is_good_ = true;
    } else {
      need_ = to;
    }
  }

 private:
  std::uint64_t need_;
  const std::uint64_t last_;
  const bool is_written_;
  bool is_done_ = false;
  bool is_good_ = false;
};

void follow_lines(int fd, RangeFollower& follower) {
  char buffer[8192];
  std::size_t held = 0;
  while (follower.wants_more()) {
    const ssize_t got = ::read(fd, buffer + held, sizeof buffer - held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    held += static_cast<std::size_t>(got);
    const char* at = buffer;
    const char* const end = buffer + held;
    for (const char* newline; follower.wants_more(); at = newline + 1) {
      newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      if (newline == nullptr) break;
      follower.on_line(at, newline);
    }
    held = static_cast<std::size_t>(end - at);
    if (held == sizeof buffer) return;  // no path is that long
    std::memmove(buffer, at, held);
  }
}

// Without /proc: at least it is mapped.
bool is_mapped(std::uint64_t address, std::uint64_t length) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  unsigned char residence[256];
  const std::uint64_t last = address + (length - 1);
  for (std::uint64_t at = address / page * page; at <= last; at += page * sizeof residence) {
    const std::uint64_t span = std::min(last - at, page * sizeof residence - 1) + 1;
    if (::mincore(reinterpret_cast<void*>(at), span, residence) != 0) return false;
    if (at + page * sizeof residence < at) break;
  }
  return true;
}

}  // namespace

bool is_accessible(std::uint64_t address, std::uint64_t length, bool is_written) {
  const base::UniqueFd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!maps) return is_mapped(address, length);
  RangeFollower follower(address, length, is_written);
  follow_lines(maps.get(), follower);
  return follower.is_good();
}

}  // namespace softdat::object
