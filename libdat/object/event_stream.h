// SPDX-License-Identifier: BSD-2-Clause
// The streams that may feed an EVD, and the parameters that dat_evd_query reports.
#pragma once

#include <cstdint>

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
