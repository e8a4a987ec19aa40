// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/capture_merge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/pcapng.h"
#include "base/unique_fd.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/run/capture_flows.h"

namespace softdat::tools::run {
namespace {

namespace pcapng = base::pcapng;

// A file of another process, which may change or cut it at any time: so it is read and not mapped. It is open only
// while it is read, because a run may have more processes than a process may have descriptors.
class PartFile {
 public:
  explicit PartFile(const std::string& path) : path_(path) {
    struct stat status = {};
    const base::UniqueFd file = open();
    if (!file || ::fstat(file.get(), &status) != 0) {
      throw Failure(fmt::format("cannot read \"{}\": {}", path, std::strerror(errno)));
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  // The size when the file was opened first. What is appended later is not read.
  std::uint64_t size() const { return size_; }

  // The block that begins there. Nothing: there is no whole one. It is valid until the next call.
  std::optional<pcapng::Block> block_at(std::uint64_t at) {
    if (!has(at, kBlockHead)) fill(at, kWindow);
    if (!has(at, kBlockHead)) return std::nullopt;
    std::uint32_t length = 0;
    std::memcpy(&length, window_.data() + (at - begin_) + sizeof length, sizeof length);
    if (length > kMostBlock) return std::nullopt;
    if (!has(at, length)) fill(at, std::max<std::size_t>(length, kWindow));
    std::span<const std::byte> rest = std::span(window_).subspan(at - begin_);
    return pcapng::take_block(rest);
  }

 private:
  static constexpr std::size_t kBlockHead = 8;          // type and length
  static constexpr std::size_t kWindow = 64 << 10;      // what is read at once
  static constexpr std::uint32_t kMostBlock = 1 << 20;  // a recorder writes none that is larger

  base::UniqueFd open() const { return base::UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)); }

  bool has(std::uint64_t at, std::size_t size) const {
    return at >= begin_ && at - begin_ <= window_.size() && window_.size() - (at - begin_) >= size;
  }

  void fill(std::uint64_t at, std::size_t size) {
    const base::UniqueFd file = open();
    window_.resize(size);
    std::size_t got = 0;
    while (got < size) {
      const ssize_t more = ::pread(file.get(), window_.data() + got, size - got, static_cast<off_t>(at + got));
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    window_.resize(got);
    begin_ = at;
  }

  const std::string path_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> window_;
  std::uint64_t begin_ = 0;  // of window_ in the file
};

struct Entry {
  std::uint64_t time_ns = 0;
  std::uint32_t part = 0;
  std::uint64_t at = 0;  // in the part
};

struct Part {
  explicit Part(const std::string& path) : file(path) {}
  PartFile file;
  std::vector<std::uint32_t> interfaces{};  // their numbers in the whole
};

class Merger {
 public:
  Merger(const std::vector<std::string>& parts, const std::string& file);
  MergedCapture merge();

 private:
  void read(std::uint32_t number);
  void note(const pcapng::Packet& packet);
  bool is_known_otherwise(const pcapng::Packet& packet, const TcpHeader& tcp) const;
  void write_packet(const Entry& entry);
  void write_statistics();
  void write(std::span<const std::byte> bytes);
  void flush();
  [[noreturn]] void fail() const;

  static constexpr std::size_t kBuffer = 256 << 10;

