// SPDX-License-Identifier: BSD-2-Clause
// Endpoints for datagrams: sending, and the exchanges by which address handles are got.
#include <new>

#include "base/narrow.h"
#include "base/words.h"
#include "libdat/object/address_handle.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/socket_address.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kFlags = kSuppressFlag | kSolicitedWaitFlag | kUnsignalledFlag | kBarrierFenceFlag;

Status datagram_failure(hca::Error error) {
  const Status status = post_failure(error, false);
  if (status == invalid_parameter(StatusDetail::kInvalidArg2)) return invalid_parameter(StatusDetail::kInvalidArg3);
  if (status == invalid_parameter(StatusDetail::kInvalidArg3)) return invalid_parameter(StatusDetail::kInvalidArg4);
  return status;
}

std::uint64_t length_of(std::span<const Segment> segments) {
  std::uint64_t sum = 0;
  for (const Segment& segment : segments) sum += segment.length;
  return sum;
}

}  // namespace

Status Endpoint::post_datagram(std::span<const Segment> local, const AddressHandle& to, std::uint32_t qp_number,
                               std::uint64_t cookie, std::uint32_t flags) {
  const EndpointBinding& now = bindings_.now();
  hca::DatagramQueuePair* const queue_pair = now.datagram_queue_pair();
  if (queue_pair == nullptr) return model_not_supported();
  if (&to.ia().device() != device_.get()) return invalid_parameter(StatusDetail::kInvalidArg5);
  const bool may_be_unsignalled = now.may_post_unsignalled_request() || (flags & kSuppressFlag) != 0;
  if ((flags & ~kFlags) != 0 || ((flags & kUnsignalledFlag) != 0 && !may_be_unsignalled)) {
    return invalid_parameter(StatusDetail::kInvalidArg7);
  }
  const auto* const device = dynamic_cast<const hca::DatagramDevice*>(device_.get());
  if (length_of(local) > device->max_datagram()) return length_error();
  const hca::QueuePairState state_now = queue_pair->state();
  if (state_now == hca::QueuePairState::kIdle) return words_.refuse_state();
  std::uint32_t wanted = 0;
  if ((flags & kSuppressFlag) == 0 && now.reports_requests()) wanted |= hca::kSignaled;
  if ((flags & kSolicitedWaitFlag) != 0) wanted |= hca::kSolicited;
  if ((flags & kUnsignalledFlag) != 0 && now.may_post_unsignalled_request()) wanted |= hca::kQuiet;
  now.swallow();
  const hca::Outcome outcome = queue_pair->post_datagram(
      {.wr_id = cookie, .flags = wanted, .peer = &to.peer(), .qp_number = qp_number, .local = local});
  return outcome ? kOk : datagram_failure(outcome.reason());
}

Status Endpoint::end_exchange(std::uint64_t exchange) {
  std::lock_guard lock(mutex_);
  return exchanges_.erase(exchange) == 1 ? kOk : invalid_parameter(StatusDetail::kInvalidArg3);
}

DatagramNotice Endpoint::make_notice(const hca::DatagramEvent& event) {
  DatagramNotice notice{.ep = handle(),
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
    notice.address_handle = AddressHandle::create(ia(), event.peer);
    // Without a handle there is nobody to send to.
    if (notice.address_handle == nullptr) notice.result = ConnectionResult::kUnreachable;
  }
  std::lock_guard lock(mutex_);
  notice.exchange = ++last_exchange_;
  try {
    exchanges_.insert(notice.exchange);
  } catch (const std::bad_alloc&) {
    // Ending it will be answered as if it had been ended before.
  }
  if (const hca::Bytes* kept = keep_locked(event.private_data)) {
    notice.private_data = kept->data();
    notice.private_data_size = base::narrow<std::uint32_t>(kept->size());
  }
  return notice;
}

// Why there is no exchange that this side has asked for.
void Endpoint::tell_exchange(const hca::DatagramEvent& event) const try {
  if (event.peer != nullptr || event.is_passive || !base::are_words_wanted()) return;
  hca::Failure failure;
  failure.rule = hca::rule_of(event.type);
  if (failure.rule == hca::Rule::kUnknown) return;
  {
    const std::lock_guard lock(mutex_);
    if (!origin_) return;
    failure.remote = origin_->remote;
    failure.service_id = origin_->conn_qual;
  }
  const std::string remedy = remedy_text(failure);
  base::say("the exchange for datagrams fails: " + rule_text(failure) + " (" + words_.name() + ")." +
            (remedy.empty() ? "" : ' ' + remedy) + " See dat_ib_extensions(3).");
} catch (const std::bad_alloc&) {
}

void Endpoint::on_datagram_event(const hca::DatagramEvent& event) {
  std::shared_ptr<EventDispatcher> evd;
  {
    std::lock_guard lock(mutex_);
    evd = connect_evd_;
  }
  if (evd == nullptr) return;
  const DatagramNotice notice = make_notice(event);
  tell_exchange(event);
  if (notice.address_handle != nullptr) ia().count(ia_counter::kAddressResolved);
  if (evd->post({nullptr, notice}) || notice.address_handle == nullptr) return;
  // Nobody will ever hear of the handle.
  if (auto unheard = pin_handle<AddressHandle>(notice.address_handle)) {
    static_cast<void>(AddressHandle::free(std::move(unheard)));
  }
}

}  // namespace softdat::object
