// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/capture_merge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/pcapng.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/run/capture_flows.h"

namespace softdat::tools::run {
namespace {

namespace pcapng = base::pcapng;

// A file of somebody else's, mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (file < 0 || ::fstat(file, &status) != 0) {
      const int error = errno;
      if (file >= 0) ::close(file);
      throw Failure(fmt::format("cannot read \"{}\": {}", path, std::strerror(error)));
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    const int error = errno;
    ::close(file);
    if (data_ == MAP_FAILED) throw Failure(fmt::format("cannot map \"{}\": {}", path, std::strerror(error)));
  }
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

struct Entry {
  std::uint64_t time_ns = 0;
  std::uint32_t part = 0;
  std::size_t at = 0;  // in the part
};

struct Part {
  explicit Part(const std::string& path) : file(path) {}
  MappedFile file;
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

  const std::string name_;
  std::ofstream out_;
  std::vector<Part> parts_;
  std::vector<Entry> entries_;
  std::map<std::uint32_t, pcapng::Statistics> statistics_;  // the last of each interface of the whole
  std::set<Flow> sent_;                                     // directions whose sender was captured
  std::set<Flow> begun_;  // those towards an initiator that was captured: it wrote the handshake
  CaptureFlows flows_;
  std::vector<std::byte> block_;
  MergedCapture result_{};
};

Merger::Merger(const std::vector<std::string>& parts, const std::string& file)
    : name_(file), out_(file, std::ios::binary | std::ios::trunc) {
  for (const std::string& part : parts) parts_.emplace_back(part);
}

void Merger::write(std::span<const std::byte> bytes) {
  out_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void Merger::read(std::uint32_t number) {
  Part& part = parts_[number];
  std::span<const std::byte> rest = part.file.bytes();
  while (const auto block = pcapng::take_block(rest)) {
    if (const auto interface = pcapng::read_interface(*block)) {
      part.interfaces.push_back(static_cast<std::uint32_t>(statistics_.size()));
      statistics_[part.interfaces.back()] = {.interface = part.interfaces.back()};
      write(block->whole);
    }
    const auto packet = pcapng::read_packet(*block);
    if (packet && packet->head.interface < part.interfaces.size()) {
      note(*packet);
      const auto at = static_cast<std::size_t>(block->whole.data() - part.file.bytes().data());
      entries_.push_back({.time_ns = packet->head.time_ns, .part = number, .at = at});
    }
    auto statistics = pcapng::read_statistics(*block);
    if (statistics && statistics->interface < part.interfaces.size()) {
      statistics->interface = part.interfaces[statistics->interface];
      statistics_[statistics->interface] = *statistics;
    }
  }
}

void Merger::note(const pcapng::Packet& packet) {
  const auto tcp = find_tcp(packet.data);
  if (tcp) flows_.take_ports(*tcp);
  if (!tcp || (packet.head.flags & pcapng::kPromiscuous) == pcapng::kPromiscuous) return;
  ((packet.head.flags & pcapng::kOutbound) != 0 ? sent_ : begun_).insert(tcp->flow);
}

// Whether the packet is a copy of one that its author has captured as well.
bool Merger::is_known_otherwise(const pcapng::Packet& packet, const TcpHeader& tcp) const {
  if ((packet.head.flags & pcapng::kPromiscuous) == 0) return false;
  const bool is_sent = (packet.head.flags & pcapng::kOutbound) != 0;
  return is_sent ? begun_.contains(tcp.flow) : sent_.contains(tcp.flow);
}

void Merger::write_packet(const Entry& entry) {
  Part& part = parts_[entry.part];
  std::span<const std::byte> rest = part.file.bytes().subspan(entry.at);
  const auto block = pcapng::take_block(rest);
  const auto packet = block ? pcapng::read_packet(*block) : std::nullopt;
  const auto tcp = packet ? find_tcp(packet->data) : std::nullopt;
  if (!tcp || is_known_otherwise(*packet, *tcp)) return;
  pcapng::PacketHead head = packet->head;
  head.interface = part.interfaces[head.interface];
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
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.time_ns < b.time_ns; });
  for (const Entry& entry : entries_) write_packet(entry);
  write_statistics();
  out_.close();
  if (!out_) throw Failure(fmt::format("cannot write the capture \"{}\": {}", name_, std::strerror(errno)));
  return result_;
}

}  // namespace

MergedCapture merge_captures(const std::vector<std::string>& parts, const std::string& file) {
  return Merger(parts, file).merge();
}

}  // namespace softdat::tools::run
