// SPDX-License-Identifier: BSD-2-Clause
// One of many processes that are all connected with each other: an endpoint for each of the others, and registered
// memory that the others write into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/event_queue.h"

namespace softdat::tools::mesh {

struct NodePlan {
  std::string ia;
  std::uint32_t rank = 0;
  std::uint32_t processes = 2;
  std::uint32_t registrations = 1;
  std::uint64_t qual = 0;  // of rank 0; the others' follow
};

class Node {
 public:
  // Registers the memory and listens.
  explicit Node(const NodePlan& plan);

  double us_per_registration() const { return us_per_registration_; }
  // Everybody listens by now. Returns when there is a connection with each of the others.
  void connect();
  // Writes into a region of each of the others and sends to it; returns when all that the others owe has come, and was
  // what it had to be.
  void exchange();

 private:
  // Who connects, and where the other may write.
  struct Card {
    std::uint64_t address;
    std::uint32_t rank;
    DAT_RMR_CONTEXT rmr_context;
  };

  void register_memory();
  void create_endpoints();
  Card card_for(std::uint32_t peer) const;
  void take_card(const Card& card, std::uint32_t peer);
  std::uint32_t rank_of(DAT_EP_HANDLE ep) const;
  void accept(DAT_CR_HANDLE request);
  void note_established(const DAT_CONNECTION_EVENT_DATA& event);
  void post_to(std::uint32_t peer);
  void look_at(std::uint32_t peer) const;
  const perf::Region& region_of(std::uint32_t peer) const;

  const NodePlan plan_;
  perf::Adapter adapter_;
  std::vector<std::unique_ptr<perf::Region>> regions_;
  double us_per_registration_ = 0;
  perf::Region outgoing_;  // a word for each of the others
  perf::Region incoming_;  // the same
  perf::EventQueue connections_;
  perf::EventQueue requests_;
  perf::EventQueue receives_;
  std::vector<DAT_EP_HANDLE> endpoints_;
  std::vector<Card> cards_;
};

}  // namespace softdat::tools::mesh
