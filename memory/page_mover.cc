// SPDX-License-Identifier: BSD-2-Clause
#include "memory/page_mover.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/own_threads.h"
#include "memory/shared_file.h"

namespace softdat::memory {
namespace {

// How much stands still at a time.
constexpr std::uint64_t kPiece = std::uint64_t{256} << 10;
constexpr std::uint64_t kPage = 4096;
// Known to newer headers only.
constexpr int kUserModeOnly = 1;      // UFFD_USER_MODE_ONLY
constexpr int kPopulateToWrite = 23;  // MADV_POPULATE_WRITE

// Pieces of this process, by any mover. moves_begun counts a piece before its pages are protected, moves_ended when no
// thread waits for them any more. If both are equal, no move was under way at that moment.
std::atomic<std::uint64_t> moves_begun{0};
std::atomic<std::uint64_t> moves_ended{0};

bool populate(std::uint64_t begin, std::uint64_t length) {
  return ::syscall(SYS_madvise, begin, length, kPopulateToWrite) == 0;
}

// A handler that ran now could store into the very pages that stand still.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    const std::uint64_t all = ~std::uint64_t{0};
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof before_);
  }
  ~AllSignalsBlocked() { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

// Whether the pages, now that nobody stores into them, were copied into the file.
bool copy_to_file(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset) {
  for (std::uint64_t done = 0; done < length;) {
    const long written = ::syscall(SYS_pwrite64, file, begin + done, length - done, offset + done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::uint64_t>(written);
  }
  return true;
}

bool map_over(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset) {
  const long got = ::syscall(SYS_mmap, begin, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset);
  return got == static_cast<long>(begin);
}

// Valgrind has no userfaultfd, and prints four lines for each such call. It preloads libraries of that name.
bool is_in_valgrind() {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_") != nullptr;
}

}  // namespace

bool PageMover::is_able() {
  if (!std::exchange(was_tried_, true) && !open()) faults_.reset();
  return static_cast<bool>(faults_);
}

// Privileged processes have the faults of system calls wait too.
bool PageMover::open() {
  if (is_in_valgrind()) return false;
  for (const int mode : {0, kUserModeOnly}) {
    if (mode == 0 && !may_hold_system_calls_) continue;
    faults_.reset(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | mode)));
    uffdio_api api = {};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
    holds_system_calls_ = mode == 0;
    if (faults_ && ::ioctl(faults_.get(), UFFDIO_API, &api) == 0) return true;
  }
  return false;
}

MoveResult PageMover::move(std::uint64_t begin, std::uint64_t end, int file, std::uint64_t offset, MoveWhen when) {
  base::check(begin < end && begin % kPage == 0 && end % kPage == 0 && offset % kPage == 0, "whole pages move", begin,
              end);
  if (!is_file_size_allowed(offset + (end - begin))) return MoveResult::kFailed;
  for (std::uint64_t at = begin; at < end; at += kPiece) {
    const MoveResult result = move_piece(at, std::min(kPiece, end - at), file, offset + (at - begin), when);
    if (result != MoveResult::kMoved) return result;
  }
  return MoveResult::kMoved;
}

// Protection needs pages that are there; and pages that are there again afterwards spare their users
// a fault each. Who is alone is asked where neither a handler of a signal nor an upcall can change it.
MoveResult PageMover::move_piece(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset,
                                 MoveWhen when) {
  bool is_moved = false;
  {
    const AllSignalsBlocked blocked;
    // Without privileges a system call that stores into a protected page fails with EFAULT. `auto` moves only if no
    // other thread can make one: agents are held back, and the count is taken while they are.
    std::optional<base::TurnsHeld> held;
    if (when == MoveWhen::kHarmless && !holds_system_calls_) {
      held.emplace();
      if (!base::is_consumer_alone()) return MoveResult::kDisturbing;
    }
    if (!watch(begin, length)) return MoveResult::kFailed;
    if (!populate(begin, length)) {
      release(begin, length);
      return MoveResult::kFailed;
    }
    moves_begun.fetch_add(1, std::memory_order_seq_cst);
    is_moved = swap_backing(begin, length, file, offset);
    moves_ended.fetch_add(1, std::memory_order_seq_cst);
  }
  if (!is_moved) return MoveResult::kFailed;
  populate(begin, length);
  return MoveResult::kMoved;
}

// False where a userfaultfd of the program's watches. That is found out before the pages are populated: the program
// could have to supply them, with the very thread that waits for them here.
bool PageMover::watch(std::uint64_t begin, std::uint64_t length) {
  uffdio_register registration = {
      .range = {.start = begin, .len = length}, .mode = UFFDIO_REGISTER_MODE_WP, .ioctls = 0};
  return ::ioctl(faults_.get(), UFFDIO_REGISTER, &registration) == 0;
}

void PageMover::release(std::uint64_t begin, std::uint64_t length) {
  uffdio_range released = {.start = begin, .len = length};
  static_cast<void>(::ioctl(faults_.get(), UFFDIO_UNREGISTER, &released));
}

bool PageMover::swap_backing(std::uint64_t begin, std::uint64_t length, int file, std::uint64_t offset) {
  base::check(static_cast<bool>(faults_), "pages move under a userfaultfd");
  const uffdio_range range = {.start = begin, .len = length};
  uffdio_writeprotect protection = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  // Order matters: writers are stopped, then the bytes are copied, then the file takes the pages' place. Mapping over
  // the range also ends its registration with the userfaultfd, so only sleeping writers remain to be woken.
  const bool is_moved = ::ioctl(faults_.get(), UFFDIO_WRITEPROTECT, &protection) == 0 &&
                        copy_to_file(begin, length, file, offset) && map_over(begin, length, file, offset);
  if (is_moved) {
    uffdio_range waiting = range;
    static_cast<void>(::ioctl(faults_.get(), UFFDIO_WAKE, &waiting));
    return true;
  }
  protection.mode = 0;
  static_cast<void>(::ioctl(faults_.get(), UFFDIO_WRITEPROTECT, &protection));
  release(begin, length);
  return false;
}

// A move is over in some 30 us, if its thread has a processor.
MoveWatch::MoveWatch() : seen_(moves_ended.load(std::memory_order_seq_cst)) {}

// Pairs with the counts in move_piece(), all sequentially consistent: a move that made a system call fail was counted
// as begun before the call returned.
bool MoveWatch::was_disturbed() {
  const std::uint64_t begun = moves_begun.load(std::memory_order_seq_cst);
  if (begun == seen_) return false;
  while (moves_ended.load(std::memory_order_seq_cst) < begun) std::this_thread::yield();
  seen_ = moves_ended.load(std::memory_order_seq_cst);
  return true;
}

}  // namespace softdat::memory
