// SPDX-License-Identifier: BSD-2-Clause
// HandleTable: all DAT handles of the process. A handle is the address of a Cell. Cells are never unmapped, so any
// wrong handle can be checked without a fault. A cell's first word is the provider's function table, because stock
// registries dispatch through it. The word stays when the object is freed, so a stale handle still reaches this library
// and is refused.
//
// Cell::word_ is a word that several threads write: its low half counts pins, and its high half holds the kind and the
// live bit, which add() and close() change. All changes are read-modify-writes. A pin that saw the live bit (acquire)
// sees all that add() stored before (release).
//
// Cell::lock_ stands for a pin in calls that exclude each other (ExclusivePin): such a call locks, and then looks at
// word_. close() takes the live bit away, and then locks once: a call that locks afterwards finds the cell not live,
// and no call that locked before is still under way. One locked instruction is pin, exclusion and the fence against
// close().
//
// Cell::has_light_pin_ is one pin that is not counted (LightPin). Its owner exchanges it to true, and then looks at
// word_; it stores false. Nobody waits for it but close(), which takes it once, as it takes lock_.
//
// A child made by fork() starts with an empty table, because the objects use sockets and shared memory of the parent,
// and their threads do not exist in the child.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/handle_range.h"
#include "base/spin_lock.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"

namespace softdat::object {

class alignas(64) Cell {
 public:
  Object* object() const { return object_.get(); }

  // Pins the cell until unpin(). False if it is not live or of another kind.
  bool try_pin(Kind kind) {
    if (!is_live_as(word_.load(std::memory_order_relaxed), kind)) return false;
    if (is_live_as(word_.fetch_add(1, std::memory_order_acquire), kind)) return true;
    unpin();
    return false;
  }
  bool try_pin_any();
  void unpin() {
    const std::uint64_t word = word_.fetch_sub(1, std::memory_order_seq_cst);
    SOFTDAT_DEBUG_CHECK((word & kPins) != 0, "each unpin() ends one pin", word);
    if ((word & kClosing) != 0) tell_closer();
  }

  // Holds the cell until leave(), and keeps others out that call this. False if it is not live or of another kind.
  bool try_enter(Kind kind) {
    lock_.lock();
    if (is_live_as(word_.load(std::memory_order_acquire), kind)) [[likely]]
      return true;
    lock_.unlock();
    return false;
  }
  void leave() { lock_.unlock(); }
  // Takes the light pin, until drop_light_pin().
  enum class LightPinning : std::uint8_t { kDone, kTaken, kDead };
  LightPinning pin_lightly(Kind kind) {
    if (has_light_pin_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      return LightPinning::kTaken;
    if (is_live_as(word_.load(std::memory_order_acquire), kind)) [[likely]]
      return LightPinning::kDone;
    drop_light_pin();
    return LightPinning::kDead;
  }
  void drop_light_pin() { has_light_pin_.store(false, std::memory_order_release); }
  // For a thread that has a pin: there is no other pin, nor a light one. What others did under pins that have ended can
  // be seen then, and a later pin sees what this thread did before.
  bool is_pinned_once() {
    if (has_light_pin_.exchange(true, std::memory_order_acquire)) return false;
    drop_light_pin();
    return (word_.fetch_add(0, std::memory_order_acq_rel) & kPins) == 1;
  }
  // As try_enter() and leave(), for a thread that has a pin.
  base::Ordered<base::SpinLock, locks::kExclusiveCall>& call_lock() { return lock_; }

 private:
  friend class HandleTable;
  static constexpr std::uint64_t kLive = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kClosing = std::uint64_t{1} << 41;
  static constexpr std::uint64_t kPins = 0xffffffff;
  static constexpr std::uint64_t bits_of(Kind kind) { return kLive | (static_cast<std::uint64_t>(kind) << 32); }
  static bool is_live_as(std::uint64_t word, Kind kind) { return (word & ~kPins) == bits_of(kind); }
  [[gnu::cold, gnu::noinline]] void tell_closer();
  void wait_for_last_pin();
  void wait_for_light_pin();
  bool begin_closing();

  std::atomic<const void*> provider_table_{nullptr};
  std::atomic<std::uint64_t> word_{0};
  std::shared_ptr<Object> object_;  // written by add() and close(), while the cell cannot be pinned
  Cell* next_resting_ = nullptr;    // guarded by the table's lock
  // For people only (HandleTable::history()), so the order of these does not matter: relaxed.
  std::atomic<const void*> maker_{nullptr};  // stored before publish(); see HandleTable::note_maker()
  std::atomic<const void*> freer_{nullptr};  // of the object that was here last
  std::atomic<std::uint8_t> last_kind_{kNoKind};
  base::Ordered<base::SpinLock, locks::kExclusiveCall> lock_;
  std::atomic<bool> has_light_pin_{false};
  static constexpr std::uint8_t kNoKind = 0xff;  // nothing has been freed here
};

// What a handle is, or was.
struct HandleHistory {
  enum class State : std::uint8_t {
    kNone,  // it never was one, as far as is known
    kLive,
    kFreed,
    kParents,  // of the process that forked this one
  };
  State state = State::kNone;
  Kind kind = Kind::kIa;        // unless kNone
  const void* maker = nullptr;  // which call of the consumer's made the object; null: not known
  const void* freer = nullptr;  // kFreed: which one ended it
};

// Holds a live object for the length of a call; empty if the handle was wrong. Movable, not copyable. A function that
// frees the object takes its Pin by value.
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
  T* operator->() const {
    SOFTDAT_DEBUG_CHECK(cell_ != nullptr, "an empty Pin has no object");
    return static_cast<T*>(cell_->object());
  }
  T& operator*() const { return *operator->(); }

