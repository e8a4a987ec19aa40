// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/listener.h"

#include <utility>

#include "simnic/connection_request.h"
#include "simnic/engine.h"

namespace softdat::simnic {

Listener::~Listener() {
  {
    const Engine::Hold hold(engine_);
    port_.reset();
  }
  // Requests not delivered yet are refused as they die in there.
  engine_.upward().forget(this);
}

std::optional<transport::ListenError> Listener::open_with_baton(std::uint32_t backlog) {
  transport::ListenResult result = engine_.carrier().listen(service_id_, backlog, *this);
  port_ = std::move(result.port);
  if (port_) return std::nullopt;
  return result.error;
}

void Listener::on_request(std::unique_ptr<transport::InboundRequest> request) {
  auto wrapped = std::make_unique<ConnectionRequest>(engine_, std::move(request));
  engine_.upward().push(this, RequestNews{&sink_, std::move(wrapped)});
}

}  // namespace softdat::simnic
