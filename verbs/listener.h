// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "hca/connection.h"
#include "verbs/event_thread.h"
#include "verbs/lock_places.h"
#include "verbs/traits.h"

namespace softdat::verbs {

class Listener;

// The listeners of a device by their service, so that requests can be handed on. Any thread.
class ListenerTable {
 public:
  void add(Listener& listener);
  void remove(Listener& listener);
  // False when nobody listens there; otherwise the request is that listener's, which hears of it soon.
  bool hand_on(std::uint64_t service_id, const CmEvent& request);

 private:
  base::Mutex<locks::kListenerTable> mutex_;
  std::map<std::uint64_t, Listener*> listeners_;  // guarded by mutex_
};

class Listener final : public hca::Listener, private EventTarget {
 public:
  // kAddressInUse: its port is taken, see service_port.h.
  static hca::Result<std::unique_ptr<hca::Listener>> open(EventThread& events, Adapter& adapter, const Traits& traits,
                                                          ListenerTable& table, std::uint64_t service_id,
                                                          std::uint32_t backlog, hca::ListenerSink& sink);
  ~Listener() override;

  std::uint64_t service_id() const override { return service_id_; }

  // From another listener. The sink is called by the event thread.
  void take(const CmEvent& request);

 private:
  friend class ListenerTable;
  Listener(EventThread& events, Adapter& adapter, const Traits& traits, ListenerTable& table, std::uint64_t service_id,
           hca::ListenerSink& sink);
  hca::Outcome listen(std::uint32_t backlog);
  void on_cm_event(const CmEvent& event) override;
  void on_wake() override;
  std::unique_ptr<hca::ConnectionRequest> request_of(const CmEvent& event);

  // Fixed after open().
  EventThread& events_;
  Adapter& adapter_;
  const Traits& traits_;
  ListenerTable& table_;
  const std::uint64_t service_id_;
  hca::ListenerSink& sink_;
  rdma_cm_id* id_ = nullptr;

  base::Mutex<locks::kListener> mutex_;
  std::deque<CmEvent> handed_on_;  // guarded by mutex_
};

}  // namespace softdat::verbs
