// SPDX-License-Identifier: BSD-2-Clause
// TimelineMessages: the messages of one endpoint, as the timeline knows them: which posts wait for their message and
// for their completion, and which completions wait for their event.
//
// Messages of a connection are numbered, on both sides alike and for each kind apart. Such a number gives the message a
// flow, by which a reader of timelines joins the events of both sides; 0: none.
//
// Guarded by the lock of TimelineEndpoints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace softdat::base {

class TimelineMessages {
 public:
  enum class Kind : std::uint8_t { kWrite, kSend, kRead, kAtomic };  // kSend: all that take a receive
  struct Post {
    Kind kind = Kind::kSend;
    std::uint64_t cookie = 0;
    std::uint64_t bytes = 0;
    bool is_silent = false;     // its success makes no event
    bool writes_first = false;  // a write with immediate data: a write, and what takes a receive
  };
  struct Completion {
    std::uint64_t cookie = 0;
    bool is_receive = false;
    bool is_success = true;
  };

  // A connection is established: messages count from its first. Completions that wait stay.
  void connect(std::uint32_t connection, bool is_initiator);

  // A post. Returns its flow. Throws std::bad_alloc.
  std::uint64_t post(const Post& post);
  // The adapter has refused the last post. Without one: nothing.
  void take_back();
  // A message is handed over. Returns the flow of its post; empty: it belongs to none that still waits, because it is
  // sent again, or is the write before immediate data.
  std::optional<std::uint64_t> send(Kind kind);

  // A message of the peer's has been placed. Returns its flow.
  std::uint64_t place(Kind kind);
  // The flow of the peer's next message that takes a receive.
  std::uint64_t next_receive() const;

  // Notes a completion. Its event waits until dequeue(). Throws std::bad_alloc.
  struct Completed {
    std::uint64_t flow = 0;
    bool was_placed_here = false;  // it was never handed over: this process has placed it itself
  };
  Completed complete(const Completion& completion);
  // The event of a completion is handed to the program. `is_receive`: whether it is one of a receive, if that is known.
  // Returns its flow; 0 also if there is no such completion.
  std::uint64_t dequeue(std::uint64_t cookie, std::optional<bool> is_receive);

 private:
  struct Pending {
    std::uint64_t cookie = 0;
    std::uint64_t flow = 0;
    bool is_silent = false;
    bool is_receive = false;
    Kind kind = Kind::kSend;
    bool writes_first = false;
    bool is_sent = false;
  };

  std::uint64_t flow_of(bool is_own, Kind kind, std::uint32_t number) const;
  void await_message(Kind kind);
  void forget_message(Kind kind);
  Pending* take_unsent(Kind kind);
  void drop_sends(std::size_t count);
  Pending take_completed(const Completion& completion);

  std::uint32_t connection_ = 0;  // a number that both sides have; 0: none
  bool is_initiator_ = false;
  // Since it was connected:
  std::array<std::uint32_t, 4> posted_{};            // by kind
  std::array<std::uint32_t, 4> placed_{};            // of the peer's, by kind
  std::uint32_t received_ = 0;                       // receives that have completed
  std::deque<Pending> sends_;                        // posted and not completed
  std::uint64_t first_send_ = 0;                     // number of the first of these
  std::array<std::deque<std::uint64_t>, 4> unsent_;  // numbers of sends that are not handed over, by kind
  std::deque<Pending> ready_;                        // completed and not dequeued
};

}  // namespace softdat::base
