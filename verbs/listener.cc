// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/listener.h"

#include <cerrno>
#include <new>
#include <utility>

#include "base/uncancelled.h"
#include "verbs/address.h"
#include "verbs/connection_request.h"
#include "verbs/service_port.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

// More than this the system's own limit decides.
constexpr std::uint32_t kLongestBacklog = 1024;

}  // namespace

void ListenerTable::add(Listener& listener) {
  const std::lock_guard lock(mutex_);
  listeners_[listener.service_id()] = &listener;
}

void ListenerTable::remove(Listener& listener) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(listener.service_id());
  if (found != listeners_.end() && found->second == &listener) listeners_.erase(found);
}

// take() runs under the table's lock, so remove() in the listener's destructor waits for it.
bool ListenerTable::hand_on(std::uint64_t service_id, const CmEvent& request) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(service_id);
  if (found == listeners_.end()) return false;
  found->second->take(request);
  return true;
}

Listener::Listener(EventThread& events, Adapter& adapter, const Traits& traits, ListenerTable& table,
                   std::uint64_t service_id, hca::ListenerSink& sink)
    : events_(events), adapter_(adapter), traits_(traits), table_(table), service_id_(service_id), sink_(sink) {}

hca::Result<std::unique_ptr<hca::Listener>> Listener::open(EventThread& events, Adapter& adapter, const Traits& traits,
                                                           ListenerTable& table, std::uint64_t service_id,
                                                           std::uint32_t backlog, hca::ListenerSink& sink) {
  std::unique_ptr<Listener> self(new Listener(events, adapter, traits, table, service_id, sink));
  if (const hca::Outcome opened = self->listen(backlog); !opened) return hca::fail(opened.reason());
  return std::unique_ptr<hca::Listener>(std::move(self));
}

hca::Outcome Listener::listen(std::uint32_t backlog) {
  const Library& library = adapter_.library();
  if (library.cm.create_id(adapter_.connections, &id_, nullptr, RDMA_PS_TCP) != 0) return hca::fail(error_of(errno));
  // Before rdma_listen(), whose first request may come before it returns. The destructor undoes both.
  events_.add(key_of(id_), *this);
  table_.add(*this);
  sockaddr_storage address = socket_address(traits_.place.address, port_of_service(service_id_));
  // A backlog of 0 stands for the system's limit.
  const int length = backlog > kLongestBacklog ? 0 : static_cast<int>(backlog);
  const bool is_open =
      library.cm.bind_addr(id_, reinterpret_cast<sockaddr*>(&address)) == 0 && library.cm.listen(id_, length) == 0;
  return is_open ? hca::Outcome(hca::Done{}) : hca::fail(error_of(errno));
}

// The port is free again when the destructor returns, unless a sink is destroying us: then soon.
Listener::~Listener() {
  const base::Uncancelled guard;
  table_.remove(*this);
  events_.forget(*this);
  if (id_ != nullptr) events_.bury_and_wait(id_);
  // No sink will hear of these requests.
  for (const CmEvent& event : handed_on_) {
    adapter_.refuse(event.id);
    events_.bury(event.id);
  }
}

void Listener::take(const CmEvent& request) {
  {
    const std::lock_guard lock(mutex_);
    handed_on_.push_back(request);
  }
  events_.post(*this);
}

std::unique_ptr<hca::ConnectionRequest> Listener::request_of(const CmEvent& event) {
  return std::make_unique<ConnectionRequest>(events_, adapter_, traits_, table_, service_id_, event);
}

void Listener::on_cm_event(const CmEvent& event) {
  if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) sink_.on_request(request_of(event));
}

// Nobody is there to hear that memory is lacking: the peer is refused then, by us or by the request's own end.
void Listener::on_wake() try {
  std::unique_ptr<hca::ConnectionRequest> request;
  {
    const std::lock_guard lock(mutex_);
    if (handed_on_.empty()) return;
    const CmEvent event = std::move(handed_on_.front());
    handed_on_.pop_front();
    if (!handed_on_.empty()) events_.post(*this);
    try {
      request = request_of(event);
    } catch (const std::bad_alloc&) {
      adapter_.refuse(event.id);
      events_.bury(event.id);
      return;
    }
  }
  sink_.on_request(std::move(request));
} catch (const std::bad_alloc&) {
}

}  // namespace softdat::verbs
