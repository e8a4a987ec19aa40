// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/timeline/packets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/trace_packets.h"
#include "base/unique_fd.h"
#include "tools/softdat/dat_call.h"

namespace softdat::tools::timeline {
namespace {

namespace field = base::trace::field;

constexpr std::size_t kMostPacket = std::size_t{64} << 20;
constexpr std::size_t kMostInflated = std::size_t{256} << 20;
constexpr std::size_t kGathered = std::size_t{1} << 20;
constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr int kFast = 3;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// Empty if the bytes are no zlib stream, or become more than any of ours.
// Bounded, because a small damaged stream may inflate to any size.
std::string inflate_all(std::string_view bytes) {
  z_stream stream = {};
  if (::inflateInit(&stream) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() < kMostInflated) {
    const std::size_t before = out.size();
    out.resize(before + kPiece);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = kPiece;
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(before + kPiece - stream.avail_out);
    if (stream.avail_in == 0 && stream.avail_out != 0 && state != Z_STREAM_END) break;
  }
  ::inflateEnd(&stream);
  return state == Z_STREAM_END ? out : std::string();
}

// Packets within a compressed one are a Trace of their own; they are not compressed again.
void take_packet(std::string_view packet, bool may_be_compressed, ReadResult& result,
                 const std::function<void(std::string_view)>& take) {
  ++result.packets;
  Fields fields(packet);
  if (!fields.next() || fields.number() != field::kCompressed || !fields.has_bytes()) return take(packet);
  --result.packets;
  const std::string inner = may_be_compressed ? inflate_all(fields.bytes()) : std::string();
  if (inner.empty()) {
    ++result.broken;
    return;
  }
  Fields packets(inner);
  while (packets.next()) {
    if (packets.number() == field::kPacket && packets.has_bytes()) take_packet(packets.bytes(), false, result, take);
  }
  if (packets.is_broken()) ++result.broken;
}

File open_to_read(const std::string& path) {
  const auto failure = [&] {
    return Failure(fmt::format("cannot read the timeline \"{}\": {}", path, std::strerror(errno)));
  };
  // Without O_NONBLOCK a FIFO without a writer would keep us here.
  base::UniqueFd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) throw failure();
  if (!S_ISREG(status.st_mode)) throw Failure(fmt::format("\"{}\" is no timeline: it is no regular file", path));
  File file(::fdopen(descriptor.get(), "rb"), &std::fclose);
  if (!file) throw failure();
  static_cast<void>(descriptor.release());
  return file;
}

class Source {
 public:
  explicit Source(const std::string& path) : file_(open_to_read(path)) {}

  // False at the end.
  bool take_varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const int byte = std::getc(file_.get());
      if (byte == EOF) return false;
      value |= std::uint64_t{static_cast<unsigned>(byte) & 0x7f} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool is_at_end() {
    const int byte = std::getc(file_.get());
    if (byte != EOF) std::ungetc(byte, file_.get());
    return byte == EOF;
  }
  // Memory grows with what is there, not with what the file says.
  bool take(std::uint64_t size, std::string& to) {
    to.clear();
    while (to.size() < size) {
      const std::size_t before = to.size();
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size - before));
      to.resize(before + part);
      if (std::fread(to.data() + before, 1, part, file_.get()) != part) return false;
    }
    return true;
  }

 private:
  File file_;
};

}  // namespace

bool Fields::fail() {
  is_broken_ = true;
  return false;
}

bool Fields::take_varint(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return fail();
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return fail();
}

bool Fields::take_fixed(std::size_t size) {
  if (rest_.size() < size) return fail();
  value_ = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value_ |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  }
  rest_.remove_prefix(size);
  return true;
}

// The encoding of protocol buffers: a key has the field's number above three bits of wire type.
bool Fields::next() {
  if (rest_.empty() || is_broken_) return false;
  std::uint64_t key = 0;
  if (!take_varint(key) || key >> 3 == 0 || key >> 32 != 0) return fail();
  number_ = static_cast<std::uint32_t>(key >> 3);
  has_bytes_ = (key & 7) == 2;
  bytes_ = {};
  switch (key & 7) {
    case 0:
      return take_varint(value_);
    case 1:
      return take_fixed(8);
    case 2:
      if (!take_varint(value_) || value_ > rest_.size()) return fail();
      bytes_ = rest_.substr(0, static_cast<std::size_t>(value_));
      rest_.remove_prefix(static_cast<std::size_t>(value_));
      return true;
    case 5:
      return take_fixed(4);
    default:
      return fail();
  }
}

// A file that was cut off is read as far as it goes, and told of.
ReadResult read_packets(const std::string& path, const std::function<void(std::string_view)>& take) {
  Source source(path);
  ReadResult result;
  std::string packet;
  while (!source.is_at_end()) {
    std::uint64_t key = 0, size = 0;
    const bool is_packet =
        source.take_varint(key) && key == (field::kPacket << 3 | 2) && source.take_varint(size) && size <= kMostPacket;
    if (!is_packet || !source.take(size, packet)) {
      result.is_cut_off = true;
      break;
    }
    take_packet(packet, true, result, take);
  }
  return result;
}

PacketFile::PacketFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wbe")) {
  check(file_ != nullptr);
}

PacketFile::~PacketFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void PacketFile::check(bool is_written) const {
  if (!is_written) {
    throw Failure(fmt::format("cannot write the timeline \"{}\": {}", path_, std::strerror(errno)));
  }
}

// Gathers packets and writes them compressed, as Perfetto's own files are.
void PacketFile::add(std::string_view packet) {
  base::trace::put_bytes(gathered_, field::kPacket, packet);
  if (gathered_.size() >= kGathered) compress();
}

void PacketFile::compress() {
  if (gathered_.empty()) return;
  uLongf size = ::compressBound(static_cast<uLong>(gathered_.size()));
  compressed_.resize(size);
  const int state =
      ::compress2(reinterpret_cast<Bytef*>(compressed_.data()), &size, reinterpret_cast<const Bytef*>(gathered_.data()),
                  static_cast<uLong>(gathered_.size()), kFast);
  if (state != Z_OK) throw Failure(fmt::format("cannot compress the timeline \"{}\": zlib says {}", path_, state));
  std::string packet, whole;
  base::trace::put_bytes(packet, field::kCompressed, {compressed_.data(), size});
  base::trace::put_bytes(whole, field::kPacket, packet);
  check(std::fwrite(whole.data(), 1, whole.size(), file_) == whole.size());
  gathered_.clear();
}

void PacketFile::finish() {
  compress();
  std::FILE* const file = std::exchange(file_, nullptr);
  check(std::fclose(file) == 0);
}

}  // namespace softdat::tools::timeline
