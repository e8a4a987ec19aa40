// SPDX-License-Identifier: BSD-2-Clause
// PageGuard: pages that the program must not touch now. An access is noted, and the pages become usable, so that the
// program goes on. Findings are told later, because the access may be anywhere, also within malloc().
//
// Any thread. Where the processor is none that base/fault_guard.h knows, nothing is guarded.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/lock_places.h"

namespace softdat::sanitize {

// Bytes of the smallest page that there is. Less than that cannot be guarded.
inline constexpr std::uint64_t kGuardedPage = 4096;

class PageGuard {
 public:
  // The finding that reports a breach. The access is added as its last step.
  using Breach = std::shared_ptr<const Finding>;

  static PageGuard& instance();

  // Guards the whole pages within [address, address + length); none if there is no whole page, or some of them are
  // guarded already.
  void close(std::uint64_t address, std::uint64_t length, const Breach& breach);
  // Ends that for all guarded pages that lie in there or touch it. Whether one of them was accessed.
  bool open(std::uint64_t address, std::uint64_t length);

  // Around a fork. A child has nothing guarded.
  void prepare_for_fork();
  void continue_after_fork(bool is_child);

  // Tells what was noted. Not with a lock of the ledger's.
  void tell_accesses();

 private:
  struct Pages {
    std::uint64_t end = 0;
    Breach breach;
    bool is_touched = false;  // and usable again
  };
  struct Access {
    Breach breach;
    std::uint64_t instruction = 0;
    bool is_write = false;
  };
  // Guards the members, and says so to the signal handler of the same thread.
  class Lock;

  PageGuard();
  static bool on_fault(std::uint64_t address, std::uint64_t instruction, bool is_write, bool is_library);
  bool take_fault(std::uint64_t address, std::uint64_t instruction, bool is_write, bool is_library);
  using PageMap = std::map<std::uint64_t, Pages>;  // by their begin
  // What was guarded there goes into `opened`.
  bool open_locked(std::uint64_t from, std::uint64_t to, PageMap& opened);

  // Its holders allocate and free nothing. A thread may touch a guarded page within malloc() or free(), and its handler
  // then waits for this lock with the locks of the heap. fork() takes those, so the handler does not wait during one.
  base::Mutex<locks::kPageGuard> mutex_;
  std::atomic<bool> is_forking_{false};  // stored with mutex_
  PageMap pages_;
  std::array<Access, 64> accesses_;  // more than that are not told
  std::size_t noted_ = 0;
};

}  // namespace softdat::sanitize
