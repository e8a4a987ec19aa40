// SPDX-License-Identifier: BSD-2-Clause
// FailureReport: gathers the facts about a failed connection of a queue pair, for people to read. The sink makes words
// of them. It costs nothing while nothing fails. docs/decisions/0020-words-instead-of-codes.md.
//
// Guarded by the queue pair's lane, and the baton.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "hca/connection.h"
#include "hca/failure.h"
#include "simnic/fault.h"
#include "simnic/queue_pair_state.h"
#include "simnic/requester.h"
#include "simnic/responder.h"

namespace softdat::simnic {

// How a connection ended.
struct ConnectionEnd {
  QueuePairEvent event;
  const Fault& blame;
  hca::ConnectionEventType news;
  std::optional<std::uint64_t> culprit;  // the request to blame; else the oldest
  base::Duration timeout;                // of connect()
};

class FailureReport {
 public:
  // The longest explanation that is sent to a peer, or taken from one, in bytes.
  static constexpr std::size_t kMostWords = 1024;
  // Bytes of words in a note.
  static constexpr std::size_t kBytesOfNote = 7;

  // All outlive it.
  FailureReport(const MemoryView& memory, const Requester& requester, Responder& responder)
      : memory_(memory), requester_(requester), responder_(responder) {}

  // A connection begins, or another may.
  void begin();

  // Facts, noted when they happen.
  void note_lost_completion() { has_lost_completion_ = true; }
  // The last answer to connect(). `is_service_busy`: the listener had no room.
  void note_answer(bool is_service_busy) { is_service_busy_ = is_service_busy; }
  void note_close(bool is_by_peer) { is_terminated_by_peer_ = is_by_peer; }
  // Adds a piece of the explanation that a peer sends before it terminates. The first letter is in the lowest byte.
  void note_words(std::uint64_t bytes);

  // Why the connection ends. Nothing when that has been told, or there is nothing to tell.
  std::optional<hca::Failure> take_end(const ConnectionEnd& end);
  // Why it is about to end: a request of the peer's cannot be carried out. Nothing when that has been told.
  std::optional<hca::Failure> take_objection(const Fault& objection);
  // For `milliseconds` the peer has had no receive for our oldest send.
  hca::Failure lacks_at_peer(std::uint64_t milliseconds) const;

 private:
  void describe_request(std::uint64_t number, hca::Failure& failure) const;
  hca::Failure refused(const ConnectionEnd& end) const;
  hca::Failure own(const Fault& blame, std::uint64_t culprit) const;
  hca::Failure closed(const ConnectionEnd& end);
  hca::Failure refused_by_peer(const Fault& blame);
  hca::Failure flushed() const;

  const MemoryView& memory_;
  const Requester& requester_;
  Responder& responder_;
  std::string peer_words_;  // as far as it has said
  bool is_told_ = false;    // of this connection, before its end
  bool is_terminated_by_peer_ = false;
  bool is_service_busy_ = false;
  bool has_lost_completion_ = false;  // which is why it ends
};

}  // namespace softdat::simnic
