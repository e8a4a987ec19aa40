// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/conformance/shm_world.h"
#include "tests/transport/conformance/tcp_world.h"
#include "tests/transport/conformance/world.h"
#include "transport/loop/loop_carrier.h"

namespace softdat::transport::conformance {
namespace {

class LoopWorld final : public World {
 public:
  LoopWorld(const loop::LoopOptions& options, bool is_one) : network_(options) {
    here_ = std::make_unique<loop::LoopCarrier>(network_, Address{.ipv4 = 1});
    if (!is_one) there_ = std::make_unique<loop::LoopCarrier>(network_, Address{.ipv4 = 2});
  }
  Carrier& here() override { return *here_; }
  Carrier& there() override { return there_ ? *there_ : *here_; }
  Address here_address() override { return {.ipv4 = 1}; }
  Address there_address() override { return {.ipv4 = there_ ? 2u : 1u}; }
  Address nowhere_address() override { return {.ipv4 = 9}; }
  void kill_there() override { there_->kill(); }

  std::size_t turn() override {
    if (const auto due = network_.next_due()) now_ = *due;
    return here_->turn(now_) + (there_ ? there_->turn(now_) : 0);
  }

 private:
  base::Time now_{};
  loop::LoopNetwork network_;
  std::unique_ptr<loop::LoopCarrier> here_;
  std::unique_ptr<loop::LoopCarrier> there_;
};

WorldFactory loop_world(const std::string& name, const loop::LoopOptions& options, bool is_one = false) {
  return {name, [=] { return std::make_unique<LoopWorld>(options, is_one); }};
}

std::vector<WorldFactory> make_worlds() {
  std::vector<WorldFactory> all = {
      loop_world("loop", {}),
      loop_world("loop_self", {}, true),
      loop_world("loop_unkind", {.seed = 42,
                                 .max_delay = std::chrono::milliseconds(1),
                                 .capacity = 9000,
                                 .max_per_send = 5000,
                                 .max_chunk = 1500,
                                 .random_chunks = true,
                                 .items_per_turn = 3}),
  };
  for (WorldFactory& factory : shm_worlds()) all.push_back(std::move(factory));
  for (WorldFactory& factory : tcp_worlds()) all.push_back(std::move(factory));
  return all;
}

}  // namespace

const std::vector<WorldFactory>& worlds() {
  static const std::vector<WorldFactory> all = make_worlds();
  return all;
}

}  // namespace softdat::transport::conformance
