// SPDX-License-Identifier: BSD-2-Clause
// TimelineFile: the events of a process, on their way into its file.
//
// Threads put events into a ring of fixed size, and one thread writes the ring to the file. An event that finds no
// room, or that the file system does not take, is lost and counted: nobody ever waits for the file. The file consists
// of whole packets at any moment, but for the last one of a process that was killed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/event_count.h"
#include "base/trace_packets.h"
#include "base/unique_fd.h"

namespace softdat::base {

struct TimelineOptions {
  std::string directory;                             // which gets a file NUMBER.perfetto-trace for each process
  std::size_t ring_size = std::size_t{16384} << 10;  // bytes
  bool has_cpu = false;                              // whether Timeline tells of processor time between calls
};

class TimelineFile {
 public:
  // Throws std::system_error if the file or the thread cannot be made, and std::bad_alloc.
  explicit TimelineFile(TimelineOptions options);
  // Writes what is left, and stops the thread.
  ~TimelineFile();
  TimelineFile(const TimelineFile&) = delete;
  TimelineFile& operator=(const TimelineFile&) = delete;

  // No other process of the same directory has this number; from 0 on.
  std::uint32_t number() const { return number_; }

  // Any thread. A track for the calling thread, or one with this name. Throws std::bad_alloc.
  std::uint32_t add_thread();
  std::uint32_t add_track(std::string name);

  // Any thread. Takes the event, or counts it. Never blocks on the file, allocates nothing.
  void add(const trace::Event& event);
  // As add() of events that there was no memory to make.
  void count_lost(std::uint64_t events);
  // Waits until what has been added so far is written; for some seconds only, as the file system may hang.
  void flush();

  // In the child of a fork, which has no such thread, and whose parent owns the file: add() does nothing from now on.
  void leave_to_parent();

 private:
  struct Track {
    std::uint32_t thread = 0;  // 0: none
    std::string name;
  };

  void open_file();
  std::uint32_t add(Track track);
  bool is_there(std::size_t events);
  void await_events();
  void run();
  void drain();
  std::size_t encode(std::span<const trace::Event> events);
  void encode_tracks(std::string& to);
  void tell_lost(std::string& to);
  bool write(const std::string& packets);

  // Fixed after construction.
  const TimelineOptions options_;
  std::uint32_t number_ = 0;
  std::string path_;
  UniqueFd file_;
  const std::size_t room_;  // events
  const std::unique_ptr<trace::Event[]> ring_;

  std::mutex mutex_;        // guards what follows; never held during a system call
  std::uint64_t head_ = 0;  // number of the next event
  std::uint64_t tail_ = 0;  // number of the oldest event in the ring
  std::vector<Track> tracks_;
  std::uint64_t lost_ = 0;
  bool is_of_parent_ = false;
  bool is_ending_ = false;
  std::uint64_t flushes_asked_ = 0;
  std::uint64_t flushes_done_ = 0;

  // Used by the writing thread alone.
  std::unique_ptr<trace::Encoder> encoder_;
  std::uint64_t written_ = 0;       // bytes of the file that are whole packets
  std::size_t tracks_written_ = 0;  // that the file has
  std::uint64_t lost_told_ = 0;
  unsigned idle_turns_ = 0;  // in which nothing came
  std::string buffer_;
  bool is_begun_ = false;
  bool is_trouble_told_ = false;

  EventCount news_;     // the ring is empty no more, after a long time
  EventCount half_;     // the ring is half full
  EventCount flushed_;  // flushes_done_ has grown
  std::thread thread_;
};

}  // namespace softdat::base
