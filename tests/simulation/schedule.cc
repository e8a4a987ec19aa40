// SPDX-License-Identifier: BSD-2-Clause
#include "tests/simulation/schedule.h"

#include <algorithm>
#include <string>

namespace softdat::simnic::simulation {
namespace {

using hca::QueuePairState;

constexpr std::uint32_t kFirstAddress = 0x0a000001;
// Turns, as many as the nasty mode holds anything back for (docs/NASTY.md).
constexpr int kMostHeld = 40;

transport::loop::LoopOptions pick_options(Random& random) {
  transport::loop::LoopOptions options;
  options.seed = random() | 1;
  options.max_delay = std::chrono::microseconds(chance(random, 2) ? 0 : pick(random, 1000));
  options.capacity = 300 + pick(random, chance(random, 2) ? 3000 : 100'000);
  options.max_per_send = chance(random, 2) ? transport::loop::LoopOptions::kUnlimited : 1 + pick(random, 2000);
  options.max_chunk = 1 + pick(random, chance(random, 3) ? 20 : 5000);
  options.random_chunks = chance(random, 2);
  options.items_per_turn = chance(random, 2) ? transport::loop::LoopOptions::kUnlimited : 1 + pick(random, 5);
  return options;
}

hca::QueuePairLimits pick_limits(Random& random) {
  return {.send_wr = static_cast<std::uint32_t>(1 + pick(random, 15)),
          .recv_wr = static_cast<std::uint32_t>(1 + pick(random, 15)),
          .send_sge = 4,
          .recv_sge = 4,
          .ird = static_cast<std::uint32_t>(1 + pick(random, 4)),
          .ord = static_cast<std::uint32_t>(1 + pick(random, 4))};
}

}  // namespace

void Schedule::Receptionist::on_request(std::unique_ptr<hca::ConnectionRequest> request) {
  Schedule& all = *schedule;
  if (!all.is_gentle_ && chance(all.random_, 12)) return;  // refuses by destroying it
  if (!all.is_gentle_ && chance(all.random_, 12)) {
    testing::expect_ok(request->reject({}));
    return;
  }
  kept.push_back(std::move(request));
}

Schedule::Schedule(std::uint64_t seed, std::uint64_t nasty)
    : random_(seed), is_gentle_(chance(random_, 3)), is_nasty_(nasty != 0), network_(pick_options(random_)) {
  const std::size_t count = 2 + pick(random_, 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    const NicConfig config{.name = "sim" + std::to_string(i), .drive = Drive::kByHand, .nasty = nasty};
    hosts_.push_back(std::make_unique<Host>(network_, kFirstAddress + i, config));
    pools_.push_back(std::make_unique<ReceivePool>(*hosts_.back(), random_));
    receptionists_.push_back(std::make_unique<Receptionist>());
    receptionists_.back()->schedule = this;
  }
  for (std::size_t i = 1 + pick(random_, 3); i > 0; --i) {
    Pair pair;
    pair.active = make_party();
    pair.passive = make_party();
    pair.active->set_peer(*pair.passive);
    pair.passive->set_peer(*pair.active);
    const auto host = std::find_if(hosts_.begin(), hosts_.end(),
                                   [&](const auto& each) { return each.get() == &pair.passive->host(); });
    Receptionist& sink = *receptionists_[static_cast<std::size_t>(host - hosts_.begin())];
    listeners_.push_back(testing::expect_ok(pair.passive->host().nic().listen(pairs_.size(), 16, sink)));
    pairs_.push_back(std::move(pair));
  }
  settle();
}

Schedule::~Schedule() {
  listeners_.clear();
  receptionists_.clear();
  pairs_.clear();
  pools_.clear();
}

std::unique_ptr<Party> Schedule::make_party() {
  const std::size_t host = pick(random_, hosts_.size() - 1);
  ReceivePool* pool = chance(random_, 2) ? pools_[host].get() : nullptr;
  return std::make_unique<Party>(*hosts_[host], pick_limits(random_), pool);
}

std::string Schedule::run() {
  const std::size_t steps = 200 + pick(random_, 800);
  for (std::size_t step = 0; step < steps; ++step) {
    act();
    if (!chance(random_, 4)) continue;
    if (auto fault = check_all(); !fault.empty()) return fault;
  }
  return finish();
}

void Schedule::act() {
  if (chance(random_, 3)) return turn_one();
  if (chance(random_, 20)) now_ += std::chrono::microseconds(pick(random_, 500));
  for (auto& receptionist : receptionists_) {
    if (receptionist->kept.empty() || !chance(random_, 3)) continue;
    const auto request = std::move(receptionist->kept.back());
    receptionist->kept.pop_back();
    // May be one of an earlier life; then it fails, or is heard of as failed.
    [[maybe_unused]] const auto outcome = request->accept(pairs_[request->service_id()].passive->qp(), {});
  }
  if (!is_gentle_ && dead_ == nullptr && chance(random_, 1500)) return kill();
  if (chance(random_, 40)) pools_[pick(random_, pools_.size() - 1)]->meddle(random_);
  act_on(pairs_[pick(random_, pairs_.size() - 1)]);
}

void Schedule::act_on(Pair& pair) {
  Party& party = chance(random_, 2) ? *pair.active : *pair.passive;
  if (party.is_dead) return;
  if (!pair.is_asked) return start(pair);
  const bool is_over =
      pair.active->qp().state() == QueuePairState::kError && pair.passive->qp().state() == QueuePairState::kError;
  if (is_over && chance(random_, 5)) return restart(pair);
  if (!is_gentle_ && chance(random_, 80)) return fail(pair, party);
  live(pair, party);
}

void Schedule::start(Pair& pair) {
  if (pair.active->is_dead || pair.passive->is_dead) return;
  const auto service = static_cast<std::uint64_t>(&pair - pairs_.data());
  pair.is_asked = true;
  testing::expect_ok(
      pair.active->qp().connect({.remote = pair.passive->host().address(), .service_id = service, .private_data = {}}));
}

// Only after both have seen the end of the old life, and every word of it.
void Schedule::restart(Pair& pair) {
  settle();
  for (Party* party : {pair.active.get(), pair.passive.get()}) {
    if (party->is_dead || party->qp().state() != QueuePairState::kError) return;
  }
  EXPECT_EQ(check_all(), "");
  for (Party* party : {pair.active.get(), pair.passive.get()}) {
    EXPECT_EQ(party->check_ended(), "");
    testing::expect_ok(party->qp().reset());
  }
  for (Party* party : {pair.active.get(), pair.passive.get()}) party->begin_life();
  pair.is_asked = false;
}

void Schedule::live(Pair& pair, Party& party) {
  // Before it is connected a queue pair takes receives only; what is posted then lives on.
  switch (pick(random_, 8)) {
    case 0:
      return party.post_send(random_);
    case 1:
      return party.post_write(random_);
    case 2:
      return party.post_read(random_);
    case 3:
      return party.post_write_immediate(random_);
    case 4:
      return party.post_atomic(random_);
    case 5:
      return party.post_bind(random_);
    default:
      if (pair.is_asked) party.post_recv(random_);
  }
}

void Schedule::fail(Pair& pair, Party& party) {
  switch (pick(random_, 5)) {
    case 0:
    case 1: {
      const bool is_idle = party.qp().state() == QueuePairState::kIdle;
      EXPECT_EQ(party.qp().disconnect(chance(random_, 2)).ok(), !is_idle);
      return;
    }
    case 2:
      return party.post_forbidden(random_);
    case 3:
      return party.revoke_something(random_);
    case 4: {
      const auto connections = network_.connections();
      if (!connections.empty() && chance(random_, 3)) network_.cut(connections[pick(random_, connections.size() - 1)]);
      return;
    }
    default:
      pair.passive->revoke_something(random_);
  }
}

void Schedule::kill() {
  dead_ = &some_host();
  dead_->carrier().kill();
  for (Pair& pair : pairs_) {
    for (Party* party : {pair.active.get(), pair.passive.get()}) party->is_dead |= &party->host() == dead_;
  }
}

void Schedule::turn_one() {
  some_host().nic().turn(now_, chance(random_, 2) ? Haste::kPatient : Haste::kEager);
}

// What the nasty mode holds back moves after some turns, even where no turn before does anything.
void Schedule::settle() {
  const int enough = is_nasty_ ? kMostHeld : 1;
  for (int idle = 0; idle < enough; ++idle) {
    for (auto& host : hosts_) {
      if (host->nic().turn(now_) > 0) idle = -1;
    }
    if (idle < 0) continue;
    if (const auto due = network_.next_due()) {
      now_ = *due;
      idle = -1;
    }
  }
}

std::string Schedule::check_all() {
  for (Pair& pair : pairs_) {
    for (Party* party : {pair.active.get(), pair.passive.get()}) {
      if (party->is_dead) continue;
      if (auto fault = party->check(); !fault.empty()) return fault;
    }
  }
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].get() == dead_) continue;
    if (auto fault = pools_[i]->check(); !fault.empty()) return fault;
  }
  return {};
}

