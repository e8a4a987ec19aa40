// SPDX-License-Identifier: BSD-2-Clause
// One side of a conversation between two DAT providers that know of each other only what the wire tells. Both sides run
// the same case; whoever began the connection is the initiator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tests/conformance/peer.h"

namespace softdat::interop {

using conformance::Peer;

struct Place {
  std::string adapter;  // the IA's name
  std::string address;  // IPv4, of the responder
  DAT_CONN_QUAL port = 0;
};

// What `right` must be; throws conformance::SetupFailure with `what` when it is not.
void expect(bool right, const std::string& what);

// The next event, which is asked for again and again: how a foreign provider wakes who waits is not what is tried here.
// `what` is what the event would tell of, for the failure when none comes.
DAT_EVENT next_event(DAT_EVD_HANDLE evd, const std::string& what);
DAT_DTO_COMPLETION_EVENT_DATA next_completion(DAT_EVD_HANDLE evd, const std::string& what);

class Conversation {
 public:
  static constexpr std::size_t kSlots = 4;                    // messages that may come before one is looked at
  static constexpr std::size_t kSlot = std::size_t{1} << 20;  // the longest message
  static constexpr std::size_t kWindow = std::size_t{2} << 20;
  static constexpr std::size_t kHere = kSlots * kSlot;    // what this side sends from and reads to
  static constexpr std::size_t kThere = kHere + kWindow;  // what the other side writes to and reads from
  static constexpr std::size_t kWordsAt = kThere + kWindow;
  static constexpr std::size_t kMemory = kWordsAt + 4096;

  Conversation(const Place& place, bool is_initiator);

  bool is_initiator() const { return is_initiator_; }
  Peer& peer() { return *peer_; }
  conformance::Memory& memory() { return *peer_->memory; }

  // Listens, and says "ready" on the standard output for whoever starts the other side.
  void listen();
  // Begins, or takes, one connection, with receives posted; returns what the other side gave along to the initiator.
  std::string connect(std::string_view private_data = {});
  // The same without receives: those are the caller's.
  std::string begin(std::string_view private_data = {});
  // The same in its parts, with receives.
  void ask(std::string_view private_data);
  DAT_CR_HANDLE take_request();
  std::string await_established();
  // A fresh endpoint for the next connection.
  void renew();

  // A small message, and the wait for one: the two sides take turns by them.
  void tell(std::uint64_t a = 0, std::uint64_t b = 0);
  struct Words {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
  };
  Words hear();
  // A message of `size` bytes that only `seed` makes, in `segments` parts, and the wait for it.
  void post_pattern(std::size_t size, unsigned seed, DAT_COUNT segments = 1);
  void hear_pattern(std::size_t size, unsigned seed);
  // Each tells the other where its kThere is.
  DAT_RMR_TRIPLET exchange_places();

  // The next request must be a success of this length.
  void await_request(std::size_t length);

  // The initiator leaves in an orderly way, and both see it.
  void part();
  void await_disconnected();
  // The connection must have ended, in whatever way providers put it.
  void await_end();

 private:
  void post_receives();
  void request_connection(std::string_view private_data);
  // The slot of the next receive, which must be a success of this length. repost() gives it back.
  std::size_t await_receive(std::size_t length);
  void repost();

  Place place_;
  bool is_initiator_;
  std::unique_ptr<Peer> peer_;
  std::size_t next_slot_ = 0;  // of the receive that completes next
};

}  // namespace softdat::interop
