// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>

#include "hca/connection.h"
#include "simnic/listener_table.h"
#include "transport/carrier.h"

namespace softdat::simnic {

class Engine;

// A carrier's port, and the sink above it.
class Listener final : public hca::Listener, private transport::PortSink {
 public:
  Listener(Engine& engine, ListenerTable& table, std::uint64_t service_id, hca::ListenerSink& sink)
      : engine_(engine), table_(table), service_id_(service_id), sink_(sink) {}
  ~Listener() override;

  // With the baton, once, before anything else. Nothing, or why it cannot listen.
  std::optional<transport::ListenError> open_with_baton(std::uint32_t backlog);

  // With the baton: a request has come, from the carrier or from another listener's consumer. Throws std::bad_alloc,
  // and has not taken it then.
  void take_with_baton(std::unique_ptr<transport::InboundRequest>& request);

  std::uint64_t service_id() const override { return service_id_; }

 private:
  void on_request(std::unique_ptr<transport::InboundRequest> request) override;

  // Fixed after construction.
  Engine& engine_;
  ListenerTable& table_;
  const std::uint64_t service_id_;
  hca::ListenerSink& sink_;
  // Owned by the baton.
  std::unique_ptr<transport::Port> port_;
};

}  // namespace softdat::simnic
