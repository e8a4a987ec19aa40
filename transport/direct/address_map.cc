// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/address_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"

namespace softdat::transport::direct {
namespace {

// A line of /proc/self/maps: "begin-end perms offset major:minor inode    name".
struct Line {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view rights;
  std::uint64_t offset = 0;
  FileIdentity file;
  std::string_view name;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool is_good() const { return is_good_; }
  std::uint64_t number(int base) {
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value, base);
    is_good_ = is_good_ && error == std::errc();
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    return value;
  }
  std::string_view word() {
    const std::string_view result = text_.substr(0, text_.find(' '));
    text_.remove_prefix(result.size());
    return result;
  }
  void skip(std::size_t most = 1) { text_.remove_prefix(std::min(most, text_.size())); }
  std::string_view rest() const {
    const std::size_t first = text_.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view() : text_.substr(first);
  }

 private:
  std::string_view text_;
  bool is_good_ = true;
};

bool parse(std::string_view text, Line& line) {
  Reader reader(text);
  line.begin = reader.number(16);
  reader.skip();
  line.end = reader.number(16);
  reader.skip();
  line.rights = reader.word();
  reader.skip();
  line.offset = reader.number(16);
  reader.skip();
  const auto major = static_cast<unsigned>(reader.number(16));
  reader.skip();
  const auto minor = static_cast<unsigned>(reader.number(16));
  reader.skip();
  line.file = {.device = makedev(major, minor), .inode = reader.number(10)};
  line.name = reader.rest();
  return reader.is_good() && line.rights.size() == 4;
}

// A thread's stack is anonymous memory right behind a guard. So is much else, which then is not
// shared; but the heaps that malloc makes for threads, which begin at such a multiple, are.
bool is_thread_heap(const Line& line) {
  constexpr std::uint64_t kThreadHeap = std::uint64_t{64} << 20;
  return line.begin % kThreadHeap == 0;
}

bool has_plain_name(std::string_view name) {
  if (name.substr(0, 6) == "[anon:") return name.find("stack") == std::string_view::npos;
  return name.empty() || name == "[heap]";
}

MappingKind kind_of(const Line& line, const FileIdentity& arena, std::uint64_t guard_end) {
  if (line.file.inode == arena.inode && line.file.device == arena.device && arena.inode != 0) {
    return line.rights == "rw-s" ? MappingKind::kArena : MappingKind::kForeign;
  }
  const bool is_plain = line.rights == "rw-p" && line.file.inode == 0 && has_plain_name(line.name);
  const bool looks_like_stack = guard_end == line.begin && !is_thread_heap(line);
  return is_plain && !looks_like_stack ? MappingKind::kPlain : MappingKind::kForeign;
}

class Collector {
 public:
  Collector(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena)
      : begin_(begin), end_(end), arena_(arena) {}

  // False when there is nothing more to come.
  bool on_line(std::string_view text) {
    Line line;
    if (!parse(text, line)) return true;
    if (line.begin >= end_) return false;
    ++map.count;
    if (line.end > begin_) add(line);
    if (line.rights == "---p") guard_end_ = line.end;
    return true;
  }

  AddressMap map;

 private:
  // The first page of a thread's heap holds malloc's own locks, which a child of this process stores into before we
  // can part it from us.
  void add(Line line) {
    constexpr std::uint64_t kPage = 4096;
    const MappingKind kind = kind_of(line, arena_, guard_end_);
    if (kind == MappingKind::kPlain && is_thread_heap(line)) {
      map.mappings.push_back({line.begin, line.begin + kPage, MappingKind::kForeign, 0});
      line.begin += kPage;
    }
    if (line.begin < line.end) map.mappings.push_back({line.begin, line.end, kind, line.offset});
  }

  const std::uint64_t begin_;
  const std::uint64_t end_;
  const FileIdentity arena_;
  std::uint64_t guard_end_ = 0;
};

}  // namespace

FileIdentity identify_file(int file) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) return {};
  return {.device = status.st_dev, .inode = status.st_ino};
}

AddressMap read_address_map(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena) {
  const base::UniqueFd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  Collector collector(begin, end, arena);
  char buffer[8192];
  std::size_t held = 0;
  for (bool wants_more = static_cast<bool>(maps); wants_more;) {
    const ssize_t got = ::read(maps.get(), buffer + held, sizeof buffer - held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    held += static_cast<std::size_t>(got);
    std::string_view text(buffer, held);
    for (std::size_t line; wants_more && (line = text.find('\n')) != std::string_view::npos;) {
      wants_more = collector.on_line(text.substr(0, line));
      text.remove_prefix(line + 1);
    }
    held = text.size();
    if (held == sizeof buffer) break;  // no name is that long
    std::memmove(buffer, text.data(), held);
  }
  return std::move(collector.map);
}

}  // namespace softdat::transport::direct
