// SPDX-License-Identifier: BSD-2-Clause
// RSP: listens on a connection qualifier for one request, which only its own EP can accept.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "hca/device.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class Endpoint;
class EventDispatcher;

struct ReservedServicePointParameters {
  Handle ia;
  std::uint64_t conn_qual;
  Handle evd;
  Handle ep;  // null when the provider makes it
};

// Any thread.
class ReservedServicePoint final : public Object, private hca::ListenerSink {
 public:
  static constexpr Kind kKind = Kind::kRsp;

  // dat_rsp_create. `ep` null: the provider makes one when the request comes. INVALID_STATE unless
  // the EP is UNCONNECTED; it is RESERVED afterwards.
  static Status create(InterfaceAdapter& ia, std::uint64_t conn_qual, Endpoint* ep, EventDispatcher& evd, Handle& rsp);
  // dat_rsp_free. An EP whose request has not come is UNCONNECTED again.
  static Status free(Pin<ReservedServicePoint> rsp);

  ReservedServicePointParameters query() const;  // dat_rsp_query

 private:
  ReservedServicePoint(InterfaceAdapter& ia, std::uint64_t conn_qual, Endpoint* ep, EventDispatcher& evd);
  Status start_listening();
  void on_request(std::unique_ptr<hca::ConnectionRequest> request) override;
  void detach() override;

  // Fixed after create(); the listener goes first.
  std::shared_ptr<EventDispatcher> evd_;
  std::shared_ptr<Endpoint> ep_;
  const std::uint64_t conn_qual_;
  std::unique_ptr<hca::Listener> listener_;

  std::atomic<bool> is_spent_{false};  // its one request has come
};

}  // namespace softdat::object
