// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kTimelineCreation{865, "g_creation (base/timeline.cc)", "the timeline is made"};
inline constexpr base::LockPlace kTimeline{870, "TimelineEndpoints::mutex_",
                                           "an endpoint is found for an event of a timeline"};
inline constexpr base::LockPlace kPieceWriter{880, "PieceWriter::mutex_",
                                              "a capture or timeline is handed to its writer"};
inline constexpr base::LockPlace kChains{base::kLeafPlace, "chains_mutex",
                                         "the handlers of SIGSEGV and SIGBUS are installed"};
inline constexpr base::LockPlace kFoundPlaces{base::kLeafPlace, "Found::mutex",
                                              "the words for a place in a program are found"};
// A thread may say something whatever it holds.
inline constexpr base::LockPlace kSpeech{base::kLeafPlace + 1, "Speech::times", "a sentence is counted"};

inline constexpr std::array kOfBase = {&kTimelineCreation, &kTimeline,    &kPieceWriter,
                                       &kChains,           &kFoundPlaces, &kSpeech};

}  // namespace softdat::locks
