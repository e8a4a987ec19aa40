// SPDX-License-Identifier: BSD-2-Clause
// LedgerPosts: what may not be posted, and how a post becomes an outstanding operation.
//
// Owned by the Ledger. Any thread; threads that post to one queue take turns. A breach is reported. std::bad_alloc
// leaves the ledger without the post; miss_post() then tells it.
//
// Locks: QueueRecord::order is held from the making of a Posting to its end, so around the call of the adapter. The
// ledger's lock is taken within, and is not held while the adapter is called or a buffer is read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "libdat/object/endpoint_parameters.h"
#include "libdat/sanitize/ledger_buffers.h"
#include "libdat/sanitize/ledger_guards.h"
#include "libdat/sanitize/ledger_queues.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/records.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

// The arguments of a post.
struct Post {
  OperationKind kind = OperationKind::kSend;
  Handle queue = nullptr;
  std::span<const object::Segment> local = {};  // with the adapter's keys
  bool has_void_length = false;                 // one of the segments has the length of a void field
  std::uint64_t cookie = 0;
  std::uint32_t flags = 0;  // object::CompletionFlag
  std::uint32_t rmr_context = 0;
  Site site = {};
};

class LedgerPosts {
 public:
  // All outlive this object.
  LedgerPosts(LedgerState& state, LedgerGuards& guards, LedgerQueues& queues, LedgerBuffers& buffers)
      : state_(state), guards_(guards), queues_(queues), buffers_(buffers) {}

  // Holds the order of the queue while the operation is posted. The operation stays in the ledger if accept() was
  // called.
  class Posting {
   public:
    Posting(LedgerPosts& posts, const Post& post);
    ~Posting();
    Posting(const Posting&) = delete;
    Posting& operator=(const Posting&) = delete;
    void accept() { is_accepted_ = true; }

   private:
    LedgerPosts& posts_;
    std::shared_ptr<QueueRecord> queue_;
    std::unique_lock<PostOrder> order_;
    Operation* operation_ = nullptr;
    bool is_accepted_ = false;
  };

  // There was no memory to keep a post. Its completion must not be taken for a doubled one.
  void miss_post() { state_.has_missed_posts.store(true); }

  // An operation that is over is kept for the next posts, if there is room.
  void keep_spare_locked(std::unique_ptr<Operation> operation);

 private:
  // With QueueRecord::order; they take the ledger's lock.
  Operation* add(const Post& post, QueueRecord& queue);
  void take_back(QueueRecord& queue, const Operation* operation);

  std::unique_ptr<Operation> make_operation_locked(const Post& post, const QueueRecord& queue);
  void check_post_locked(const Post& post, const QueueRecord& queue, const Operation& operation);
  // Returns the region of the first segment; null if there is none.
  const RegionRecord* check_keys_locked(const Post& post);
  // `region`: of the first range, or null.
  static void check_stack_locked(const Operation& operation, const RegionRecord* region);
  void check_room_locked(const Operation& operation);
  void check_clash_locked(Operation& operation);

  LedgerState& state_;
  LedgerGuards& guards_;
  LedgerQueues& queues_;
  LedgerBuffers& buffers_;
};

}  // namespace softdat::sanitize
