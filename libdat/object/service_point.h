// SPDX-License-Identifier: BSD-2-Clause
// PSP: listens on a connection qualifier and turns each peer's wish into a connection request.
#pragma once

#include <cstdint>
#include <memory>

#include "hca/device.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EventDispatcher;

struct ServicePointParameters {
  Handle ia;
  std::uint64_t conn_qual;
  Handle evd;
  bool provider_makes_endpoints;
};

// Any thread. The EVD's length is the backlog: a request that finds it full is refused.
class ServicePoint final : public Object, private hca::ListenerSink {
 public:
  static constexpr Kind kKind = Kind::kPsp;

  // dat_psp_create. `provider_makes_endpoints`: DAT_PSP_PROVIDER_FLAG; each request then brings an
  // EP in TENTATIVE_CONNECTION_PENDING.
  static Status create(InterfaceAdapter& ia, std::uint64_t conn_qual, EventDispatcher& evd,
                       bool provider_makes_endpoints, Handle& psp);
  // dat_psp_create_any: a free qualifier below 65536.
  static Status create_any(InterfaceAdapter& ia, std::uint64_t& conn_qual, EventDispatcher& evd,
                           bool provider_makes_endpoints, Handle& psp);
  // dat_psp_free. Requests that were handed out stay answerable.
  static Status free(Pin<ServicePoint> psp);

  ServicePointParameters query() const;  // dat_psp_query

 private:
  ServicePoint(InterfaceAdapter& ia, std::uint64_t conn_qual, EventDispatcher& evd, bool provider_makes_endpoints);
  void on_request(std::unique_ptr<hca::ConnectionRequest> request) override;
  void detach() override;

  // Fixed after create(); the listener goes first.
  std::shared_ptr<EventDispatcher> evd_;
  const std::uint64_t conn_qual_;
  const bool provider_makes_endpoints_;
  std::unique_ptr<hca::Listener> listener_;
};

}  // namespace softdat::object
