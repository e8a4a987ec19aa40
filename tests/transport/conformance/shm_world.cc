// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/conformance/shm_world.h"

#include "tests/transport/conformance/tcp_world.h"
#include "transport/open_carrier.h"
#include "transport/reactor.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::transport::conformance {
namespace {

// Two carriers of one process share memory as two processes do.
class ShmWorld final : public World {
 public:
  explicit ShmWorld(bool is_one) {
    here_ = make(*reactor_here_, own_loopback_address(1));
    if (!is_one) there_ = make(*reactor_there_, own_loopback_address(2));
  }
  Carrier& here() override { return *here_; }
  Carrier& there() override { return there_ ? *there_ : *here_; }
  Address here_address() override { return {.ipv4 = own_loopback_address(1)}; }
  Address there_address() override { return {.ipv4 = own_loopback_address(there_ ? 2 : 1)}; }
  Address nowhere_address() override { return {.ipv4 = own_loopback_address(3)}; }
  void kill_there() override {
    there_->parts().links.sever_all();
    is_there_dead_ = true;
  }

  std::size_t turn() override {
    const base::Time now = base::Clock::now();
    return here_->turn(now) + (there_ && !is_there_dead_ ? there_->turn(now) : 0);
  }

 private:
  static std::unique_ptr<shm::ShmCarrier> make(Reactor& reactor, std::uint32_t ipv4) {
    return std::make_unique<shm::ShmCarrier>(reactor, shm::ShmOptions{.address = {.ipv4 = ipv4}});
  }

  std::unique_ptr<Reactor> reactor_here_ = Reactor::create();
  std::unique_ptr<Reactor> reactor_there_ = Reactor::create();
  std::unique_ptr<shm::ShmCarrier> here_;
  std::unique_ptr<shm::ShmCarrier> there_;
  bool is_there_dead_ = false;
};

// What open_carrier() gives. Its death is tested between processes.
class OpenedWorld final : public World {
 public:
  OpenedWorld(CarrierKind here, CarrierKind there)
      : here_(open_carrier({.kind = here, .address = {.ipv4 = own_loopback_address(1)}})),
        there_(open_carrier({.kind = there, .address = {.ipv4 = own_loopback_address(2)}})) {}
  Carrier& here() override { return *here_; }
  Carrier& there() override { return *there_; }
  Address here_address() override { return {.ipv4 = own_loopback_address(1)}; }
  Address there_address() override { return {.ipv4 = own_loopback_address(2)}; }
  Address nowhere_address() override { return {.ipv4 = own_loopback_address(3)}; }
  bool can_kill() override { return false; }
  void kill_there() override {}

  std::size_t turn() override {
    const base::Time now = base::Clock::now();
    return here_->turn(now) + there_->turn(now);
  }

 private:
  std::unique_ptr<Carrier> here_;
  std::unique_ptr<Carrier> there_;
};

WorldFactory opened_world(const std::string& name, CarrierKind here, CarrierKind there) {
  return {name, [=] { return std::make_unique<OpenedWorld>(here, there); }};
}

}  // namespace

std::vector<WorldFactory> shm_worlds() {
  return {
      {"shm", [] { return std::make_unique<ShmWorld>(false); }},
      {"shm_self", [] { return std::make_unique<ShmWorld>(true); }},
      opened_world("auto", CarrierKind::kAuto, CarrierKind::kAuto),
      // One side may not use shared memory, so the other finds its way by TCP.
      opened_world("auto_to_tcp", CarrierKind::kAuto, CarrierKind::kTcp),
      opened_world("tcp_to_auto", CarrierKind::kTcp, CarrierKind::kAuto),
  };
}

}  // namespace softdat::transport::conformance
