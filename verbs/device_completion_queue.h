// SPDX-License-Identifier: BSD-2-Clause
// DeviceCompletionQueue: the ibv_cq of a CompletionQueue: how many slots it has, and whether it is armed.
//
// Every request is signaled to us, wanted or not. So the device's queue has slots beside the consumer's for completions
// that are not wanted: as many as the queue pairs that send into it can post, where the device lets it grow; otherwise
// no more such requests are posted at a time than there are slots.
//
// Owned by its CompletionQueue. All calls REQUIRE that queue's lock, but for cq(), count_unwanted() and
// discount_unwanted(), which run on any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "hca/result.h"
#include "verbs/library.h"

namespace softdat::verbs {

class Adapter;

// In this order: an armed queue reports what one that is armed less reports, too.
enum class Armed : std::uint8_t { kOff, kSolicited, kAny };

class DeviceCompletionQueue {
 public:
  explicit DeviceCompletionQueue(Adapter& adapter) : adapter_(adapter) {}
  ~DeviceCompletionQueue();
  DeviceCompletionQueue(const DeviceCompletionQueue&) = delete;
  DeviceCompletionQueue& operator=(const DeviceCompletionQueue&) = delete;

  // Called once, before any other call but cq(). Failure: the device's error; cq() stays null.
  hca::Outcome make(std::size_t capacity);
  ibv_cq* cq() const { return cq_; }

  // Failure changes nothing that a caller can tell; kUnsupported: requests under way may need the slots.
  hca::Outcome resize(std::size_t capacity);

  // A queue pair that can have so many sends outstanding comes, or goes.
  void expect_sends(std::uint32_t count);
  void release_sends(std::uint32_t count);

  // Reserves a slot for a request whose success is not wanted, until it has completed. False: there is none now.
  bool count_unwanted() {
    const std::uint32_t before = unwanted_.fetch_add(1, std::memory_order_seq_cst);
    if (before < most_unwanted_.load(std::memory_order_seq_cst)) [[likely]]
      return true;
    discount_unwanted();
    return false;
  }
  void discount_unwanted() {
    [[maybe_unused]] const std::uint32_t before = unwanted_.fetch_sub(1, std::memory_order_release);
    SOFTDAT_DEBUG_CHECK(before != 0, "a request that is discounted was counted");
  }

  // The next completion of that kind fires the completion channel. Read the queue afterwards: a completion that was
  // there before fires nothing.
  void arm(Armed how);
  Armed armed() const { return armed_; }
  // The channel has fired, which disarms.
  void on_fired() { armed_ = Armed::kOff; }

 private:
  int grow(std::size_t wanted);
  void note_spare();

  Adapter& adapter_;
  ibv_cq* cq_ = nullptr;  // fixed after make()

  // Guarded by the lock of the CompletionQueue.
  std::size_t capacity_ = 0;        // of the consumer
  std::size_t expected_sends_ = 0;  // of all queue pairs that send into it
  Armed armed_ = Armed::kOff;

  std::atomic<std::uint32_t> unwanted_{0};       // posters add, the thread that completes a request subtracts
  std::atomic<std::uint32_t> most_unwanted_{0};  // slots beyond capacity_; written under the lock
};

}  // namespace softdat::verbs
