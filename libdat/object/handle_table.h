// SPDX-License-Identifier: BSD-2-Clause
// Handles: addresses of cells that outlive every mistake made with them. A cell's first word is the
// provider's function table, because stock registries dispatch through it; it keeps its value when
// the object is freed, so that a stale handle still reaches us and is refused.
//
// Cell::word_ is the only word that several threads write at once: pins (low half) by every pin()
// and unpin(); the kind and the live bit by add() and by whoever closes, always by read-modify-write.
// A pin taken while the live bit was set (acquire) sees what add() stored before (release).
//
// A child process made by fork() starts with an empty table: the objects are its parent's, whose
// sockets and shared memory it would disturb, and none of the threads that serve them are with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/handle_range.h"
#include "libdat/object/object.h"

namespace softdat::object {

class alignas(64) Cell {
 public:
  Object* object() const { return object_.get(); }

  // True when the cell was live and of that kind; then it is pinned until unpin().
  bool try_pin(Kind kind) {
    if (!is_live_as(word_.load(std::memory_order_relaxed), kind)) return false;
    if (is_live_as(word_.fetch_add(1, std::memory_order_acquire), kind)) return true;
    unpin();
    return false;
  }
  bool try_pin_any();
  void unpin() {
    if ((word_.fetch_sub(1, std::memory_order_seq_cst) & kClosing) != 0) tell_closer();
  }

 private:
  friend class HandleTable;
  static constexpr std::uint64_t kLive = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kClosing = std::uint64_t{1} << 41;
  static constexpr std::uint64_t kPins = 0xffffffff;
  static constexpr std::uint64_t bits_of(Kind kind) { return kLive | (static_cast<std::uint64_t>(kind) << 32); }
  static bool is_live_as(std::uint64_t word, Kind kind) { return (word & ~kPins) == bits_of(kind); }
  [[gnu::cold, gnu::noinline]] void tell_closer();
  void wait_for_last_pin();
  bool begin_closing();

  std::atomic<const void*> provider_table_{nullptr};
  std::atomic<std::uint64_t> word_{0};
  std::shared_ptr<Object> object_;  // changes only while nobody but add() or the closer looks
  Cell* next_resting_ = nullptr;    // guarded by the table's lock
  const void* maker_ = nullptr;     // stored before publish(); see HandleTable::note_maker()
};

// A live object, held for the length of a call. Never empty after a successful check; moves, never
// copies. A call that frees takes the Pin by value.
template <typename T>
class Pin {
 public:
  Pin() = default;
  explicit Pin(Cell* cell) : cell_(cell) {}
  Pin(Pin&& other) noexcept : cell_(other.release()) {}
  Pin& operator=(Pin&& other) noexcept {
    if (this != &other) {
      reset();
      cell_ = other.release();
    }
    return *this;
  }
  ~Pin() { reset(); }

  explicit operator bool() const { return cell_ != nullptr; }
  T* get() const { return cell_ == nullptr ? nullptr : static_cast<T*>(cell_->object()); }
  T* operator->() const { return static_cast<T*>(cell_->object()); }
  T& operator*() const { return *operator->(); }

  Cell* release() { return std::exchange(cell_, nullptr); }
  void reset() {
    if (Cell* cell = release()) cell->unpin();
  }

 private:
  Cell* cell_ = nullptr;
};

// Every handle of this process. Any thread. Never destroyed: programs call DAT from atexit handlers.
class HandleTable {
 public:
  static HandleTable& instance() { return table_; }

  // Every address that is or ever was a handle: its first word may be read for as long as the process lives.
  const base::HandleRange& range() const { return range_; }

  // An empty Pin for null, misaligned, foreign, never used, freed, closing and wrong-kind handles.
  template <typename T>
  Pin<T> pin(const void* handle) {
    Cell* cell = find(handle);
    return cell != nullptr && cell->try_pin(T::kKind) ? Pin<T>(cell) : Pin<T>();
  }
  Pin<Object> pin_any(const void* handle);

  // Gives `object` its handle, a new one or that of the cell that was freed longest ago, thousands of handles before;
  // but does not let anybody in yet. False when all cells are taken. Exactly one of publish() and abandon() follows.
  [[nodiscard]] bool add(const std::shared_ptr<Object>& object, const void* provider_table);
  void publish(Object& object);
  void abandon(Object& object);

  // The end of an object: marks it dead, calls its on_closing(), waits until `pin` is the last one,
  // then calls its detach(), takes it off its IA and frees the cell. False, and nothing done, when
  // another thread has begun to close it; the pin is given up either way.
  bool close(Pin<Object> pin);

  // For reports: an address in the consumer's code that made the object; null unless note_maker() told it. Between
  // add() and publish().
  void note_maker(const Object& object, const void* maker);
  // Calls visit(object, maker) for every live object, each pinned meanwhile.
  template <typename Visit>
  void for_each_live(Visit visit) {
    const std::uintptr_t begin = range_.begin.load(std::memory_order_relaxed);
    const std::uintptr_t end = begin + range_.size.load(std::memory_order_acquire);
    for (std::uintptr_t at = begin; at < end; at += sizeof(Cell)) {
      auto* const cell = reinterpret_cast<Cell*>(at);  // NOLINT(performance-no-int-to-ptr): a cell of the range.
      if (!cell->try_pin_any()) continue;
      const Pin<Object> pin(cell);
      visit(*pin, cell->maker_);
    }
  }

  // Cells in use.
  std::size_t size() const { return in_use_.load(std::memory_order_relaxed); }

 private:
  constexpr HandleTable() = default;
  Cell* find(const void* handle) const {
    if (!range_.holds(handle)) return nullptr;
    return static_cast<Cell*>(const_cast<void*>(handle));
  }
  Cell* take_cell_locked();
  Cell* take_new_locked();
  void reserve_locked();
  bool commit_chunk_locked();
  void rest_locked(Cell& cell);
  void give_back(Cell& cell);
  static void start_afresh_in_child();

  static HandleTable table_;

  // A range of addresses, reserved by the first add() for good, as far as there are cells. Written under mutex_; read
  // by anyone, registries too.
  base::HandleRange range_{.step = sizeof(Cell)};
  std::atomic<std::size_t> in_use_{0};

  // Guarded by mutex_.
  std::mutex mutex_;
  std::size_t reserved_ = 0;
  std::size_t used_ = 0;  // bytes of the range whose cells have been handles
  // Cells that were freed.
  Cell* oldest_resting_ = nullptr;
  Cell* newest_resting_ = nullptr;
  std::size_t resting_cells_ = 0;
};

template <typename T>
Pin<T> pin_handle(const void* handle) {
  return HandleTable::instance().pin<T>(handle);
}

// The same hold under the name of the base class.
template <typename T>
Pin<Object> as_object(Pin<T> pin) {
  return Pin<Object>(pin.release());
}

}  // namespace softdat::object
