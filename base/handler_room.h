// SPDX-License-Identifier: BSD-2-Clause
// HandlerRoom: where Boost.Asio keeps what it knows of one handler while that waits, so that waiting takes no memory
// that may be lacking. Asio gives the room back before it calls the handler.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

namespace softdat::base {

// Any thread. Outlives its handlers. For a second handler that waits at the same time memory is taken.
class HandlerRoom {
 public:
  void* take(std::size_t size) {
    if (size <= sizeof bytes_ && !is_taken_.exchange(true, std::memory_order_acquire)) return bytes_;
    return ::operator new(size);
  }
  void give_back(void* bytes) {
    if (bytes == bytes_) return is_taken_.store(false, std::memory_order_release);
    ::operator delete(bytes);
  }

 private:
  alignas(std::max_align_t) std::byte bytes_[256];
  std::atomic<bool> is_taken_{false};
};

// As the standard library wants them.
template <typename T>
class RoomAllocator {
 public:
  using value_type = T;
  explicit RoomAllocator(HandlerRoom& room) : room_(&room) {}
  template <typename Other>
  explicit(false) RoomAllocator(const RoomAllocator<Other>& other) : room_(&other.room()) {}
  T* allocate(std::size_t count) { return static_cast<T*>(room_->take(count * sizeof(T))); }
  void deallocate(T* bytes, std::size_t) { room_->give_back(bytes); }
  HandlerRoom& room() const { return *room_; }
  friend bool operator==(const RoomAllocator& a, const RoomAllocator& b) { return a.room_ == b.room_; }

 private:
  HandlerRoom* room_;
};

// The function as a handler that waits in the room.
template <typename Function>
class InRoom {
 public:
  using allocator_type = RoomAllocator<void>;
  InRoom(HandlerRoom& room, Function function) : room_(&room), function_(std::move(function)) {}
  allocator_type get_allocator() const noexcept { return allocator_type(*room_); }
  template <typename... Arguments>
  void operator()(const Arguments&... arguments) {
    function_(arguments...);
  }

 private:
  HandlerRoom* room_;
  Function function_;
};

}  // namespace softdat::base
