// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/handle_table.h"

#include <sys/mman.h>

#include <array>
#include <new>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/call.h"
#include "base/event_count.h"
#include "base/forks.h"
#include "base/prefetch.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::object {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 22;
constexpr std::size_t kFewestCells = std::size_t{1} << 14;
constexpr std::size_t kChunkBytes = std::size_t{1} << 16;
// A freed handle is not given out again before this many others were, as long as there are new ones: programs use
// stale ones.
constexpr std::size_t kCellsAtRest = std::size_t{1} << 14;

// Closers wait here for the last pin. One for all: closing is rare, and waiters look again.
constinit base::EventCount g_unpinned;

}  // namespace

constinit HandleTable HandleTable::table_;

// When the library is loaded: a child must find the handler however early in its parent's life it was made.
void HandleTable::follow_forks() {
  base::on_fork({.in_child = start_afresh_in_child});
}

bool Cell::try_pin_any() {
  // A stale handle is refused without a write to the cell.
  if ((word_.load(std::memory_order_relaxed) & kLive) == 0) return false;
  if ((word_.fetch_add(1, std::memory_order_acquire) & kLive) != 0) return true;
  unpin();
  return false;
}

void Cell::tell_closer() {
  g_unpinned.notify();
}

void Cell::wait_for_last_pin() {
  const auto is_last = [this] {
    const std::uint64_t pins = word_.load(std::memory_order_seq_cst) & kPins;
    base::check(pins != 0, "the thread that closes an object keeps its own pin until the others have gone");
    return pins == 1;
  };
  while (!is_last()) {
    const auto ticket = g_unpinned.prepare();
    if (is_last()) {
      g_unpinned.cancel();
    } else {
      g_unpinned.wait(ticket, base::kNever);
    }
  }
}

// Takes it once: a call that takes it afterwards finds the cell not live.
void Cell::wait_for_light_pin() {
  for (base::Backoff backoff; has_light_pin_.exchange(true, std::memory_order_acq_rel);) backoff.wait();
  drop_light_pin();
}

// One of several closers wins. No pin is granted from here on.
bool Cell::begin_closing() {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while ((word & kLive) != 0) {
    const std::uint64_t closing = (word & ~kLive) | kClosing;
    if (word_.compare_exchange_weak(word, closing, std::memory_order_acq_rel)) return true;
  }
  return false;
}

Pin<Object> HandleTable::pin_any(const void* handle) {
  Cell* cell = find(handle);
  return cell != nullptr && cell->try_pin_any() ? Pin<Object>(cell) : Pin<Object>();
}

bool HandleTable::add(const std::shared_ptr<Object>& object, const void* provider_table) {
  Cell* cell = nullptr;
  {
    std::lock_guard lock(mutex_);
    cell = take_cell_locked();
  }
  if (cell == nullptr) return false;
  base::check(cell->object_ == nullptr, "a free cell owns no object");
  SOFTDAT_DEBUG_CHECK(object->handle() == nullptr, "an object gets one handle in its life");
  in_use_.fetch_add(1, std::memory_order_relaxed);
  cell->provider_table_.store(provider_table, std::memory_order_relaxed);
  cell->object_ = object;
  cell->maker_.store(nullptr, std::memory_order_relaxed);
  object->handle_.store(cell, std::memory_order_relaxed);
  return true;
}

void HandleTable::publish(Object& object) {
  auto* cell = static_cast<Cell*>(object.handle());
  SOFTDAT_DEBUG_CHECK(cell->object_.get() == &object, "the cell of a handle owns the object until the handle ends");
  const std::uint64_t word = cell->word_.fetch_or(Cell::bits_of(object.kind()), std::memory_order_release);
  SOFTDAT_DEBUG_CHECK((word & ~Cell::kPins) == 0, "publish() comes once, after add() and before close()", word);
}

void HandleTable::note_maker(const Object& object, const void* maker) {
  auto* const cell = static_cast<Cell*>(object.handle());
  SOFTDAT_DEBUG_CHECK((cell->word_.load(std::memory_order_relaxed) & Cell::kLive) == 0,
                      "the maker is noted before the object can be found");
  cell->maker_.store(maker, std::memory_order_relaxed);
}