  Cell* release() { return std::exchange(cell_, nullptr); }
  void reset() {
    if (Cell* cell = release()) cell->unpin();
  }

 private:
  Cell* cell_ = nullptr;
};

// Whether calls of this kind of object exclude each other. Such a call must not lead to another such call, nor end an
// object of such a kind.
constexpr bool has_exclusive_calls(Kind kind) {
  return kind == Kind::kEvd;
}

// A Pin for a call that excludes other such calls of the object. Its end takes no locked instruction.
template <typename T>
class ExclusivePin {
  static_assert(has_exclusive_calls(T::kKind));

 public:
  // Empty if `cell` is null or no live cell of a T.
  explicit ExclusivePin(Cell* cell) : cell_(cell != nullptr && cell->try_enter(T::kKind) ? cell : nullptr) {}
  ExclusivePin(const ExclusivePin&) = delete;
  ExclusivePin& operator=(const ExclusivePin&) = delete;
  ~ExclusivePin() {
    if (cell_ != nullptr) cell_->leave();
  }

  explicit operator bool() const { return cell_ != nullptr; }
  T* operator->() const { return static_cast<T*>(cell_->object()); }
  T& operator*() const { return *operator->(); }

 private:
  Cell* const cell_ = nullptr;
};

// A Pin for calls of an object that may run side by side, but seldom do. The light pin of the cell if no other thread
// has it, whose end takes no locked instruction; else a pin.
template <typename T>
class LightPin {
 public:
  // Empty if `cell` is null or no live cell of a T.
  explicit LightPin(Cell* cell) {
    if (cell == nullptr) return;
    const Cell::LightPinning pinning = cell->pin_lightly(T::kKind);
    if (pinning == Cell::LightPinning::kDone) [[likely]] {
      cell_ = cell;
    } else if (pinning == Cell::LightPinning::kTaken && cell->try_pin(T::kKind)) {
      cell_ = cell;
      is_counted_ = true;
    }
  }
  LightPin(const LightPin&) = delete;
  LightPin& operator=(const LightPin&) = delete;
  ~LightPin() {
    if (cell_ == nullptr) return;
    if (is_counted_) [[unlikely]] {
      cell_->unpin();
    } else {
      cell_->drop_light_pin();
    }
  }

  explicit operator bool() const { return cell_ != nullptr; }
  T* operator->() const { return static_cast<T*>(cell_->object()); }
  T& operator*() const { return *operator->(); }

 private:
  Cell* cell_ = nullptr;
  bool is_counted_ = false;
};

// Any thread. Never destroyed, because programs call DAT functions in atexit handlers.
class HandleTable {
 public:
  static HandleTable& instance() { return table_; }

  // All addresses that are or were handles. Their first words stay readable for the life of the process.
  const base::HandleRange& range() const { return range_; }

  // Pins the object of this handle. Empty for null, misaligned, foreign, unused, freed and closing handles, and for
  // those of another kind.
  template <typename T>
  Pin<T> pin(const void* handle) {
    Cell* cell = find(handle);
    return cell != nullptr && cell->try_pin(T::kKind) ? Pin<T>(cell) : Pin<T>();
  }
  Pin<Object> pin_any(const void* handle);
  template <typename T>
  ExclusivePin<T> pin_exclusively(const void* handle) {
    return ExclusivePin<T>(is_cell(handle) ? static_cast<Cell*>(const_cast<void*>(handle)) : nullptr);
  }

