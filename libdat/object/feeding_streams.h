// SPDX-License-Identifier: BSD-2-Clause
// FeedingStreams: the streams that feed an EVD: the kinds that it takes, their number, and which completions notify.
//
// Owned by the EVD. Any thread. An EVD with a stream cannot be freed, and one that is being freed takes no stream.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "libdat/object/event_stream.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/status.h"
#include "libdat/object/use_count.h"

namespace softdat::object {

class EventQueue;

// How many endpoint streams of each mode feed an EVD.
class StreamModes {
 public:
  void add(NotifyMode mode) { ++count_[static_cast<std::size_t>(mode)]; }
  void remove(NotifyMode mode) {
    SOFTDAT_DEBUG_CHECK(has(mode), "a stream leaves with the mode that it joined with",
                        static_cast<std::uint64_t>(mode));
    --count_[static_cast<std::size_t>(mode)];
  }

  // The mode that the EVD reports: kThreshold only if every completion of every stream notifies.
  NotifyMode strictest() const {
    if (has(NotifyMode::kUnsignalled)) return NotifyMode::kUnsignalled;
    return has(NotifyMode::kSolicited) ? NotifyMode::kSolicited : NotifyMode::kThreshold;
  }
  bool are_all_solicited() const {
    return has(NotifyMode::kSolicited) && !has(NotifyMode::kUnsignalled) && !has(NotifyMode::kThreshold);
  }

 private:
  bool has(NotifyMode mode) const { return count_[static_cast<std::size_t>(mode)] > 0; }

  std::array<std::int32_t, 3> count_{};
};

class FeedingStreams {
 public:
  // `kinds`: Stream. `queue` is where their completions wait; it outlives this object.
  FeedingStreams(std::uint32_t kinds, EventQueue& queue) : kinds_(kinds), queue_(queue) {}

  std::uint32_t kinds() const { return kinds_; }
  bool takes(std::uint32_t kinds) const { return (kinds_ & kinds) == kinds; }

  // A stream other than an endpoint's completions. add() returns false if the EVD is being freed.
  [[nodiscard]] bool add() { return users_.try_acquire(); }
  void remove() { users_.release(); }
  // Whether the EVD has no streams. True also of one that has ended.
  bool are_none() const { return users_.count() <= 0; }
  // A completion stream of an endpoint. add_dto() returns INVALID_HANDLE with `handle` if the EVD is being freed or
  // takes no DTO stream.
  Status add_dto(NotifyMode mode, StatusDetail handle);
  void remove_dto(NotifyMode mode);

  // The EVD is to be freed: no stream joins any more. try_close() returns false, without any effect, while one is
  // there.
  [[nodiscard]] bool try_close() { return users_.try_close(); }
  void close() { users_.close(); }

  // The strictest of the endpoint streams.
  NotifyMode mode() const { return mode_.load(); }
  // Has the device tell the EVD of the next completion that notifies.
  void arm() const;

 private:
  bool note_modes_locked();

  const std::uint32_t kinds_;
  EventQueue& queue_;
  UseCount users_;

  // Written under mutex_, read without it.
  std::atomic<NotifyMode> mode_{NotifyMode::kThreshold};  // modes_.strictest()
  std::atomic<bool> is_solicited_only_{false};            // modes_.are_all_solicited()

  base::Mutex<locks::kFeedingStreams> mutex_;
  StreamModes modes_;  // guarded by mutex_
};

}  // namespace softdat::object
