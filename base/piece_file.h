// SPDX-License-Identifier: BSD-2-Clause
// PieceFile and PieceWriter write to a file what the data path has put into a ring: the file, and the thread that
// writes. Captures (simnic/capture/recorder.h) and timelines (base/timeline_file.h) are made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "base/event_count.h"
#include "base/lock_places.h"
#include "base/unique_fd.h"

namespace softdat::base {

// A file that consists of whole pieces at any moment, but for the last one of a process that was killed. One thread at
// a time.
class PieceFile {
 public:
  // Makes DIRECTORY/NUMBER.ENDING with the first number that is free. `loss`: what is logged at the first piece that
  // the file system does not take, before the path and the reason. Throws std::system_error.
  PieceFile(const std::string& directory, const char* ending, const char* loss);
  // Writes to this file; nothing is logged.
  explicit PieceFile(UniqueFd file) : file_(std::move(file)) {}

  // No other process of the same directory has this number; from 0 on.
  std::uint32_t number() const { return number_; }
  const std::string& path() const { return path_; }
  // False, with errno: the file system does not take the piece, and the file has none of it. Raises no signal.
  bool write(std::span<const std::byte> piece);

 private:
  std::uint32_t number_ = 0;
  std::string path_ = "the file";
  UniqueFd file_;
  const char* loss_ = nullptr;  // null: it was logged, or never is
  std::uint64_t written_ = 0;   // bytes of the file that are whole pieces
};

// The thread that empties a ring, and the way to wait for it.
class PieceWriter {
 public:
  // The owner of the ring. Both calls in the thread.
  class Source {
   public:
    // With mutex(). How full the ring is: nothing, something, half or more.
    enum class Level : std::uint8_t { kEmpty, kSome, kHalf };
    virtual Level level_locked() const = 0;
    // Without mutex(). Writes what is there; `is_final`: flush() waits for it, or the writer stops. May throw
    // std::bad_alloc; the next turn tries again.
    virtual void drain(bool is_final) = 0;

   protected:
    ~Source() = default;
  };

  explicit PieceWriter(Source& source) : source_(source) {}
  PieceWriter(const PieceWriter&) = delete;
  PieceWriter& operator=(const PieceWriter&) = delete;

  // Guards the ring; never held during a system call.
  Mutex<locks::kPieceWriter>& mutex() { return mutex_; }
  // Starts the thread, with this name. Throws std::system_error.
  void start(const char* name);
  // Drains once more and ends the thread. The destructor of the source must call it.
  void stop();
  // Any thread, without mutex(): the ring was empty, or is half full, after something was added.
  void wake() { news_.notify(); }
  void hurry() { half_.notify(); }
  // Waits until what has been added so far is drained; for some seconds only, as the file system may hang. False: it
  // is not.
  bool flush();

  // In the child of a fork, which has no such thread, and whose parent owns the file. Another thread of the parent may
  // have held the mutex.
  void leave_to_parent();
  // With mutex().
  bool is_of_parent_locked() const { return is_of_parent_; }

 private:
  bool is_due_locked(Source::Level least) const;
  bool is_due(Source::Level least);
  void await_work();
  void run();

  Source& source_;
  Mutex<locks::kPieceWriter> mutex_;
  // Guarded by mutex_.
  bool is_of_parent_ = false;
  bool is_ending_ = false;
  std::uint64_t flushes_asked_ = 0;
  std::uint64_t flushes_done_ = 0;
  // The thread's.
  unsigned idle_turns_ = 0;  // in which nothing came

  EventCount news_;     // the ring is empty no more, after a long time
  EventCount half_;     // the ring is half full
  EventCount flushed_;  // flushes_done_ has grown
  std::thread thread_;
};

}  // namespace softdat::base
