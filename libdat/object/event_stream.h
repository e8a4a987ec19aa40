// SPDX-License-Identifier: BSD-2-Clause
// The streams that may feed an EVD, and the parameters that dat_evd_query reports.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "libdat/object/object.h"

namespace softdat::object {

// Numbered as DAT_EVD_FLAGS of both ABIs.
enum Stream : std::uint32_t {
  kSoftwareStream = 0x001,
  kCrStream = 0x010,
  kDtoStream = 0x020,
  kConnectionStream = 0x040,
  kRmrBindStream = 0x080,
  kAsyncStream = 0x100,
  kExtensionStream = 0x200,  // of DAT 2.0; extension events come through the streams of their objects
  kAllStreams = 0x3f1,
};

// Which completions of an endpoint's stream unblock a waiter or trigger the CNO. Streams with different modes may feed
// one EVD.
enum class NotifyMode : std::uint8_t {
  kThreshold,    // all
  kUnsignalled,  // all but those posted with the UNSIGNALLED flag
  kSolicited,    // receives whose sender asked for it, and failures
};

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

struct EventDispatcherParameters {
  Handle ia;
  Handle cno;  // null when there is none
  std::int32_t qlen;
  std::uint32_t streams;  // Stream
  NotifyMode mode;        // the strictest of its endpoint streams
  bool is_enabled;
  bool is_waitable;
};

}  // namespace softdat::object
