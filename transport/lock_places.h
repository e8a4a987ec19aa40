// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kLoopNetwork{85, "LoopNetwork::mutex_",
                                              "a carrier of this process acts, its sinks called, too", true};
inline constexpr base::LockPlace kLinkTail{120, "LinkWriter::tail_", "a record is put into the ring to a process"};
inline constexpr base::LockPlace kReaperCreation{800, "Reaper::of_process()", "the reaper of the process is made"};
inline constexpr base::LockPlace kReaper{base::kLeafPlace, "Reaper::mutex_", "a descriptor is handed to the reaper"};
inline constexpr base::LockPlace kSleepers{base::kLeafPlace, "LinkList::sleepers_",
                                           "the list of peers that sleep is used"};
inline constexpr base::LockPlace kHubRest{base::kLeafPlace, "Hub::rest_",
                                          "a thread begins or ends to wait for the hub"};
inline constexpr base::LockPlace kInbox{base::kLeafPlace, "AsioReactor::inbox_",
                                        "marks of ready descriptors are left or taken"};

inline constexpr std::array kOfTransport = {&kLoopNetwork, &kLinkTail, &kReaperCreation, &kReaper,
                                            &kSleepers,    &kHubRest,  &kInbox};

}  // namespace softdat::locks
