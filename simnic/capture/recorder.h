// SPDX-License-Identifier: BSD-2-Clause
// Recorder: the packets that a process captures, on their way into its file.
//
// The data path copies each packet into a ring of fixed size, and one thread writes the ring to the file. A packet that
// finds no room, or that the file system does not take, is dropped and counted: the data path never waits for the file.
// docs/decisions/0025-captures.md gives the reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/event_count.h"
#include "base/pcapng.h"
#include "base/piece_file.h"
#include "base/unique_fd.h"
#include "transport/message.h"

namespace softdat::simnic::capture {

struct RecorderOptions {
  std::string directory;               // which gets a file NUMBER.pcapng for each process
  std::size_t snap_length = SIZE_MAX;  // of the payload of each segment, for those who make packets
  std::size_t ring_size = std::size_t{64} << 20;
};

// One captured packet.
struct Record {
  base::pcapng::PacketHead head{};              // without captured and original
  std::span<const std::byte> front{};           // its headers
  std::span<const transport::Slice> payload{};  // perhaps of the consumer's; what cannot be read becomes zeros
  std::size_t payload_length = 0;               // as the headers say; if `payload` is less, the packet is cut there
  std::size_t back = 0;                         // zeros behind the payload
  std::size_t hidden = 0;                       // bytes that the packet had beside all these
};

class Recorder final : private base::PieceWriter::Source {
 public:
  // The recorder of this process, made by the first call; lives as long as the process. Null: SOFTDAT_CAPTURE is not
  // set, or the file cannot be created, which is logged once.
  static Recorder* of_process();

  // Throws std::system_error if the file or the thread cannot be made, and std::bad_alloc.
  explicit Recorder(RecorderOptions options);
  // Writes to this file, whose owner is told of nothing but the statistics in it. Throws as well.
  Recorder(base::UniqueFd file, RecorderOptions options);
  // Writes what is left, and stops the thread. Waits for the file system.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // An adapter that captures; its number for PacketHead::interface. Throws std::bad_alloc.
  std::uint32_t add_interface(std::string_view name, std::string_view description);
  // The number of this process in the capture, from 0 on; no two processes have the same.
  std::uint32_t number() const { return file_.number(); }
  std::size_t snap_length() const { return options_.snap_length; }

  // Takes the packet, or drops and counts it. Any thread. Never blocks on the file, allocates nothing.
  void add(const Record& record);
  void count_drop(std::uint32_t interface);
  // Waits until what has been added so far is written, with statistics; for some seconds only, as the file system may
  // hang. False: it is not.
  bool flush() { return writer_.flush(); }

 private:
  struct Counts {
    std::uint64_t received = 0;
    std::uint64_t dropped = 0;
    std::uint64_t told = 0;  // dropped, as the last statistics in the file say
  };

  friend void forget_in_child();

  void begin();
  std::byte* reserve(std::size_t size);
  std::size_t used() const;
  // PieceWriter::Source.
  Level level_locked() const override;
  void drain(bool is_final) override;
  void count_lost(std::span<const std::byte> blocks);
  std::vector<std::byte> statistics(bool is_final);

  // Fixed after construction.
  const RecorderOptions options_;
  const std::unique_ptr<std::byte[]> ring_;

  // Guarded by writer_.mutex().
  std::size_t head_ = 0;               // where the next packet goes
  std::size_t tail_ = 0;               // the oldest packet; equal to head_: none
  std::size_t wrap_ = 0;               // with head_ < tail_: where the packets at the end of the ring end
  std::vector<std::byte> interfaces_;  // blocks, one for each element of counts_
  std::vector<Counts> counts_;

  // Used by the writing thread alone.
  base::PieceFile file_;
  std::size_t interfaces_written_ = 0;  // bytes of interfaces_ that the file has

  base::PieceWriter writer_{*this};
};

}  // namespace softdat::simnic::capture
