// SPDX-License-Identifier: BSD-2-Clause
#include "memory/map_lines.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace softdat::memory {
namespace {

std::atomic<bool> is_query_unknown{false};  // before Linux 6.11

// A line: "begin-end perms offset major:minor inode    name".
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

bool parse(std::string_view text, MapLine& line) {
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

base::UniqueFd open_map() {
  return base::UniqueFd(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
}

// The kernel's struct procmap_query, which older headers lack.
struct Query {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t address;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t rights;
  std::uint64_t page_size;
  std::uint64_t offset;
  std::uint64_t inode;
  std::uint32_t device_major;
  std::uint32_t device_minor;
  std::uint32_t name_size;
  std::uint32_t build_id_size;
  std::uint64_t name;
  std::uint64_t build_id;
};
constexpr unsigned long kQuery = _IOWR('f', 17, Query);  // PROCMAP_QUERY
constexpr std::uint64_t kOrNext = 0x10;                  // PROCMAP_QUERY_COVERING_OR_NEXT_VMA
constexpr std::uint64_t kReadable = 1;
constexpr std::uint64_t kWritable = 2;
constexpr std::uint64_t kExecutable = 4;
constexpr std::uint64_t kShared = 8;

}  // namespace

MapBuffer::MapBuffer()
    : data_([] {
        void* const got = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return got == MAP_FAILED ? nullptr : static_cast<char*>(got);
      }()) {}

MapBuffer::~MapBuffer() {
  if (data_ != nullptr) ::munmap(data_, kSize);
}

bool walk_map_lines(const std::function<bool(const MapLine&)>& wants_more) {
  return walk_map_lines(MapBuffer(), wants_more);
}

bool walk_map_lines(const MapBuffer& buffer, const std::function<bool(const MapLine&)>& on_line) {
  const base::UniqueFd maps = open_map();
  char* const data = buffer.data();
  if (!maps || data == nullptr) return false;
  // A line that fills the buffer leaves no room to read into; no name is that long.
  for (std::size_t held = 0; held < MapBuffer::kSize;) {
    const ssize_t got = ::read(maps.get(), data + held, MapBuffer::kSize - held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    // A read may end within a line; its beginning stays in the buffer for the next read.
    held += static_cast<std::size_t>(got);
    std::string_view text(data, held);
    for (std::size_t length; (length = text.find('\n')) != std::string_view::npos;) {
      MapLine line;
      // A line in an unknown form is skipped.
      if (parse(text.substr(0, length), line) && !on_line(line)) return true;
      text.remove_prefix(length + 1);
    }
    held = text.size();
    std::memmove(data, text.data(), held);
  }
  return false;
}

// A kernel without the request is not asked again.
MapQuery::MapQuery() : maps_(is_query_unknown.load(std::memory_order_relaxed) ? base::UniqueFd() : open_map()) {}

MapQuery::Answer MapQuery::find(std::uint64_t address, MapLine& out) {
  Query query = {};
  query.size = sizeof query;
  query.flags = kOrNext;
  query.address = address;
  query.name_size = sizeof name_;
  query.name = reinterpret_cast<std::uint64_t>(name_);
  // A longer name is no name that matters.
  if (::ioctl(maps_.get(), kQuery, &query) != 0 && errno == ENAMETOOLONG) {
    query.name_size = 0;
    query.name = 0;
    std::strcpy(name_, "?");
    if (::ioctl(maps_.get(), kQuery, &query) != 0) return Answer::kUnable;
    query.name_size = 2;
  } else if (query.end == 0) {
    // A failed call leaves `end` 0; ENOENT says that no mapping lies at or behind the address, other errors that the
    // kernel (before Linux 6.11) does not know the request.
    if (errno == ENOTTY) is_query_unknown.store(true, std::memory_order_relaxed);
    return errno == ENOENT ? Answer::kNone : Answer::kUnable;
  }
  rights_[0] = (query.rights & kReadable) != 0 ? 'r' : '-';
  rights_[1] = (query.rights & kWritable) != 0 ? 'w' : '-';
  rights_[2] = (query.rights & kExecutable) != 0 ? 'x' : '-';
  rights_[3] = (query.rights & kShared) != 0 ? 's' : 'p';
  out = {.begin = query.begin,
         .end = query.end,
         .rights = {rights_, sizeof rights_},
         .offset = query.offset,
         .file = {.device = makedev(query.device_major, query.device_minor), .inode = query.inode},
         .name = query.name_size == 0 ? std::string_view() : std::string_view(name_, query.name_size - 1)};
  return Answer::kFound;
}

}  // namespace softdat::memory