  const std::string name_;
  base::UniqueFd out_;
  std::vector<std::byte> buffer_;  // for out_
  std::vector<Part> parts_;
  std::vector<Entry> entries_;
  std::map<std::uint32_t, pcapng::Statistics> statistics_;  // the last of each interface of the whole
  // When their author has captured the last packet: of directions that it sent, and of those towards an initiator,
  // which writes the whole handshake.
  std::map<Flow, std::uint64_t> sent_;
  std::map<Flow, std::uint64_t> begun_;
  CaptureFlows flows_;
  std::vector<std::byte> block_;
  MergedCapture result_{};
};

Merger::Merger(const std::vector<std::string>& parts, const std::string& file)
    : name_(file),
      out_(file == "-" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                       : ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
  if (!out_) fail();
  for (const std::string& part : parts) parts_.emplace_back(part);
}

void Merger::fail() const {
  throw Failure(fmt::format("cannot write the capture \"{}\": {}", name_, std::strerror(errno)));
}

void Merger::write(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBuffer) flush();
}

void Merger::flush() {
  for (std::span<const std::byte> rest = buffer_; !rest.empty();) {
    // Fails when the disk is full; then the parts stay (PartsDirectory).
    const ssize_t done = ::write(out_.get(), rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail();
    rest = rest.subspan(static_cast<std::size_t>(done));
  }
  buffer_.clear();
}

// First pass, over each part: packets are only noted by their place, so that memory holds none of them.
// A part that ends in half a block, as of a process that was killed, counts up to there.
void Merger::read(std::uint32_t number) {
  Part& part = parts_[number];
  std::uint64_t at = 0;
  while (at < part.file.size()) {
    const auto block = part.file.block_at(at);
    if (!block) return;
    // Interfaces get numbers of the whole, and stand before all packets; pcapng wants them before their own.
    if (const auto interface = pcapng::read_interface(*block)) {
      part.interfaces.push_back(static_cast<std::uint32_t>(statistics_.size()));
      statistics_[part.interfaces.back()] = {.interface = part.interfaces.back()};
      write(block->whole);
    }
    const auto packet = pcapng::read_packet(*block);
    if (packet && packet->head.interface < part.interfaces.size()) {
      note(*packet);
      entries_.push_back({.time_ns = packet->head.time_ns, .part = number, .at = at});
    }
    auto statistics = pcapng::read_statistics(*block);
    if (statistics && statistics->interface < part.interfaces.size()) {
      statistics->interface = part.interfaces[statistics->interface];
      statistics_[statistics->interface] = *statistics;
    }
    at += block->whole.size();
  }
}

void Merger::note(const pcapng::Packet& packet) {
  const auto tcp = find_tcp(packet.data);
  if (tcp) flows_.take_ports(*tcp);
  // From here on it is the author's own record of a packet.
  if (!tcp || (packet.head.flags & pcapng::kPromiscuous) == pcapng::kPromiscuous) return;
  std::uint64_t& last = ((packet.head.flags & pcapng::kOutbound) != 0 ? sent_ : begun_)[tcp->flow];
  last = std::max(last, packet.head.time_ns);
}

// Whether the packet is a copy of one that its author has captured as well. A process that is killed has not written
// the last ones that it sent, and not its end: these are there as copies alone.
bool Merger::is_known_otherwise(const pcapng::Packet& packet, const TcpHeader& tcp) const {
  if ((packet.head.flags & pcapng::kPromiscuous) == 0) return false;
  const auto& authors = (packet.head.flags & pcapng::kOutbound) != 0 ? begun_ : sent_;
  const auto known = authors.find(tcp.flow);
  if (known == authors.end()) return false;
  return packet.head.time_ns <= known->second || !flows_.is_new(tcp);
}

// Second pass, in the order of time.
void Merger::write_packet(const Entry& entry) {
  Part& part = parts_[entry.part];
  const auto block = part.file.block_at(entry.at);
  const auto packet = block ? pcapng::read_packet(*block) : std::nullopt;
  const auto tcp = packet ? find_tcp(packet->data) : std::nullopt;
  // The file may have changed since it was read for the first time.
  if (!tcp || packet->head.interface >= part.interfaces.size() || is_known_otherwise(*packet, *tcp)) return;
  pcapng::PacketHead head = packet->head;
  head.interface = part.interfaces[head.interface];
  // These bits told who had captured it, and mean nothing in the whole.
  head.flags &= ~pcapng::kPromiscuous & ~pcapng::kUnicast;
  block_.resize(pcapng::packet_size(head));
  std::byte* const data = pcapng::write_packet(head, block_.data());
  std::memcpy(data, packet->data.data(), packet->data.size());
  flows_.rewrite(*tcp, {data, packet->data.size()});
  write(block_);
  ++result_.packets;
}

void Merger::write_statistics() {
  std::vector<std::byte> blocks;
  for (const auto& [interface, statistics] : statistics_) {
    result_.dropped += statistics.dropped;
    if (statistics.time_ns != 0) pcapng::append_statistics(blocks, statistics);
  }
  write(blocks);
}

MergedCapture Merger::merge() {
  std::vector<std::byte> section;
  pcapng::append_section(section, "softdat run --capture");
  write(section);
  for (std::uint32_t i = 0; i < parts_.size(); ++i) read(i);
  // Packets of one time stay in the order in which their process wrote them.
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.time_ns < b.time_ns; });
  for (const Entry& entry : entries_) write_packet(entry);
  write_statistics();
  flush();
  // Some file systems tell only then that they have no room.
  if (name_ != "-" && ::close(out_.release()) != 0) fail();
  return result_;
}

}  // namespace

MergedCapture merge_captures(const std::vector<std::string>& parts, const std::string& file) {
  return Merger(parts, file).merge();
}

}  // namespace softdat::tools::run
