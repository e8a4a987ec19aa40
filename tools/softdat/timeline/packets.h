// SPDX-License-Identifier: BSD-2-Clause
// Timeline files as bytes: Perfetto's packets, some of them compressed. A file may be cut off or damaged anywhere:
// what cannot be read is left out and counted.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace softdat::tools::timeline {

// The fields of a protobuf message, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  // The next field. False at the end and where the bytes make no sense.
  bool next();
  bool is_broken() const { return is_broken_; }
  std::uint32_t number() const { return number_; }
  std::uint64_t value() const { return value_; }     // of a number
  std::string_view bytes() const { return bytes_; }  // of a text or message; else empty
  bool has_bytes() const { return has_bytes_; }

 private:
  bool take_varint(std::uint64_t& value);
  bool take_fixed(std::size_t size);
  bool fail();

  std::string_view rest_;
  std::uint32_t number_ = 0;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
  bool has_bytes_ = false;
  bool is_broken_ = false;
};

struct ReadResult {
  std::uint64_t packets = 0;
  std::uint64_t broken = 0;  // packets that make no sense
  bool is_cut_off = false;   // the end of the file is missing, or is no timeline
};

// Calls `take` with each packet of the file. Failure when the file cannot be opened, or is no regular file. It is read
// to its end with little memory.
ReadResult read_packets(const std::string& path, const std::function<void(std::string_view)>& take);

// Writes a compressed file, packet by packet. Failure when it cannot be written.
class PacketFile {
 public:
  // Empties the file.
  explicit PacketFile(const std::string& path);
  ~PacketFile();
  void add(std::string_view packet);
  void finish();

 private:
  void compress();
  void check(bool is_written) const;

  const std::string path_;
  std::FILE* file_;
  std::string gathered_;
  std::string compressed_;
};

}  // namespace softdat::tools::timeline
