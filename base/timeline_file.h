// SPDX-License-Identifier: BSD-2-Clause
// TimelineFile: the events of a process, on their way into its file.
//
// Threads put events into a ring of fixed size, and one thread writes the ring to the file. An event that finds no
// room, or that the file system does not take, is lost and counted: nobody ever waits for the file. The file consists
// of whole packets at any moment, but for the last one of a process that was killed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/piece_file.h"
#include "base/trace_packets.h"

namespace softdat::base {

struct TimelineOptions {
  std::string directory;                             // which gets a file NUMBER.perfetto-trace for each process
  std::size_t ring_size = std::size_t{16384} << 10;  // bytes
  bool has_cpu = false;                              // whether Timeline tells of processor time between calls
};

class TimelineFile final : private PieceWriter::Source {
 public:
  // Throws std::system_error if the file or the thread cannot be made, and std::bad_alloc.
  explicit TimelineFile(TimelineOptions options);
  // Writes what is left, and stops the thread.
  ~TimelineFile();
  TimelineFile(const TimelineFile&) = delete;
  TimelineFile& operator=(const TimelineFile&) = delete;

  // No other process of the same directory has this number; from 0 on.
  std::uint32_t number() const { return file_.number(); }

  // Any thread. A track for the calling thread, or one with this name. Throws std::bad_alloc.
  std::uint32_t add_thread();
  std::uint32_t add_track(std::string name);

  // Any thread. Takes the event, or counts it. Never blocks on the file, allocates nothing.
  void add(const trace::Event& event);
  // As add() of events that there was no memory to make.
  void count_lost(std::uint64_t events);
  // Waits until what has been added so far is written; for some seconds only, as the file system may hang.
  // False: it is not.
  bool flush() { return writer_.flush(); }

  // In the child of a fork, which has no such thread, and whose parent owns the file: add() does nothing from now on.
  void leave_to_parent() { writer_.leave_to_parent(); }

 private:
  struct Track {
    std::uint32_t thread = 0;  // 0: none
    std::string name;
  };

  std::uint32_t add(Track track);
  // PieceWriter::Source.
  Level level_locked() const override;
  void drain(bool is_final) override;
  std::size_t encode(std::span<const trace::Event> events);
  void encode_tracks(std::string& to);
  void tell_lost(std::string& to);

  // Fixed after construction.
  const TimelineOptions options_;
  const std::size_t room_;  // events
  const std::unique_ptr<trace::Event[]> ring_;

  // Guarded by writer_.mutex().
  std::uint64_t head_ = 0;  // number of the next event
  std::uint64_t tail_ = 0;  // number of the oldest event in the ring
  std::vector<Track> tracks_;
  std::uint64_t lost_ = 0;

  // Used by the writing thread alone.
  PieceFile file_;
  std::unique_ptr<trace::Encoder> encoder_;
  std::size_t tracks_written_ = 0;  // that the file has
  std::uint64_t lost_told_ = 0;
  std::string buffer_;
  bool is_begun_ = false;

  PieceWriter writer_{*this};
};

}  // namespace softdat::base
