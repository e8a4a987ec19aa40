// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/page_guard.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/fault_guard.h"
#include "base/made_once.h"

namespace softdat::sanitize {
namespace {

const std::uint64_t page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));

thread_local constinit bool t_is_inside = false;
// Whether there is something to tell.
constinit std::atomic<bool> has_accesses{false};

// False: there are no such pages.
bool set_usable(std::uint64_t from, std::uint64_t to, bool is_usable) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return ::mprotect(reinterpret_cast<void*>(from), to - from, is_usable ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

// Another thread may have opened the page meanwhile, and then the access succeeds when it is tried again.
bool may_be_open(std::uint64_t address) {
  constexpr unsigned kTries = 3;
  thread_local constinit std::uint64_t t_last = 0;
  thread_local constinit unsigned t_tries = 0;
  if (std::exchange(t_last, address) != address) t_tries = 0;
  return t_tries++ < kTries;
}

}  // namespace

class PageGuard::Lock {
 public:
  explicit Lock(PageGuard& guard) : lock_(guard.mutex_) { t_is_inside = true; }
  Lock(PageGuard& guard, std::adopt_lock_t taken) : lock_(guard.mutex_, taken) { t_is_inside = true; }
  ~Lock() { t_is_inside = false; }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  const std::lock_guard<base::Mutex<locks::kPageGuard>> lock_;
};

PageGuard::PageGuard() {
  base::install_fault_guard();
  base::set_fault_watcher(on_fault);
}

PageGuard& PageGuard::instance() {
  static constinit std::atomic<PageGuard*> guard{nullptr};  // used until the very end of the process
  return base::made_once(guard, [] { return std::unique_ptr<PageGuard>(new PageGuard); });
}

// Rounds inwards, because pages at the ends hold other data, too.
void PageGuard::close(std::uint64_t address, std::uint64_t length, const Breach& breach) {
  const std::uint64_t from = (address + page_size - 1) / page_size * page_size;
  const std::uint64_t to = (address + length) / page_size * page_size;
  if (from >= to || !base::can_watch_faults()) return;
  SOFTDAT_DEBUG_CHECK(breach != nullptr, "an access to closed pages has words");
  PageMap fresh;
  fresh[from] = {.end = to, .breach = breach};
  const Lock lock(*this);
  const auto after = pages_.lower_bound(to);
  // A page has one breach: a range that overlaps another one is left alone.
  if (after != pages_.begin() && std::prev(after)->second.end > from) return;
  pages_.merge(fresh);
  set_usable(from, to, false);
}

bool PageGuard::open(std::uint64_t address, std::uint64_t length) {
  PageMap opened;  // freed without the lock
  const Lock lock(*this);
  return open_locked(address, address + length, opened);
}

void PageGuard::prepare_for_fork() {
  mutex_.lock();
  is_forking_.store(true, std::memory_order_release);
}

void PageGuard::continue_after_fork(bool is_child) {
  base::require_lock(locks::kPageGuard);
  PageMap opened;
  if (is_child) static_cast<void>(open_locked(0, UINT64_MAX, opened));
  is_forking_.store(false, std::memory_order_release);
  mutex_.unlock();
}

bool PageGuard::open_locked(std::uint64_t from, std::uint64_t to, PageMap& opened) {
  base::require_lock(locks::kPageGuard);
  bool is_touched = false;
  auto found = pages_.lower_bound(to);
  while (found != pages_.begin()) {
    --found;
    if (found->second.end <= from) break;
    is_touched = is_touched || found->second.is_touched;
    set_usable(found->first, found->second.end, true);
    const auto next = std::next(found);
    opened.insert(pages_.extract(found));
    found = next;
  }
  return is_touched;
}

// In a signal handler: allocates nothing.
bool PageGuard::on_fault(std::uint64_t address, std::uint64_t instruction, bool is_write, bool is_library) {
  return instance().take_fault(address, instruction, is_write, is_library);
}

bool PageGuard::take_fault(std::uint64_t address, std::uint64_t instruction, bool is_write, bool is_library) {
  // This thread holds the lock already, so the fault is none of the program's.
  if (t_is_inside) return false;
  while (!mutex_.try_lock()) {
    // The access is not noted then.
    const std::uint64_t page = address / page_size * page_size;
    if (is_forking_.load(std::memory_order_acquire)) return set_usable(page, page + page_size, true);
    ::sched_yield();
  }
  const Lock lock(*this, std::adopt_lock);
  auto found = pages_.upper_bound(address);
  if (found == pages_.begin() || (--found)->second.end <= address || found->second.is_touched) {
    return may_be_open(address);
  }
  if (!is_library && noted_ < accesses_.size()) {
    accesses_[noted_++] = {.breach = found->second.breach, .instruction = instruction, .is_write = is_write};
    has_accesses.store(true, std::memory_order_release);
  }
  set_usable(found->first, found->second.end, true);
  found->second.is_touched = true;
  return true;
}

void PageGuard::tell_accesses() {
  if (!has_accesses.load(std::memory_order_acquire)) return;
  std::vector<Access> noted;
  noted.reserve(accesses_.size());
  {
    const Lock lock(*this);
    base::check(noted_ <= accesses_.size(), "accesses that were noted have room", noted_);
    for (std::size_t i = 0; i < noted_; ++i) noted.push_back(std::move(accesses_[i]));
    noted_ = 0;
    has_accesses.store(false, std::memory_order_relaxed);
  }
  for (const Access& access : noted) {
    Finding finding = *access.breach;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* const place = reinterpret_cast<const void*>(access.instruction + 1);
    finding.steps.push_back({access.is_write ? "written" : "read", {kAccess, place}});
    report(finding);
  }
}

}  // namespace softdat::sanitize
