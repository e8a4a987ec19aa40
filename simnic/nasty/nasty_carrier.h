// SPDX-License-Identifier: BSD-2-Clause
// NastyCarrier: a carrier between a NIC and its real carrier, which exists only in nasty mode
// (docs/decisions/0027-nasty-mode.md). Every channel of it is a NastyChannel. Channels for datagrams pass unchanged.
//
// What is held back is held for a number of looks, which are the polls of the program, or for a short time, whichever
// ends first: a program that polls sees the same in each run, and one that sleeps or polls memory goes on. Turns of the
// engine's own thread, which is the one that calls wait(), are no looks.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "simnic/nasty/decisions.h"
#include "simnic/nasty/holder.h"
#include "simnic/wrapped_carrier.h"

namespace softdat::simnic::nasty {

// What the clock of the holds is.
enum class HoldClock {
  kReal,
  kTurns,  // what turn() is told, for tests that drive time
};

// Owned by the baton, but for wait() and interrupt().
class NastyCarrier final : public WrappedCarrier {
 public:
  // `port_base`: as NicConfig's. `private_data`: what a peer sent is padded to so many bytes.
  NastyCarrier(std::unique_ptr<transport::Carrier> inner, std::shared_ptr<const Decisions> decisions,
               std::uint32_t port_base, std::size_t private_data, HoldClock clock = HoldClock::kReal)
      : WrappedCarrier(std::move(inner)),
        decisions_(std::move(decisions)),
        port_base_(port_base),
        private_data_(private_data),
        clock_(clock) {}

  transport::ListenResult listen(std::uint64_t service_id, std::uint32_t backlog, transport::PortSink& sink) override;
  std::unique_ptr<transport::Channel> connect(const transport::Address& remote, const transport::Offer& request,
                                              transport::ChannelSink& sink) override;
  std::size_t turn(base::Time now) override;
  transport::Look look() override;
  const transport::WatchWords* watch_words() const override { return nullptr; }  // what is held back changes no word
  void wait(base::Time deadline) override;
  bool can_wait_cancellably() const override { return false; }  // so that only the engine's own thread waits

  // For channels.
  const Decisions& decisions() const { return *decisions_; }
  transport::Carrier& inner() { return *inner_; }
  // The number of the endpoint that has this address: a queue pair names itself by its port (Nic::create_qp).
  std::uint32_t endpoint_of(const transport::Address& own) const { return own.port - 1u - port_base_; }
  // What the peer said, with its private data padded by zeros, as InfiniBand's, whose messages have no length for it.
  // None without memory for that: it counts as it is then.
  std::optional<transport::Offer> pad(const transport::Offer& offer) const;
  // A channel of the endpoint comes. Throws std::bad_alloc.
  void add_endpoint(std::uint32_t endpoint) { connections_.try_emplace(endpoint); }
  // Numbers a connection of such a channel, which has been established.
  Where count_connection(std::uint32_t endpoint) { return {endpoint, ++connections_.find(endpoint)->second}; }

  // For holders. One comes, and goes. Throws std::bad_alloc; the holder has not come then.
  void add_holder();
  void remove_holder(Holder& holder);
  // Begins a hold, and calls end_hold() when it is over, if the holder still holds something then. Allocates nothing.
  Hold hold(Holder& holder, unsigned looks, base::Duration longest);

 private:
  base::Time now() const { return clock_ == HoldClock::kReal ? base::Clock::now() : turned_at_; }
  std::size_t proceed();
  bool is_over(const Hold& hold) const { return looks_ >= hold.looks || now() >= hold.deadline; }
  bool is_counted_here() const { return waiter_.load(std::memory_order_relaxed) != std::this_thread::get_id(); }

  const std::shared_ptr<const Decisions> decisions_;
  const std::uint32_t port_base_;
  const std::size_t private_data_;
  const HoldClock clock_;
  std::map<std::uint32_t, std::uint32_t> connections_;  // of each endpoint that had a channel, that were established
  std::vector<Holder*> restless_;                       // that hold something; null: gone while proceed() runs
  std::size_t holders_ = 0;
  std::uint64_t looks_ = 0;
  base::Time turned_at_{};
  // The earliest end of a hold. Written with the baton, read by wait() without it: a hold that begins while a thread
  // waits stores its end first and interrupts the wait then.
  std::atomic<base::Time::rep> next_{base::kNever.time_since_epoch().count()};
  std::atomic<std::thread::id> waiter_{};  // the thread that calls wait()
};

}  // namespace softdat::simnic::nasty