// A gentle run gets all the receives it wants and must come to an end by graceful disconnects
// without a single failure; any other is cut short.
std::string Schedule::finish() {
  for (int round = 0; is_gentle_ && round < 200; ++round) {
    for (auto& receptionist : receptionists_) {
      for (auto& request : receptionist->kept) {
        testing::expect_ok(request->accept(pairs_[request->service_id()].passive->qp(), {}));
      }
      receptionist->kept.clear();
    }
    settle();
    for (Pair& pair : pairs_) {
      for (Party* party : {pair.active.get(), pair.passive.get()}) {
        party->post_recv(random_);
        if (auto fault = party->check(); !fault.empty()) return fault;
      }
    }
  }
  for (Pair& pair : pairs_) {
    for (Party* party : {pair.active.get(), pair.passive.get()}) {
      if (is_gentle_ && party->qp().sends_outstanding() > 0) return "a send that never completed";
      if (!party->is_dead) [[maybe_unused]]
        const auto outcome = party->qp().disconnect(is_gentle_);
    }
  }
  for (auto& receptionist : receptionists_) receptionist->kept.clear();
  settle();
  if (auto fault = check_all(); !fault.empty()) return fault;
  for (Pair& pair : pairs_) {
    for (Party* party : {pair.active.get(), pair.passive.get()}) {
      if (party->is_dead || party->qp().state() == QueuePairState::kIdle) continue;
      if (party->qp().state() != QueuePairState::kError) return "a queue pair that does not end";
      if (auto fault = party->check_ended(); !fault.empty()) return fault;
    }
  }
  return {};
}

}  // namespace softdat::simnic::simulation
