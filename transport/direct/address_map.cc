// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/address_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

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

// malloc gives threads heaps of their own, each in a block of address space that begins at such a multiple.
constexpr std::uint64_t kHeapBlock = std::uint64_t{64} << 20;
constexpr std::uint64_t kPage = 4096;

constexpr std::uint64_t block_of(std::uint64_t address) {
  return address / kHeapBlock * kHeapBlock;
}

// Whether malloc's heap of a thread begins here. Its first words say where its arena is described, which is in the
// first page of this or another such heap, and which heap of the arena came before. Somebody may unmap it while we
// look, hence not by a load.
bool is_thread_heap(std::uint64_t block) {
  std::uint64_t words[2] = {};
  const iovec into{.iov_base = words, .iov_len = sizeof words};
  const iovec from{.iov_base = reinterpret_cast<void*>(block), .iov_len = sizeof words};
  const auto got = ::syscall(SYS_process_vm_readv, ::getpid(), &into, 1, &from, 1, 0);
  if (got != static_cast<long>(sizeof words)) return true;  // then it had better be one
  const std::uint64_t place = words[0] % kHeapBlock;
  return words[0] >= kHeapBlock && place != 0 && place < kPage && words[1] % kHeapBlock == 0;
}

bool has_plain_name(std::string_view name) {
  if (name.substr(0, 6) == "[anon:") return name.find("stack") == std::string_view::npos;
  return name.empty();
}

int protection_of(std::string_view rights) {
  return (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) | (rights[2] == 'x' ? PROT_EXEC : 0);
}

// A thread's stack is anonymous memory right behind a guard. So is much else, which then is not shared; but what
// begins with a block lies behind the unused rest of a heap.
MappingKind kind_of(const Line& line, const FileIdentity& arena, std::uint64_t guard_end) {
  if (line.file.inode == arena.inode && line.file.device == arena.device && arena.inode != 0) {
    return line.rights[3] == 's' ? MappingKind::kArena : MappingKind::kForeign;
  }
  const bool is_plain = line.rights == "rw-p" && line.file.inode == 0 && has_plain_name(line.name);
  const bool looks_like_stack = guard_end == line.begin && line.begin % kHeapBlock != 0;
  return is_plain && !looks_like_stack ? MappingKind::kPlain : MappingKind::kForeign;
}

using Sink = std::function<void(const Mapping&)>;

class Collector {
 public:
  Collector(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena, bool wants_all, const Sink& sink)
      : begin_(begin), end_(end), arena_(arena), wants_all_(wants_all), sink_(sink) {}

  // False when there is nothing more to come.
  bool on_line(std::string_view text) {
    Line line;
    if (!parse(text, line)) return true;
    if (line.begin >= end_) return false;
    ++count_;
    // From the block on in which the range begins, because the block's begin says what the rest is.
    if (line.end > block_of(begin_)) add(line);
    if (line.rights == "---p") guard_end_ = line.end;
    return true;
  }
  std::size_t count() const { return count_; }

 private:
  void add(const Line& line) {
    const MappingKind kind = kind_of(line, arena_, guard_end_);
    if (line.end <= begin_ && kind != MappingKind::kPlain) return;
    if (!wants_all_ && kind != MappingKind::kArena) return;
    if (kind == MappingKind::kPlain) return add_plain(line);
    const int protection = kind == MappingKind::kArena ? protection_of(line.rights) : PROT_NONE;
    sink_({line.begin, line.end, kind, protection, line.offset});
  }

  // Block by block: neighbouring mappings of this kind are one to the kernel, heaps among them.
  void add_plain(const Line& line) {
    const std::uint64_t end = std::min(line.end, end_);
    for (std::uint64_t at = std::max(line.begin, block_of(begin_)); at < end;) {
      const std::uint64_t block = block_of(at);
      const std::uint64_t until = std::min(line.end, block + kHeapBlock);
      if (at == block && is_thread_heap(block)) heap_ = block;
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
  std::size_t count_ = 0;
  std::uint64_t guard_end_ = 0;
  std::uint64_t heap_ = 0;  // the last one's block
};

void walk(Collector& collector) {
  const base::UniqueFd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
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
}

}  // namespace

FileIdentity identify_file(int file) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) return {};
  return {.device = status.st_dev, .inode = status.st_ino};
}

AddressMap read_address_map(std::uint64_t begin, std::uint64_t end, const FileIdentity& arena) {
  AddressMap map;
  const Sink sink = [&map](const Mapping& mapping) { map.mappings.push_back(mapping); };
  Collector collector(begin, end, arena, true, sink);
  walk(collector);
  map.count = collector.count();
  return map;
}

void walk_views(const FileIdentity& arena, const Sink& sink) {
  Collector collector(0, ~std::uint64_t{0}, arena, false, sink);
  walk(collector);
}

}  // namespace softdat::transport::direct
