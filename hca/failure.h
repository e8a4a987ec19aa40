// SPDX-License-Identifier: BSD-2-Clause
// Failure: which rule was broken, with the facts of the side that found it out. Made where the device refuses or ends
// something, and handed up as it is; libdat/object makes the words.
// docs/decisions/0020-words-instead-of-codes.md.
#pragma once

#include <cstdint>
#include <string>

#include "hca/types.h"

namespace softdat::hca {

enum class Rule : std::uint8_t {
  kUnknown,
  // A key does not open a range.
  kKeyNeverIssued,
  kKeyFreed,        // its region, or its window, was freed
  kKeyRebound,      // its window was bound anew
  kKeyUnbound,      // its window was bound to nothing
  kKeyInvalidated,  // a peer's send voided it
  kKeyNotOpen,      // its window's bind has not been carried out
  kKeyUnknown,      // the peer knows no such key; it has not said why
  kOtherDomain,
  kRangeWraps,
  kOutOfRange,
  kMissingRight,
  kMemoryGone,  // registered, but not mapped (any more)
  // A message and its receive.
  kNoReceive,
  kReceiveLacking,   // the send waits, by now for `room` milliseconds
  kReceiveTooShort,  // `length` of the message, `room` of the receive
  kMisaligned,       // an atomic's target
  kNoWindow,         // the key to be invalidated names no window
  // Posts.
  kQueueFull,        // `room` requests are outstanding
  kTooManySegments,  // `length` asked for, `room` allowed
  kMessageTooLong,   // `length` bytes asked for, `room` allowed
  kNotOffered,       // the device has no such operation
  kNoReads,          // the limit of reads under way is 0
  kTooManyReads,     // the peer asked for more at a time than was agreed on
  kCompletionsLost,  // no room in a completion queue
  kCannot,           // the peer cannot do it at all
  kFlushed,          // `length` requests were posted when the connection ended
  kDeviceReport,     // a device has refused it, and says so in its own words alone
  // Connections.
  kNobodyListens,
  kServiceBusy,  // somebody listens, and takes no request now
  kUnreachable,
  kRejected,
  kTimedOut,  // `room`: after how many microseconds; 0: not known
  kAcceptFailed,
  kPeerLost,
  kProtocol,
  kReceiveLimit,  // more receives are outstanding than the hard limit
  kDisconnected,
};

// Whose request it was.
enum class Actor : std::uint8_t { kOurRequest, kPeersRequest, kOurReceive, kConnection };

// What stands, or stood, under a key. Key 0: nothing is known.
struct RegionFacts {
  std::uint32_t key = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  AccessMask access = 0;
  bool is_window = false;
  const void* registered = nullptr;  // which call of the consumer's made it
};

struct Failure {
  static constexpr std::uint64_t kUnknownRoom = ~std::uint64_t{0};

  Actor actor = Actor::kConnection;
  Rule rule = Rule::kUnknown;
  CompletionOpcode operation = CompletionOpcode::kSend;  // unless kConnection
  CompletionStatus status = CompletionStatus::kSuccess;  // what it completes with; kSuccess: it does not
  std::uint64_t wr_id = 0;
  const void* posted = nullptr;  // which call of the consumer's posted the request, or the receive
  // What was asked for.
  bool is_local = false;  // of our own segment, not by a key that a peer used
  std::uint32_t key = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  AccessMask needed = 0;
  std::uint64_t room = 0;
  bool is_shared = false;  // our receives come from a shared receive queue
  RegionFacts region;
  std::uint32_t present_key = 0;  // kKeyFreed: opens the same memory now; 0: none does
  std::string peer_words;         // what the peer said of it
  std::string device_words;       // kDeviceReport: "IBV_WC_REM_ACCESS_ERR, vendor error 0x8a"
  const char* carrier = nullptr;  // "shm", "tcp", ... once it is known
  Address remote{};
  std::uint64_t service_id = 0;  // a connection that was asked for
};

}  // namespace softdat::hca
