// SPDX-License-Identifier: BSD-2-Clause
// What the ledger keeps of a posted operation. Plain values, guarded by the ledger's lock but where it says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libdat/object/object.h"
#include "libdat/sanitize/site.h"
#include "libdat/sanitize/stack_frames.h"

namespace softdat::sanitize {

using object::Handle;

enum class OperationKind : std::uint8_t { kReceive, kSend, kWrite, kRead, kAtomic };

// "receive", "send" ...
const char* name_of(OperationKind kind);

// Whether the adapter stores into the local buffer; otherwise it reads it.
constexpr bool stores(OperationKind kind) {
  return kind == OperationKind::kReceive || kind == OperationKind::kRead || kind == OperationKind::kAtomic;
}

// Whether it brings the peer's bytes into the local buffer. A fence waits for these operations.
constexpr bool fetches(OperationKind kind) {
  return kind == OperationKind::kRead || kind == OperationKind::kAtomic;
}

// Memory of a local segment. The address is absolute, also in regions that begin at zero.
struct Range {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint32_t lkey = 0;
};

struct Operation {
  OperationKind kind = OperationKind::kSend;
  Handle queue = nullptr;  // the EP's, or the SRQ's
  Handle evd = nullptr;    // where its completion comes; null: nowhere
  std::uint64_t cookie = 0;
  std::uint64_t number = 0;    // counts the posts and empty answers of the process
  bool is_suppressed = false;  // a completion comes after a failure only
  bool is_fenced = false;
  bool is_completed = false;   // known to be, although its completion was not dequeued
  bool is_indexed = false;     // stands in the ledger's index of ranges
  std::uint64_t received = 0;  // messages that the EP had received before
  std::uint32_t rmr_context = 0;
  Site posted;
  std::vector<Range> ranges;
  FrameOwner owner;                     // of the first range
  std::optional<std::uint64_t> sum;     // of what is read. Written by the thread that posts, before it posts.
  std::optional<std::uint64_t> before;  // of what is stored into, before that
  std::optional<std::uint64_t> after;   // of what a read brought, once all of it is there
  bool is_shared = false;               // another outstanding operation uses the same bytes
  bool is_stored = false;               // the adapter or a peer has begun to store
  bool is_fed = false;                  // it sends what an outstanding read or atomic operation brings
  bool is_guarded = false;              // PageGuard has been told of its ranges
};

// So many operations, and so many ranges of the index, are kept for the next posts, which then need no new memory.
inline constexpr std::size_t kSpares = 256;

using OperationList = std::vector<std::unique_ptr<Operation>>;

// The checksum of the bytes that are compared before the adapter stores into the buffer: both ends, or all in mode
// `full`. Nothing if they cannot be read.
std::optional<std::uint64_t> sum_of_buffer(const Operation& operation);

// The range that holds most of the buffer, for people.
Range main_range(const Operation& operation);

}  // namespace softdat::sanitize
