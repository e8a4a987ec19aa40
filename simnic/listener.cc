// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/listener.h"

#include <new>
#include <utility>

#include "simnic/connection_request.h"
#include "simnic/engine.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {

Listener::~Listener() {
  {
    const Engine::Hold hold(engine_);
    // With the baton, so that no request is on its way to this object afterwards.
    if (port_) table_.remove(service_id_);
    port_.reset();
  }
  // Requests not delivered yet are refused as they die in there.
  engine_.upcalls().forget(this);
}

// Listed before the port is kept: `add` may throw, and the port then ends with `result`.
std::optional<transport::ListenError> Listener::open_with_baton(std::uint32_t backlog) {
  base::require_lock(locks::kBaton);
  transport::ListenResult result = engine_.carrier().listen(service_id_, backlog, *this);
  if (!result.port) return result.error;
  table_.add(service_id_, *this);
  port_ = std::move(result.port);
  return std::nullopt;
}

void Listener::take_with_baton(std::unique_ptr<transport::InboundRequest>& request) {
  base::require_lock(locks::kBaton);
  auto wrapped = std::make_unique<ConnectionRequest>(engine_, table_, request->offer(), service_id_);
  ConnectionRequest& ours = *wrapped;
  Upcall upcall = RequestUpcall{&sink_, std::move(wrapped)};
  // Adopted before it is posted, because another thread may deliver the upcall at once.
  ours.adopt(std::move(request));
  if (engine_.upcalls().try_post(this, upcall)) return;
  // Out of memory: the caller still has the request, which it refuses.
  request = ours.give_up();
  throw std::bad_alloc();
}

void Listener::on_request(std::unique_ptr<transport::InboundRequest> request) {
  base::require_lock(locks::kBaton);
  take_with_baton(request);
}

}  // namespace softdat::simnic
