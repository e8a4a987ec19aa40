// SPDX-License-Identifier: BSD-2-Clause
// Schedule: one seeded run. Hosts on an unkind loop network, pairs of parties that connect, work,
// fail, reset and connect again, and at the end everything that was promised is looked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/party.h"

namespace softdat::simnic::simulation {

class Schedule {
 public:
  // `nasty`: of all NICs; 0: they are friendly.
  Schedule(std::uint64_t seed, std::uint64_t nasty);
  ~Schedule();

  // Runs to the end. The first deviation in words, or nothing.
  std::string run();

 private:
  struct Pair {
    std::unique_ptr<Party> active;
    std::unique_ptr<Party> passive;
    bool is_asked = false;  // the active side has connected in this life
  };
  // Answers requests by their service id, which names the pair.
  struct Receptionist final : hca::ListenerSink {
    void on_request(std::unique_ptr<hca::ConnectionRequest> request) override;
    Schedule* schedule = nullptr;
    std::vector<std::unique_ptr<hca::ConnectionRequest>> kept;
  };

  void act();
  void act_on(Pair& pair);
  void live(Pair& pair, Party& party);
  void fail(Pair& pair, Party& party);
  void start(Pair& pair);
  void restart(Pair& pair);
  void kill();
  void turn_one();
  void settle();
  std::string check_all();
  std::string finish();
  std::unique_ptr<Party> make_party();
  Host& some_host() { return *hosts_[pick(random_, hosts_.size() - 1)]; }

  Random random_;
  const bool is_gentle_;  // no faults: everything posted must succeed
  const bool is_nasty_;
  transport::loop::LoopNetwork network_;
  base::Time now_{std::chrono::hours(1)};
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<ReceivePool>> pools_;  // of each host
  std::vector<std::unique_ptr<Receptionist>> receptionists_;
  std::vector<std::unique_ptr<hca::Listener>> listeners_;
  std::vector<Pair> pairs_;
  Host* dead_ = nullptr;
};

}  // namespace softdat::simnic::simulation