void HandleTable::abandon(Object& object) {
  auto* const cell = static_cast<Cell*>(object.handle());
  SOFTDAT_DEBUG_CHECK(cell->object_.get() == &object, "the cell of a handle owns the object until the handle ends");
  cell->last_kind_.store(Cell::kNoKind, std::memory_order_relaxed);
  give_back(*cell);
}

bool HandleTable::close(Pin<Object> pin) {
  Cell& cell = *static_cast<Cell*>(pin->handle());
  SOFTDAT_DEBUG_CHECK(cell.object_.get() == pin.get(), "a pin is of the cell that its object names");
  if (!cell.begin_closing()) return false;
  const std::shared_ptr<Object> object = cell.object_;
  // Wakes threads that block in a call: they hold pins.
  object->on_closing();
  cell.wait_for_last_pin();
  cell.wait_for_light_pin();
  if (has_exclusive_calls(object->kind())) {  // waits for the one that is under way
    const std::lock_guard no_call(cell.lock_);
  }
  // No call uses the object any more. Sinks may, until detach() returns.
  object->detach();
  object->ia().forget(*object);
  object->ia().counters().add_freed(object->kind());
  cell.last_kind_.store(static_cast<std::uint8_t>(object->kind()), std::memory_order_relaxed);
  cell.freer_.store(base::calling_place(), std::memory_order_relaxed);
  pin.reset();
  // The handle may be given out again, after its rest.
  give_back(cell);
  return true;
}

HandleHistory HandleTable::history(const void* handle) {
  using enum HandleHistory::State;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(handle) - parents_begin_;
  const bool is_parents = offset < parents_size_ && offset % sizeof(Cell) == 0;
  const Cell* const cell = is_parents ? static_cast<const Cell*>(handle) : find(handle);
  if (cell == nullptr) return {};
  const std::uint64_t word = cell->word_.load(std::memory_order_relaxed);
  const bool is_live = (word & Cell::kLive) != 0;
  const auto kind = is_live ? static_cast<std::uint8_t>(word >> 32) : cell->last_kind_.load(std::memory_order_relaxed);
  if (kind >= kKindCount) return {};
  HandleHistory history{.state = is_live ? kLive : kFreed,
                        .kind = static_cast<Kind>(kind),
                        .maker = cell->maker_.load(std::memory_order_relaxed),
                        .freer = is_live ? nullptr : cell->freer_.load(std::memory_order_relaxed)};
  if (is_parents) history.state = kParents;
  return history;
}

// Pins of callers with a stale handle may come and go at any time, so the word is never stored.
void HandleTable::give_back(Cell& cell) {
  SOFTDAT_DEBUG_CHECK((cell.word_.load(std::memory_order_relaxed) & Cell::kLive) == 0,
                      "an object that can be found is closed first");
  cell.object_.reset();
  cell.word_.fetch_and(Cell::kPins, std::memory_order_release);
  [[maybe_unused]] const std::size_t in_use = in_use_.fetch_sub(1, std::memory_order_relaxed);
  SOFTDAT_DEBUG_CHECK(in_use > 0, "a cell that is given back was counted as in use");
  std::lock_guard lock(mutex_);
  rest_locked(cell);
}

// The list of freed cells: both ends are there, or neither, and the newest is its end.
void HandleTable::check_resting_locked() const {
  base::require_lock(locks::kHandleTable);
  SOFTDAT_DEBUG_CHECK((oldest_resting_ == nullptr) == (resting_cells_ == 0), "the oldest freed cell is there if any is",
                      resting_cells_);
  SOFTDAT_DEBUG_CHECK((newest_resting_ == nullptr) == (resting_cells_ == 0), "the newest freed cell is there if any is",
                      resting_cells_);
  SOFTDAT_DEBUG_CHECK(newest_resting_ == nullptr || newest_resting_->next_resting_ == nullptr,
                      "no freed cell comes after the newest");
  SOFTDAT_DEBUG_CHECK(resting_cells_ * sizeof(Cell) <= used_, "a freed cell has been a handle", resting_cells_, used_);
}

