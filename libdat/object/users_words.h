// SPDX-License-Identifier: BSD-2-Clause
// Why an object cannot be freed: which live objects use it, each by its handle and the place where it was made.
//
// Any thread, without a lock of this room: each function asks all live objects. The users may change meanwhile, so the
// text may name none. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>

namespace softdat::object {

class ConsumerNotification;
class EventDispatcher;
class MemoryRegion;
class ProtectionZone;
class SharedReceiveQueue;

// "it is used by EP 0x7f0010, made by main at a.c:5; LMR 0x7f0040, made by main at a.c:9. Free these first".
std::string in_use_text(const ProtectionZone& pz);
std::string in_use_text(const SharedReceiveQueue& srq);
// "EP 0x7f0010 (receive, request and connection events), made by main at a.c:5".
std::string in_use_text(const EventDispatcher& evd);
// The windows (RMRs) that are bound to it.
std::string in_use_text(const MemoryRegion& lmr);
// `waiters`: the threads in dat_cno_wait.
std::string in_use_text(const ConsumerNotification& cno, std::int64_t waiters);

}  // namespace softdat::object
