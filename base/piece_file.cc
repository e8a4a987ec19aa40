// SPDX-License-Identifier: BSD-2-Clause
#include "base/piece_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/own_threads.h"
#include "base/quiet_write.h"

namespace softdat::base {
namespace {

constexpr std::uint32_t kMostProcesses = 1u << 20;
// So long things gather, unless the ring is half full before.
constexpr Duration kGatherTime = std::chrono::milliseconds(5);
// After so many turns without anything the thread sleeps until there is something.
constexpr unsigned kIdleTurns = 20;
constexpr std::chrono::seconds kPatience{3};

}  // namespace

PieceFile::PieceFile(const std::string& directory, const char* ending, const char* loss) : loss_(loss) {
  for (; number_ < kMostProcesses; ++number_) {
    char name[24];
    std::snprintf(name, sizeof name, "/%06u.", number_);
    path_ = directory + name + ending;
    // O_EXCL: processes of one run share the directory, and each takes the first number that is free.
    file_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_) return;
    if (errno != EEXIST) break;
  }
  throw std::system_error(errno, std::generic_category(), path_);
}

bool PieceFile::write(std::span<const std::byte> piece) {
  std::size_t done = 0;
  while (done < piece.size()) {
    const ssize_t wrote = quiet_pwrite(file_.get(), piece.subspan(done), static_cast<off_t>(written_ + done));
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      const int error = wrote == 0 ? ENOSPC : errno;
      if (const char* const loss = std::exchange(loss_, nullptr)) {
        log(LogLevel::kWarning, "%s: %s: %s", loss, path_.c_str(), std::strerror(error));
      }
      // Cut off the part of the piece that was written, so that the file ends with a whole piece.
      static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(written_)));
      errno = error;
      return false;
    }
  }
  written_ += piece.size();
  return true;
}

void PieceWriter::start(const char* name) {
  check(!thread_.joinable(), "a writer is started once");
  thread_ = start_own_thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), name);
}

// The writer drains the ring once more before it ends.
void PieceWriter::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  news_.notify();
  half_.notify();
  if (thread_.joinable()) thread_.join();
}

void PieceWriter::leave_to_parent() {
  // In a child made by fork(): the thread that held the mutex, if any, does not exist here.
  new (&mutex_) Mutex<locks::kPieceWriter>;
  is_of_parent_ = true;
}

bool PieceWriter::is_due_locked(Source::Level least) const {
  require_lock(locks::kPieceWriter);
  SOFTDAT_DEBUG_CHECK(flushes_done_ <= flushes_asked_, "a flush is done after it was asked for", flushes_done_,
                      flushes_asked_);
  return is_ending_ || flushes_asked_ != flushes_done_ || source_.level_locked() >= least;
}

bool PieceWriter::is_due(Source::Level least) {
  const std::lock_guard lock(mutex_);
  return is_due_locked(least);
}

// While pieces come, this thread wakes up by time: a producer that woke it would often lose its processor to it.
void PieceWriter::await_work() {
  idle_turns_ = is_due(Source::Level::kSome) ? 0 : idle_turns_ + 1;
  if (idle_turns_ > kIdleTurns) {
    const auto news = news_.prepare();
    if (is_due(Source::Level::kSome)) {
      news_.cancel();
    } else {
      news_.wait(news, kNever);
    }
    idle_turns_ = 0;
  }
  // Things gather for 5 ms or until the ring is half full: one write for many events.
  const auto half = half_.prepare();
  if (is_due(Source::Level::kHalf)) {
    half_.cancel();
  } else {
    half_.wait(half, deadline_after(Clock::now(), kGatherTime));
  }
}

void PieceWriter::run() {
  for (bool is_over = false; !is_over;) {
    await_work();
    std::uint64_t asked = 0;
    bool is_final = false;
    {
      const std::lock_guard lock(mutex_);
      asked = flushes_asked_;
      is_over = is_ending_;
      is_final = is_over || asked != flushes_done_;
    }
    try {
      source_.drain(is_final);
    } catch (const std::bad_alloc&) {
      // The next turn may have memory.
    }
    {
      const std::lock_guard lock(mutex_);
      // Even if drain() failed: flush() must not wait for memory that may never come.
      flushes_done_ = asked;
    }
    flushed_.notify();
  }
}

bool PieceWriter::flush() {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (is_of_parent_) return true;  // nothing of this process
    number = ++flushes_asked_;
  }
  news_.notify();
  half_.notify();
  const Time deadline = deadline_after(Clock::now(), kPatience);
  while (Clock::now() < deadline) {
    const auto ticket = flushed_.prepare();
    {
      const std::lock_guard lock(mutex_);
      if (flushes_done_ >= number) {
        flushed_.cancel();
        return true;
      }
    }
    flushed_.wait(ticket, deadline);
  }
  return false;
}

}  // namespace softdat::base
