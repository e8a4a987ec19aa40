// SPDX-License-Identifier: BSD-2-Clause
// QueuePair: a reliable connection of the adapter, with its two queues of requests.
#pragma once

#include <atomic>

#include "hca/connection.h"
#include "hca/result.h"
#include "hca/types.h"

namespace softdat::hca {

inline constexpr std::uint32_t kNoRecvLimit = ~std::uint32_t{0};

// A reliable connected queue pair. All calls from any thread. device.h says which may wait.
//
// Completions of one queue come in the order of the posts. When a connection ends, all posted requests complete (as
// kFlushed, if they were not carried out) before the sink gets kDisconnected or kBroken.
//
// The destructor ends a live connection (the peer sees a disconnect), discards posted requests without completions, and
// waits for a sink call under way, unless it runs within that call.
class QueuePair {
 public:
  virtual ~QueuePair() = default;

  // Not virtual, because every post asks.
  QueuePairState state() const { return state_.load(std::memory_order_seq_cst); }
  virtual const QueuePairLimits& limits() const = 0;

  // Posts a request. Allowed in kConnected, kDisconnecting and kError; in the latter two it is flushed at once. Failure
  // changes nothing: kInvalidState, kLimitReached (the queue is full), kInvalidArgument (too many segments, an unknown
  // opcode or flag, or more than 2^32-1 bytes), kPermission and its particulars (a segment's key, range, rights or
  // domain).
  virtual Outcome post_send(const SendRequest& request) = 0;

  // Posts a bind and returns the window's new key, 0 for an unbind. Binds are carried out in order with the sends, and
  // no later request starts before. Then the new key becomes valid and the old one invalid. Allowed and flushed as
  // sends are. Errors beside those of sends: kBadKey, kOutOfRange, kMissingRight (of the region), kWrongDomain (of
  // region or window), kNoMemory. A bind that fails later breaks the connection.
  virtual Result<std::uint32_t> post_bind(const BindRequest& request) = 0;

  // Posts a receive. Allowed in every state; flushed at once in kError. Errors as post_send(); kInvalidState if the
  // queue pair uses a shared receive queue.
  virtual Outcome post_recv(const RecvRequest& request) = 0;

  // Why a post of such a request has just been refused; kUnknown when it cannot be told. Slow.
  virtual Failure explain(const SendRequest&) const { return {}; }
  virtual Failure explain(const RecvRequest&) const { return {}; }
  virtual Failure explain(const BindRequest&) const { return {}; }
  // Which call of the consumer's is about to post a receive, or else another request; for Failure::posted.
  virtual void note_place(bool /*is_receive*/, const void* /*place*/) {}

  // Posted requests that have not completed. With a shared receive queue: receives that this queue pair has taken.
  virtual std::uint32_t sends_outstanding() const = 0;
  virtual std::uint32_t recvs_outstanding() const = 0;

  // Replaces the limits of outstanding receives. Above `soft`, which may be the case now, the sink's on_recv_limit() is
  // called once. Above `hard` the connection is broken, and so is every later one. kNoRecvLimit: no limit.
  virtual void set_recv_limits(std::uint32_t soft, std::uint32_t hard) = 0;

  // Starts to connect (kIdle > kConnecting). The sink gets kEstablished or the reason of the failure. The time-out
  // starts with the call. Errors: kInvalidState unless idle, kBadAddress, kInvalidArgument (too much private data).
  virtual Outcome connect(const ConnectParameters& parameters) = 0;

  // Starts to disconnect. Graceful: posted requests complete first. Abrupt: they are flushed. In kConnecting and
  // kAccepting it gives up; the only further event is kDisconnected. In kError: succeeds and does nothing.
  // kInvalidState in kIdle.
  virtual Outcome disconnect(bool graceful) = 0;

  // Makes the queue pair ready for another connection (kError or kIdle > kIdle; otherwise kInvalidState). In kError,
  // requests that are still posted complete as kFlushed. kNoMemory: still in kError; the call may be
  // repeated.
  virtual Outcome reset() = 0;

  // The peer's address; unset before the first connect or accept.
  virtual Address remote_address() const = 0;

  // The port from which peers see this queue pair's requests come. Never 0.
  virtual std::uint16_t local_port() const = 0;

  // Takes over the receives that are posted to `from`, in their order, and retires it. REQUIRES: `from` is a queue pair
  // of the same device whose receives have as many segments or fewer. Both must be idle (kInvalidState). Receives of
  // datagrams, and those of another kind of queue pair, cannot move: kInvalidState if there are any. kLimitReached: no
  // room for all of them. Failure changes nothing.
  virtual Outcome inherit_recvs(QueuePair& from) = 0;

  // Another queue pair will take its place: all calls but the destructor fail with kInvalidState afterwards.
  // kInvalidState, and nothing changes: it is not idle, has receives, or exchanges addresses.
  virtual Outcome retire() = 0;
  // The sink has heard of all that has happened so far, or hears of it right now: the destructor drops no event.
  virtual bool has_told_all() const = 0;

 protected:
  // Written by the backend, under the locks that it documents.
  std::atomic<QueuePairState> state_{QueuePairState::kIdle};
};

}  // namespace softdat::hca
