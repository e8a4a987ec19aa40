// SPDX-License-Identifier: BSD-2-Clause
// Decisions: what the nasty mode does to each message. A decision is a function of the seed, the names of process,
// adapter, endpoint and connection, and the number of the message: never of time or thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "simnic/fault/journal.h"

namespace softdat::simnic::nasty {

// A connection of an endpoint. Both count from 1 on.
struct Where {
  std::uint32_t endpoint = 0;
  std::uint32_t connection = 0;
};

// What happens to a request that is sent. Delays count the polls of the program; 0 means at once.
struct Outbound {
  unsigned source_late = 0;      // until its source is read
  unsigned completion_late = 0;  // until it completes, though it has been acknowledged
};

// What happens to a request or answer that has arrived.
struct Inbound {
  unsigned late = 0;        // looks until it is placed
  unsigned torn = 0;        // looks between its first placed bytes and the rest; 0: placed at once
  std::uint64_t order = 0;  // chooses the order of the pieces
};

// Fixed after construction, but for the journal. Any thread.
class Decisions {
 public:
  // `process` names this process; `seed` is not 0. Every decision that changes something becomes a comment in
  // `journal`, if there is one, and memory for it. Throws std::bad_alloc; the functions below do not.
  Decisions(std::uint64_t seed, std::string_view process, std::string_view ia, std::shared_ptr<fault::Journal> journal);

  // The n-th request that the connection sends.
  Outbound decide_request(const Where& where, std::uint64_t number) const;
  // The n-th request that the connection receives. `is_again`: it has come before, and is not noted again.
  Inbound decide_arrival(const Where& where, std::uint64_t number, bool is_again) const;
  // The n-th answer to a read or atomic of the connection.
  Inbound decide_answer(const Where& where, std::uint64_t number) const;

  // What stands where nothing may be relied on; a byte for each place.
  std::byte garbage(std::uint64_t place) const;

 private:
  // How many of 64 operations each kind of mischief befalls.
  struct Rates {
    unsigned source = 0;
    unsigned completion = 0;
    unsigned arrival = 0;
    unsigned torn = 0;
  };

  std::uint64_t draw(std::string_view what, const Where& where, std::uint64_t number) const;
  Inbound decide_inbound(std::string_view what, const Where& where, std::uint64_t number, bool is_again) const;
  using Values = std::initializer_list<std::pair<std::string_view, std::uint64_t>>;
  void note(std::string_view what, const Where& where, std::uint64_t number, Values values) const;
  bool is_noted() const { return journal_ != nullptr && journal_->is_open(); }

  const std::uint64_t state_;  // the seed and the names
  const std::string names_;    // for the journal
  const Rates rates_;
  const std::shared_ptr<fault::Journal> journal_;
};

}  // namespace softdat::simnic::nasty
