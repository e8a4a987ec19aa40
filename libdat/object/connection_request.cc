// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/connection_request.h"

#include <new>
#include <string>

#include "base/assert.h"
#include "base/words.h"
#include "hca/datagram.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/socket_address.h"

namespace softdat::object {
namespace {

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// The peer learns only that its request is refused.
// Out of memory, the words are missing: the request is refused already, and nobody may refuse it again.
void tell_backlog(std::uint64_t conn_qual, const EventDispatcher& evd) try {
  if (!base::are_words_wanted()) return;
  base::say("a request to connect to connection qualifier " + std::to_string(conn_qual) +
            " is refused: the EVD of the service point is full, " + std::to_string(evd.queue().length()) + " of " +
            std::to_string(evd.queue().length()) +
            ". Create it with a longer queue (evd_min_qlen), or take requests out faster. See dat_evd_create(3).");
} catch (const std::bad_alloc&) {
}

}  // namespace

// The one call at a time that answers. What is not answered in the end can be answered again.
class ConnectionRequest::Claim {
 public:
  explicit Claim(ConnectionRequest& cr) : cr_(cr), is_held_(!cr.is_being_answered_.exchange(true)) {}
  ~Claim() {
    if (is_held_) cr_.is_being_answered_.store(false);
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  bool is_held() const { return is_held_; }
  // The request is answered.
  void keep() {
    SOFTDAT_DEBUG_CHECK(is_held_, "a request is answered by the call that claimed it");
    is_held_ = false;
  }

 private:
  ConnectionRequest& cr_;
  bool is_held_;
};

ConnectionRequest::ConnectionRequest(InterfaceAdapter& ia, std::unique_ptr<hca::ConnectionRequest> request,
                                     std::shared_ptr<Endpoint> ep, const Communicator& communicator)
    : Object(kKind, &ia),
      request_(std::move(request)),
      ep_(std::move(ep)),
      // How the EP was held when the request came. accept() refuses if that has changed.
      held_(ep_ == nullptr ? Reservation::kNone : ep_->connection().reservation()),
      communicator_(communicator),
      private_data_(copy_of(request_->private_data())),
      remote_address_(socket_address(request_->remote_address().with_port(0))) {}

// No memory is as bad as no room in the queue: the peer is refused.
std::shared_ptr<ConnectionRequest> ConnectionRequest::make(InterfaceAdapter& ia,
                                                           std::unique_ptr<hca::ConnectionRequest> request,
                                                           const std::shared_ptr<Endpoint>& ep,
                                                           const Communicator& communicator) {
  try {
    return std::shared_ptr<ConnectionRequest>(new ConnectionRequest(ia, std::move(request), ep, communicator));
  } catch (const std::bad_alloc&) {
    // No CR is there whose end would give the EP back.
    if (ep != nullptr) ep->connection().give_back(ep->connection().reservation());
    return nullptr;
  }
}

bool ConnectionRequest::announce(Object& service_point, std::uint64_t conn_qual, EventDispatcher& evd,
                                 std::unique_ptr<hca::ConnectionRequest> request, std::shared_ptr<Endpoint> ep,
                                 const Communicator& communicator) {
  base::check(request != nullptr, "a service point announces a request");
  SOFTDAT_DEBUG_CHECK(evd.streams().takes(kCrStream), "the EVD of a service point takes connection requests",
                      evd.streams().kinds());
  InterfaceAdapter& ia = service_point.ia();
  const bool is_datagram = hca::asks_for_datagrams(*request);
  ia.counters().add(ia_counter::kCr);
  ia.counters().add(ia_counter::kRequestReceived);
  const std::shared_ptr<ConnectionRequest> self = make(ia, std::move(request), ep, communicator);
  if (self == nullptr) return false;
  // A CR is the provider's: it does not keep the consumer from closing the IA gracefully.
  Adoption adoption(ia, self, Maker::kProvider);
  if (!adoption.status().ok()) {
    // It has no handle that could be closed.
    self->detach();
    return false;
  }
  const Handle cr = adoption.publish();
  if (evd.post({nullptr, RequestArrival{service_point.handle(), &ia.address(), conn_qual, cr, is_datagram}}))
    return true;
  // No consumer will hear of the CR. Its end refuses the peer: detach().
  HandleTable::instance().close(HandleTable::instance().pin_any(cr));
  tell_backlog(conn_qual, evd);
  return false;
}

Status ConnectionRequest::accept(Pin<ConnectionRequest> cr, Endpoint* ep, std::span<const std::byte> private_data) {
  Claim claim(*cr);
  if (!claim.is_held()) return invalid_handle(StatusDetail::kInvalidHandleCr);
  if (const Status status = cr->accept_with(ep, private_data); !status.ok()) return status;
  claim.keep();
  cr->is_accepted_.store(true);
  cr->ia().counters().add(ia_counter::kCrAccepted);
  // dat_cr_accept(3DAT): the CR ends with its answer.
  HandleTable::instance().close(as_object(std::move(cr)));
  return kOk;
}

Status ConnectionRequest::accept_with(Endpoint* ep, std::span<const std::byte> private_data) {
  SOFTDAT_DEBUG_CHECK(is_being_answered_.load(), "a request is answered under a claim");
  SOFTDAT_DEBUG_CHECK(!is_accepted_.load(), "a request is accepted once");
  // An EP that came with the request (RSP, or PSP with DAT_PSP_PROVIDER_FLAG) is the only one that may accept it.
  Endpoint* const own = ep_.get();
  if (own != nullptr && ep != nullptr && ep != own) {
    return invalid_handle(StatusDetail::kInvalidHandleEp);
  }
  Endpoint* const chosen = own != nullptr ? own : ep;
  if (chosen == nullptr || &chosen->ia().device() != &ia().device()) {
    return invalid_handle(StatusDetail::kInvalidHandleEp);
  }
  if (private_data.size() > ia().device().attributes().max_private_data) {
    return invalid_parameter(StatusDetail::kInvalidArg3);
  }
  return chosen->connection().accept(*request_, held_, private_data, communicator_);
}

// A peer that has gone in the meantime needs no answer.
Status ConnectionRequest::reject(Pin<ConnectionRequest> cr, std::span<const std::byte> private_data) {
  if (private_data.size() > cr->ia().device().attributes().max_private_data) {
    return invalid_parameter(StatusDetail::kInvalidArg2);
  }
  Claim claim(*cr);
  if (!claim.is_held()) return invalid_handle(StatusDetail::kInvalidHandleCr);
  const hca::Outcome outcome = cr->request_->reject(private_data);
  if (!outcome && outcome.reason() == hca::Error::kNoMemory) {
    return insufficient_resources(StatusDetail::kResourceMemory);
  }
  claim.keep();
  cr->ia().counters().add(ia_counter::kCrRejected);
  cr->ia().counters().add(ia_counter::kRejectSent);
  HandleTable::instance().close(as_object(std::move(cr)));
  return kOk;
}

Status ConnectionRequest::hand_off(Pin<ConnectionRequest> cr, std::uint64_t conn_qual) {
  Claim claim(*cr);
  if (!claim.is_held()) return invalid_handle(StatusDetail::kInvalidHandleCr);
  const hca::Outcome outcome = cr->request_->hand_off(conn_qual);
  if (!outcome) {
    return outcome.reason() == hca::Error::kNoMemory ? insufficient_resources(StatusDetail::kResourceMemory)
                                                     : invalid_parameter(StatusDetail::kInvalidArg2);
  }
  claim.keep();
  HandleTable::instance().close(as_object(std::move(cr)));
  return kOk;
}

ConnectionRequestParameters ConnectionRequest::query() const {
  return {.remote_address = &remote_address_,
          .remote_port_qual = request_->remote_address().port,
          .private_data = private_data_,
          .local_ep = ep_ == nullptr ? nullptr : ep_->handle()};
}

void ConnectionRequest::detach() {
  SOFTDAT_DEBUG_CHECK(request_ != nullptr, "a request keeps the peer's until it ends");
  // A request without an answer refuses its peer here.
  request_.reset();
  if (!is_accepted_.load() && ep_ != nullptr) ep_->connection().give_back(held_);
}

}  // namespace softdat::object
