// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/conformance/tcp_world.h"

#include "tests/own_address.h"
#include "transport/tcp/tcp_carrier.h"

namespace softdat::transport::conformance {
namespace {

using tcp::TcpCarrier;
using tcp::TcpOptions;

class TcpWorld final : public World {
 public:
  TcpWorld(TcpOptions options, bool is_one) {
    options.address = here_address();
    here_ = std::make_unique<TcpCarrier>(*reactor_here_, options);
    if (is_one) return;
    options.address = {.ipv4 = own_loopback_address(2)};
    there_ = std::make_unique<TcpCarrier>(*reactor_there_, options);
  }
  Carrier& here() override { return *here_; }
  Carrier& there() override { return there_ ? *there_ : *here_; }
  Address here_address() override { return {.ipv4 = own_loopback_address(1)}; }
  Address there_address() override { return {.ipv4 = own_loopback_address(there_ ? 2 : 1)}; }
  Address nowhere_address() override { return {.ipv4 = own_loopback_address(3)}; }
  void kill_there() override { there_->kill(); }

  std::size_t turn() override {
    const base::Time now = base::Clock::now();
    return here_->turn(now) + (there_ ? there_->turn(now) : 0);
  }

 private:
  const std::unique_ptr<Reactor> reactor_here_ = Reactor::create();
  const std::unique_ptr<Reactor> reactor_there_ = Reactor::create();
  std::unique_ptr<TcpCarrier> here_;
  std::unique_ptr<TcpCarrier> there_;
};

WorldFactory tcp_world(const std::string& name, const TcpOptions& options, bool is_one = false) {
  return {name, [=] { return std::make_unique<TcpWorld>(options, is_one); }};
}

}  // namespace

std::vector<WorldFactory> tcp_worlds() {
  TcpOptions with_crc;
  with_crc.crc = true;
  TcpOptions tiny;
  tiny.max_payload = 3000;
  tiny.send_buffer = 16384;
  tiny.receive_buffer = 16384;
  TcpOptions tiny_with_crc = tiny;
  tiny_with_crc.crc = true;
  TcpOptions old;
  old.mpa_revision = 1;
  return {tcp_world("tcp", {}),        tcp_world("tcp_self", {}, true),          tcp_world("tcp_crc", with_crc),
          tcp_world("tcp_tiny", tiny), tcp_world("tcp_tiny_crc", tiny_with_crc), tcp_world("tcp_revision_1", old)};
}

}  // namespace softdat::transport::conformance