void HandleTable::rest_locked(Cell& cell) {
  check_resting_locked();
  SOFTDAT_DEBUG_CHECK(&cell != newest_resting_, "a cell is freed once");
  cell.next_resting_ = nullptr;
  (newest_resting_ == nullptr ? oldest_resting_ : newest_resting_->next_resting_) = &cell;
  newest_resting_ = &cell;
  ++resting_cells_;
}

Cell* HandleTable::take_cell_locked() {
  check_resting_locked();
  if (reserved_ == 0) reserve_locked();
  if (resting_cells_ < kCellsAtRest) {
    if (Cell* cell = take_new_locked()) return cell;
  }
  Cell* cell = oldest_resting_;
  if (cell == nullptr) return nullptr;
  oldest_resting_ = cell->next_resting_;
  if (oldest_resting_ == nullptr) newest_resting_ = nullptr;
  // The next call takes this cell, which is in no cache after its rest.
  base::prefetch_to_write(oldest_resting_);
  --resting_cells_;
  return cell;
}

Cell* HandleTable::take_new_locked() {
  base::require_lock(locks::kHandleTable);
  if (used_ == range_.size.load(std::memory_order_relaxed) && !commit_chunk_locked()) return nullptr;
  SOFTDAT_DEBUG_CHECK(used_ < range_.size.load(std::memory_order_relaxed), "a new cell lies in committed memory",
                      used_);
  const std::uintptr_t place = range_.begin.load(std::memory_order_relaxed) + used_;
  used_ += sizeof(Cell);
  return reinterpret_cast<Cell*>(place);  // NOLINT(performance-no-int-to-ptr): a cell of the range.
}

// Another thread of the parent may have held the lock: so all of it begins anew, and of what was only the atomics of
// the cells are looked at (history()). The old range stays mapped; no handle to come is mistaken for one of the
// parent's.
void HandleTable::start_afresh_in_child() {
  const std::uintptr_t begin = table_.range_.begin.load(std::memory_order_relaxed);
  const std::size_t size = table_.range_.size.load(std::memory_order_relaxed);
  new (&table_) HandleTable;
  table_.parents_begin_ = begin;
  table_.parents_size_ = size;
}

// Address space only; a process whose address space is limited gets fewer handles.
void HandleTable::reserve_locked() {
  base::require_lock(locks::kHandleTable);
  for (std::size_t cells = kMostCells; cells >= kFewestCells; cells /= 2) {
    void* range = ::mmap(nullptr, cells * sizeof(Cell), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    range_.begin.store(reinterpret_cast<std::uintptr_t>(range), std::memory_order_relaxed);
    reserved_ = cells * sizeof(Cell);
    return;
  }
}

bool HandleTable::commit_chunk_locked() {
  base::require_lock(locks::kHandleTable);
  const std::size_t committed = range_.size.load(std::memory_order_relaxed);
  SOFTDAT_DEBUG_CHECK(used_ == committed, "all cells have been handles before more are made", used_, committed);
  if (committed + kChunkBytes > reserved_) return false;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the range's own bytes.
  auto* chunk = reinterpret_cast<std::byte*>(range_.begin.load(std::memory_order_relaxed)) + committed;
  // Only now does the chunk take memory.
  if (::mprotect(chunk, kChunkBytes, PROT_READ | PROT_WRITE) != 0) return false;
  for (std::size_t at = 0; at < kChunkBytes; at += sizeof(Cell)) new (chunk + at) Cell;
  // A reader that sees the new size sees the cells.
  range_.size.store(committed + kChunkBytes, std::memory_order_release);
  return true;
}

const char* name_of(Kind kind) {
  constexpr std::array<const char*, kKindCount> kNames{"CR",  "EP",  "EVD", "IA",  "LMR", "PSP",           "PZ",
                                                       "RMR", "RSP", "CNO", "SRQ", "CSP", "address handle"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace softdat::object