  template <typename T>
  LightPin<T> pin_lightly(const void* handle) {
    return LightPin<T>(find(handle));
  }

  // For messages about a wrong handle. The object may end meanwhile.
  HandleHistory history(const void* handle);

  // Gives `object` a handle: a new cell, or the one that was freed longest ago. The handle cannot be pinned yet. False
  // if no cell is left. The caller must then call publish() or abandon() once.
  [[nodiscard]] bool add(const std::shared_ptr<Object>& object, const void* provider_table);
  void publish(Object& object);
  void abandon(Object& object);

  // Ends an object: marks it closing, calls on_closing(), waits until `pin` is the only one and no exclusive call is
  // under way, calls detach(), removes it from its IA and frees the cell. False, without any effect but the release of
  // `pin`, if another thread has begun to close it. Deadlocks if the calling thread holds another Pin of the object, so
  // a sink must not hold one while it calls the consumer.
  bool close(Pin<Object> pin);

  // The caller's pin of the object is the only one, so that no other call uses it at this moment. A look: false says
  // nothing of the next moment. REQUIRES: the caller has a pin of it.
  static bool is_pinned_once(const Object& object) { return static_cast<Cell*>(object.handle())->is_pinned_once(); }

  // For reports: remembers the address in the consumer's code that created the object. REQUIRES: add() was called, and
  // publish() was not.
  void note_maker(const Object& object, const void* maker);
  // Calls visit(object, maker) for every live object, pinned during the call. `maker` is null without note_maker().
  template <typename Visit>
  void for_each_live(Visit visit) {
    const std::uintptr_t begin = range_.begin.load(std::memory_order_relaxed);
    const std::uintptr_t end = begin + range_.size.load(std::memory_order_acquire);
    for (std::uintptr_t at = begin; at < end; at += sizeof(Cell)) {
      auto* const cell = reinterpret_cast<Cell*>(at);  // NOLINT(performance-no-int-to-ptr): a cell of the range.
      if (!cell->try_pin_any()) continue;
      const Pin<Object> pin(cell);
      visit(*pin, cell->maker_.load(std::memory_order_relaxed));
    }
  }

  // How many cells are in use.
  std::size_t size() const { return in_use_.load(std::memory_order_relaxed); }

 private:
  constexpr HandleTable() = default;
  // As HandleRange::holds(), with a step that the compiler knows.
  bool is_cell(const void* handle) const {
    const std::size_t in_range = range_.size.load(std::memory_order_acquire);
    const std::uintptr_t begin = range_.begin.load(std::memory_order_relaxed);
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(handle) - begin;
    return offset < in_range && offset % sizeof(Cell) == 0;
  }
  Cell* find(const void* handle) const {
    return is_cell(handle) ? static_cast<Cell*>(const_cast<void*>(handle)) : nullptr;
  }
  Cell* take_cell_locked();
  Cell* take_new_locked();
  void reserve_locked();
  bool commit_chunk_locked();
  void rest_locked(Cell& cell);
  void give_back(Cell& cell);
  void check_resting_locked() const;
  [[gnu::constructor]] static void follow_forks();
  static void start_afresh_in_child();

  static HandleTable table_;

  // Addresses reserved by the first add() for the life of the process, up to the last cell made. Written under mutex_;
  // read by any thread, also in registries.
  base::HandleRange range_{.step = sizeof(Cell)};
  std::atomic<std::size_t> in_use_{0};

  // The handles of the process that forked this one. Their cells stay readable. Fixed.
  std::uintptr_t parents_begin_ = 0;
  std::size_t parents_size_ = 0;

  // Guarded by mutex_.
  base::Mutex<locks::kHandleTable> mutex_;
  std::size_t reserved_ = 0;
  std::size_t used_ = 0;  // bytes of the range whose cells have been handles
  // Freed cells, oldest first.
  Cell* oldest_resting_ = nullptr;
  Cell* newest_resting_ = nullptr;
  std::size_t resting_cells_ = 0;
};

template <typename T>
Pin<T> pin_handle(const void* handle) {
  return HandleTable::instance().pin<T>(handle);
}

// Converts the Pin to one of the base class.
template <typename T>
Pin<Object> as_object(Pin<T> pin) {
  return Pin<Object>(pin.release());
}

}  // namespace softdat::object
