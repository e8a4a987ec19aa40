// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kPostOrder{30, "QueueRecord::order", "under the sanitizer, around a post"};
inline constexpr base::LockPlace kDequeuing{30, "dequeuing()", "under the sanitizer, around a dequeue"};
inline constexpr base::LockPlace kLedger{850, "LedgerState::mutex",
                                         "what the sanitizer knows is used; taken by the adapter with its baton, too"};
inline constexpr base::LockPlace kPageGuard{860, "PageGuard::mutex_",
                                            "pages are closed and opened; the handler of SIGSEGV takes it, too"};
inline constexpr base::LockPlace kBook{860, "Book::mutex_", "a finding is written"};

inline constexpr std::array kOfSanitize = {&kPostOrder, &kDequeuing, &kLedger, &kPageGuard, &kBook};

}  // namespace softdat::locks
