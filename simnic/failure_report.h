// SPDX-License-Identifier: BSD-2-Clause
// FailureReport: gathers the facts about a failed connection of a queue pair, for people to read, and has them told:
// the consumer's sink makes words of them, which the peer gets, too, if it takes them. It costs nothing while nothing
// fails. docs/decisions/0020-words-instead-of-codes.md.
//
// Guarded by the queue pair's lane, and the baton. Without memory for it nothing is told.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "hca/connection.h"
#include "hca/failure.h"
#include "simnic/fault.h"
#include "simnic/message_path.h"
#include "simnic/queue_pair_state.h"

namespace softdat::simnic {

class FailureReport {
 public:
  // How a connection ended.
  struct End {
    QueuePairEvent event;
    const Fault& blame;
    hca::ConnectionEventType news;
    std::optional<std::uint64_t> culprit;  // the request to blame; else the oldest
  };

  // For how long a send may find no receive before that is worth a word.
  static constexpr std::chrono::milliseconds kLackWorthTelling{100};

  // `sink` may be null: only the peer is told then, if at all. All outlive it.
  FailureReport(const MemoryView& memory, MessagePath& path, hca::QueuePairSink* sink)
      : memory_(memory), path_(path), sink_(sink) {}

  // A connection begins, or another may.
  void begin();

  // Facts, noted when they happen.
  // The connection is one with this peer. If this side connects: to that service, for so long.
  void note_peer(const hca::Address& peer, std::uint64_t service_id = 0, base::Duration timeout = {}) {
    peer_ = peer;
    service_id_ = service_id;
    timeout_ = timeout;
    is_service_busy_ = false;
  }
  void note_lost_completion() { has_lost_completion_ = true; }
  // The last answer to connect(). `is_service_busy`: the listener had no room.
  void note_answer(bool is_service_busy) { is_service_busy_ = is_service_busy; }
  void note_close(bool is_by_peer) { is_terminated_by_peer_ = is_by_peer; }
  // Adds a piece of the explanation that a peer sends before it terminates. The first letter is in the lowest byte.
  void note_words(std::uint64_t bytes);

  // Why the connection ends. Nothing is told if there is nothing to tell, or all has been told.
  void tell_end(const End& end);
  // Why it is about to end, before it is terminated, at a border of messages: the objection of Outgoing.
  void tell_objection();
  // For `milliseconds` the peer has had no receive for our oldest send.
  void tell_lack_at_peer(std::uint64_t milliseconds);
  // A send of the peer's finds no receive. True: the caller sets a timer of kLackWorthTelling...
  bool watch_for_receive();
  // ...that has run out, or another one.
  void tell_lack(bool is_shared);

 private:
  std::string report(hca::Failure failure);
  void send_words(std::string_view words);
  void describe_request(std::uint64_t number, hca::Failure& failure) const;
  hca::Failure refused(const End& end) const;
  hca::Failure own(const Fault& blame, std::uint64_t culprit) const;
  hca::Failure closed(const End& end);
  hca::Failure refused_by_peer(const Fault& blame);
  hca::Failure flushed() const;
  hca::Failure ended(const End& end);

  const MemoryView& memory_;
  MessagePath& path_;
  hca::QueuePairSink* const sink_;
  hca::Address peer_;
  std::uint64_t service_id_ = 0;  // asked for by this side
  base::Duration timeout_{};      // of connect()
  std::string peer_words_;        // as far as it has said
  bool is_told_ = false;          // of this connection, before its end
  bool is_terminated_by_peer_ = false;
  bool is_service_busy_ = false;
  bool has_lost_completion_ = false;  // which is why it ends
  bool is_lack_watched_ = false;      // of the receive that the peer's present send waits for
};

}  // namespace softdat::simnic
