// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kVerbsSharedQueues{200, "SharedReceiveQueue::queues_mutex_",
                                                    "the list of queue pairs of an SRQ is used"};
inline constexpr base::LockPlace kVerbsConnection{210, "Connection::mutex_", "the connection of a queue pair changes"};
inline constexpr base::LockPlace kVerbsPostSend{211, "SendQueue::mutex_",
                                                "a send, write, read, atomic or bind is posted"};
inline constexpr base::LockPlace kVerbsPostReceive{212, "ReceiveQueue::mutex_", "a receive is posted"};
inline constexpr base::LockPlace kMemoryWindow{213, "MemoryWindow::mutex_", "a window is bound"};
inline constexpr base::LockPlace kCompletionQueue{220, "CompletionQueue::mutex_", "completions are read"};
inline constexpr base::LockPlace kVerbsSharedReceiveQueue{221, "SharedReceiveQueue::mutex_",
                                                          "a receive is posted to an SRQ"};
inline constexpr base::LockPlace kListenerTable{230, "ListenerTable::mutex_", "a listener is added, removed or found"};
inline constexpr base::LockPlace kVerbsDevice{230, "Device::mutex_", "the lists of a device are used"};
inline constexpr base::LockPlace kListener{231, "Listener::mutex_", "a request comes to a listener"};
inline constexpr base::LockPlace kWindowState{240, "WindowState::mutex_", "a bind is carried out"};
inline constexpr base::LockPlace kVerbsMemoryTable{241, "MemoryTable::mutex_",
                                                   "a memory key is issued, found or removed"};
inline constexpr base::LockPlace kEventThread{base::kLeafPlace, "Core::mutex", "an event target is added or removed"};
inline constexpr base::LockPlace kWithheldEstablished{base::kLeafPlace, "WithheldEstablished::mutex_",
                                                      "the list of withheld connections is used"};
inline constexpr base::LockPlace kProtectionDomain{base::kLeafPlace, "ProtectionDomain::mutex_",
                                                   "the empty region of a protection domain is made"};

inline constexpr std::array kOfVerbs = {
    &kVerbsSharedQueues, &kVerbsConnection,         &kVerbsPostSend, &kVerbsPostReceive,    &kMemoryWindow,
    &kCompletionQueue,   &kVerbsSharedReceiveQueue, &kListenerTable, &kVerbsDevice,         &kListener,
    &kWindowState,       &kVerbsMemoryTable,        &kEventThread,   &kWithheldEstablished, &kProtectionDomain};

}  // namespace softdat::locks
