// SPDX-License-Identifier: BSD-2-Clause
// What the ledger keeps of each object. Guarded by the ledger's lock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/lock_order.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/sanitize/lock_places.h"
#include "libdat/sanitize/operation.h"

namespace softdat::sanitize {

using object::Kind;

// In words: "EP", "connection request" ...
inline const char* kind_text(Kind kind) {
  return kind == Kind::kCr ? "connection request" : object::name_of(kind);
}

struct ObjectRecord {
  Kind kind = Kind::kIa;
  Handle ia = nullptr;  // an IA's is itself
  Site made;
  Site ended;  // with a call: the handle is none any more
};

struct RegionRecord {
  Handle lmr = nullptr;
  Site made;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  bool is_zero_based = false;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
  std::uint32_t privileges = 0;
  std::uint32_t used = 0;        // privileges that local operations have needed
  std::uint32_t operations = 0;  // that have used it
  FrameOwner owner;
};

// A window that is bound.
struct WindowRecord {
  std::uint32_t rmr_context = 0;
  object::Segment memory;  // as it was bound
  bool is_zero_based = false;
};

// A guarded copy of private data that the program was given.
struct PrivateDataRecord {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  Site made;
};

using PostOrder = base::Mutex<locks::kPostOrder>;

// An EP, or an SRQ, which has receives alone.
struct QueueRecord : std::enable_shared_from_this<QueueRecord> {
  // Held around a post, so that operations are in the order of the adapter.
  PostOrder order;
  bool is_known = false;  // the members below are those of the object
  bool is_gone = false;   // the object has ended: nothing is added any more. Written with both locks.
  Handle handle = nullptr;
  Handle srq = nullptr;  // where its receives are posted instead
  Handle recv_evd = nullptr;
  Handle request_evd = nullptr;
  bool was_connected = false;
  bool is_broken = false;      // the connection ended by an error, after which a program may give up
  Site disconnected;           // with a call: the program knows that the connection has ended
  std::uint64_t received = 0;  // messages
  Site posted;                 // the first receive; without a call: there was none
  std::uint64_t posted_receives = 0;
  std::uint64_t posts = 0;         // of all kinds
  bool is_ambiguous = false;       // a request that failed has the cookie of a suppressed one: one of the two completed
  std::uint64_t reset_number = 0;  // operations with a smaller number are those of an earlier connection
  std::deque<std::unique_ptr<Operation>> receives;
  std::deque<std::unique_ptr<Operation>> requests;
};

// A completion that was not dequeued when its EP was freed.
struct Leftover {
  Handle ep = nullptr;
  std::uint64_t cookie = 0;
  OperationKind kind = OperationKind::kSend;
  Site posted;
  bool is_completed = false;  // with success, as far as is known
};

struct EvdRecord {
  std::int32_t qlen = 0;
  std::int32_t outstanding = 0;  // operations whose completions come here
  std::int32_t binds = 0;        // posted, and not dequeued
  Site empty;                    // the last call that found no event
  std::uint64_t empty_number = 0;
  std::uint32_t empties = 0;  // such calls since the last event
  // When a poll that finds nothing looks next whether anything could complete; unset while something is outstanding.
  std::optional<base::Time> look_due;
  Site woken;              // the cno_wait that answered this EVD, until it was found empty
  bool is_tapped = false;  // an event was dequeued since
  std::vector<Leftover> leftovers;
};

}  // namespace softdat::sanitize
