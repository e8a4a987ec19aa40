// SPDX-License-Identifier: BSD-2-Clause
// Conversation: one connection of a loop network, with its two ends. Internal to transport/loop.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/loop/active_end.h"
#include "transport/loop/loop_network.h"
#include "transport/loop/passive_end.h"

namespace softdat::transport::loop {

// Both ends live in it, so that one can always put into the inbox of the other. Lives as long as a pointer from share()
// to one of its ends; the destructor takes it out of the network. The network must outlive it. All calls REQUIRE the
// network's lock.
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  explicit Conversation(LoopNetwork& network) : network_(network), active_(network, *this), passive_(network, *this) {}
  ~Conversation() { network_.forget(number_); }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // The number under which the network knows it. Called once, by the network.
  void set_number(std::uint64_t number) { number_ = number; }
  // The end that connects, and the one that is asked.
  ActiveEnd& active() { return active_; }
  PassiveEnd& passive() { return passive_; }
  template <typename AnEnd>
  std::shared_ptr<AnEnd> share(AnEnd& end) {
    return {shared_from_this(), &end};
  }

 private:
  LoopNetwork& network_;
  std::uint64_t number_ = 0;
  ActiveEnd active_;
  PassiveEnd passive_;
};

}  // namespace softdat::transport::loop
