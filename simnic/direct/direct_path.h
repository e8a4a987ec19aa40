// SPDX-License-Identifier: BSD-2-Clause
// DirectPath: a queue pair's access to the peer's registered memory without the peer's help, if both are on one host
// (docs/decisions/0007-direct-access.md). It carries a request out or declines it. It reports no error: a declined
// request goes by messages, which find out what is wrong with it.
//
// Locks: describe(), begin(), close() and drop() with the baton, begin() and drop() with the posting lock as
// well; settle() with neither; carry_out(), place() and note_queued() with the posting lock; publish_receive() with
// that of receives.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/guarded.h"
#include "hca/types.h"
#include "simnic/direct/direct_context.h"
#include "simnic/lock_places.h"
#include "simnic/scatter_gather.h"
#include "transport/offer.h"

namespace softdat::simnic {

class DirectPath {
 public:
  // `context` may be null; it outlives the path.
  DirectPath(direct::DirectContext* context, const MemoryView& memory);
  ~DirectPath();
  DirectPath(const DirectPath&) = delete;
  DirectPath& operator=(const DirectPath&) = delete;

  // Puts the way to our own memory into an offer: the connection that may come of it has a number of
  // its own, and its first send takes our receive `first_receive`.
  void describe(transport::Offer& offer, std::uint64_t first_receive);

  // The connection of the last describe() is established. `peer` may be null.
  void begin(std::shared_ptr<direct::Peer> peer, const transport::Offer& offer, bool may_read);

  // These three end a connection, in this order.
  // The peer cannot begin another access through the connection, and a request that a poster is carrying out ends soon.
  void close();
  // When it returns, this side holds nothing of the peer's.
  void drop();
  // When it returns, after a fraction of a second at most (simnic/direct/direct_context.h), no store of the peer
  // through a closed connection is seen here.
  void settle();

  // Whether carry_out() may succeed.
  bool is_open() const { return peer_ != nullptr; }
  // REQUIRES: the request is well formed, and its local segments add up to `length`. False: send it by messages. It is
  // of another kind, or was not carried out, or only a part of a write or read was, as when memory faults.
  bool carry_out(const hca::SendRequest& request, std::uint32_t length);
  // After carry_out() has returned false: whether the request may have been carried out all the same. It must not be
  // repeated then.
  bool is_in_doubt() const { return is_in_doubt_; }

  // Whether place() may succeed for a send of so many bytes.
  bool may_place(std::uint32_t length) const { return is_open() && length >= kLeastPlaced; }
  // A send that is well formed, while all requests before `completed` are over. True: its payload lies in the peer's
  // receive, and the peer has to be told.
  bool place(const hca::SendRequest& request, std::uint32_t length, std::uint64_t completed);
  // Request `number` has been queued, placed or not.
  void note_queued(hca::SendOpcode opcode, std::uint64_t number);

  // Whether the peer may place messages into a receive of so many bytes itself, so that publish_receive() is needed.
  bool publishes(std::uint64_t length) const { return qp_entry_.has_value() && length >= kLeastPlaced; }
  // Receive `number` has been posted, while all before `completed` are used up.
  void publish_receive(std::uint64_t number, std::uint64_t completed, std::span<const hca::Segment> segments);

 private:
  // Shorter sends travel faster within the message that tells of them.
  static constexpr std::uint32_t kLeastPlaced = 8192;

  // The last connection that was closed, 0: none; and its peer, for as long as that lives.
  struct Closed {
    std::uint64_t connection = 0;
    std::weak_ptr<direct::Peer> peer;
  };

  bool carry_out_atomic(const hca::SendRequest& request);
  bool move_piece(const hca::SendRequest& request, std::uint32_t length, std::uint64_t& done);
  bool place_piece(const hca::SendRequest& request, std::uint32_t length, std::uint64_t& done);

  // Fixed after construction.
  direct::DirectContext* const context_;
  const MemoryView memory_;
  std::optional<std::uint32_t> qp_entry_;
  std::atomic<bool> is_closing_{false};  // written with the baton, read by posters
  base::Guarded<Closed, locks::kClosedConnection> closed_;
  std::atomic<std::uint64_t> settled_{0};  // the closed connection whose stores settle() has awaited
  // Owned by the baton.
  std::uint64_t connection_ = 0;  // the QP entry's, once there is one
  // Guarded by the posting lock. close() reads the peer with the baton, which its writers hold as well.
  std::shared_ptr<direct::Peer> peer_;
  direct::Door door_;  // the peer's
  bool may_read_ = false;
  bool is_in_doubt_ = false;
  std::uint64_t next_receive_ = 0;  // of the peer's: the one that our next send takes
  std::uint64_t reads_until_ = 0;   // requests before this one may be reads or atomics
  std::uint64_t writes_until_ = 0;  // requests before this one may be writes
};

}  // namespace softdat::simnic
