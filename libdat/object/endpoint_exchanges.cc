// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_exchanges.h"

#include <mutex>
#include <new>

#include "base/narrow.h"
#include "base/words.h"
#include "libdat/object/address_handle.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/socket_address.h"

namespace softdat::object {

Status EndpointExchanges::end(std::uint64_t exchange) {
  std::lock_guard lock(mutex_);
  return open_.erase(exchange) == 1 ? kOk : invalid_parameter(StatusDetail::kInvalidArg3);
}

DatagramNotice EndpointExchanges::make_notice(const hca::DatagramEvent& event) {
  DatagramNotice notice{.ep = ep_.handle(),
                        .private_data = nullptr,
                        .private_data_size = 0,
                        .result = connection_result(event.type),
                        .is_passive = event.is_passive,
                        .address_handle = nullptr,
                        .qp_number = 0,
                        .peer = {},
                        .exchange = 0};
  if (event.peer != nullptr) {
    notice.qp_number = event.peer->qp_number();
    notice.peer = socket_address(event.peer->address());
    // The consumer owns the handle, and frees it with DAT_IB_UD_AH_FREE_OP.
    notice.address_handle = AddressHandle::create(ep_.ia(), event.peer);
    // Without a handle there is nobody to send to.
    if (notice.address_handle == nullptr) notice.result = ConnectionResult::kUnreachable;
  }
  std::lock_guard lock(mutex_);
  notice.exchange = ++last_;
  try {
    open_.insert(notice.exchange);
  } catch (const std::bad_alloc&) {
    // Ending it will be answered as if it had been ended before.
  }
  if (const hca::Bytes* kept = connection_.keep_locked(event.private_data)) {
    notice.private_data = kept->data();
    notice.private_data_size = base::narrow<std::uint32_t>(kept->size());
  }
  return notice;
}

// Why there is no exchange that this side has asked for.
void EndpointExchanges::tell_failure(const hca::DatagramEvent& event) const try {
  if (event.peer != nullptr || event.is_passive || !base::are_words_wanted()) return;
  hca::Failure failure;
  failure.rule = hca::rule_of(event.type);
  if (failure.rule == hca::Rule::kUnknown) return;
  const std::optional<EndpointConnection::Origin> origin = connection_.origin();
  if (!origin) return;
  failure.remote = origin->remote;
  failure.service_id = origin->conn_qual;
  const std::string remedy = remedy_text(failure);
  base::say("the exchange for datagrams fails: " + rule_text(failure) + " (" + words_.name() + ")." +
            (remedy.empty() ? "" : ' ' + remedy) + " See dat_ib_extensions(3).");
} catch (const std::bad_alloc&) {
}

void EndpointExchanges::begin(const hca::DatagramEvent& event, EventDispatcher& evd) {
  const DatagramNotice notice = make_notice(event);
  tell_failure(event);
  if (notice.address_handle != nullptr) ep_.ia().counters().add(ia_counter::kAddressResolved);
  // A full EVD loses the event, and with it the only mention of the handle.
  if (evd.post({nullptr, notice}) || notice.address_handle == nullptr) return;
  // Nobody will ever hear of the handle.
  if (auto unheard = pin_handle<AddressHandle>(notice.address_handle)) {
    static_cast<void>(AddressHandle::free(std::move(unheard)));
  }
}

}  // namespace softdat::object
