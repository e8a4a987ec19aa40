// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>

#include "hca/connection.h"
#include "hca/result.h"
#include "hca/types.h"

namespace softdat::hca {

inline constexpr std::uint32_t kNoRecvLimit = ~std::uint32_t{0};

// A reliable connected queue pair. Every call from any thread. Its destructor breaks a live
// connection (the peer sees a disconnect), discards posted work without completions, and returns
// only when no sink call is running or will come.
class QueuePair {
 public:
  virtual ~QueuePair() = default;

  // Every post asks, so it is no call into the backend.
  QueuePairState state() const { return state_.load(std::memory_order_seq_cst); }
  virtual const QueuePairLimits& limits() const = 0;

  // Valid in kConnected, kDisconnecting and kError (flushed at once in the latter two). Errors:
  // kInvalidState, kLimitReached (queue full), kInvalidArgument (too many segments, unknown opcode
  // or flag, or lengths that add up beyond 2^32-1), kPermission (a segment's key, range, rights or
  // domain). A refused request leaves no trace.
  virtual Outcome post_send(const SendRequest& request) = 0;

  // The new key, 0 for an unbind. It opens when the bind's turn has come among the sends, and nothing
  // posted later starts before that; the old key shuts then. Valid and flushed as sends are. Errors
  // besides theirs: kBadKey, kOutOfRange, kMissingRight of the region; kWrongDomain of region or
  // window. A bind that fails later breaks the connection.
  virtual Result<std::uint32_t> post_bind(const BindRequest& request) = 0;

  // Valid in every state (flushed at once in kError). Errors as post_send; kInvalidState with a
  // shared receive queue.
  virtual Outcome post_recv(const RecvRequest& request) = 0;

  // Requests posted whose completion has not been generated. Of a shared receive queue only those
  // that this queue pair has taken.
  virtual std::uint32_t sends_outstanding() const = 0;
  virtual std::uint32_t recvs_outstanding() const = 0;

  // When more than `soft` receives are outstanding, which may be now, the sink is told once; when
  // more than `hard` are, the connection is broken, as often as there is one. kNoRecvLimit: none.
  // Replaces earlier limits.
  virtual void set_recv_limits(std::uint32_t soft, std::uint32_t hard) = 0;

  // kIdle > kConnecting; the sink hears the end. kInvalidState unless idle; kBadAddress;
  // kInvalidArgument.
  virtual Outcome connect(const ConnectParameters& parameters) = 0;

  // Graceful: what is posted completes first. Abrupt: it is flushed. While kConnecting or
  // kAccepting: gives up (no further event than kDisconnected). In kError: success, nothing
  // happens. kInvalidState in kIdle.
  virtual Outcome disconnect(bool graceful) = 0;

  // kError (or kIdle) > kIdle. kInvalidState otherwise. Work posted and unflushed is discarded with
  // flush completions.
  virtual Outcome reset() = 0;

  // The peer's address once connecting; and our own service port as the peer sees it.
  virtual Address remote_address() const = 0;

  // Never 0; what peers see as the port of the requests of this queue pair.
  virtual std::uint16_t local_port() const = 0;

  // Takes over, in their order, the receives that are posted to `from`, a queue pair of the same device with the same
  // number of segments or fewer. Both idle. Afterwards `from` is of no use: everything but its destructor fails there
  // with kInvalidState. Failure (kInvalidState, kLimitReached: no room for all of them) changes nothing.
  virtual Outcome inherit_recvs(QueuePair& from) = 0;

 protected:
  // Written by the backend, which says under which locks.
  std::atomic<QueuePairState> state_{QueuePairState::kIdle};
};

}  // namespace softdat::hca
