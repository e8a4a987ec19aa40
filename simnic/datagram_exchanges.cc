// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram_exchanges.h"

#include <new>
#include <utility>

#include "simnic/address_handle.h"
#include "simnic/engine.h"
#include "simnic/lock_places.h"

namespace softdat::simnic {

using hca::ConnectionEventType;

// Also destroys the links of failed exchanges: no call of a link can be on the stack here.
DatagramLink& DatagramExchanges::make_link(DatagramLinkSink& on_end) {
  base::require_lock(locks::kBaton);
  std::erase_if(links_, [](const auto& link) { return link->is_over(); });
  auto link = std::make_shared<DatagramLink>(engine_, datagrams_, on_end);
  links_.reserve(links_.size() + 1);
  // The upcalls are reserved now, one for the outcome and one for the end of the queue pair: telling never allocates.
  if (!has_place_for_end_) {
    engine_.upcalls().reserve(1);
    has_place_for_end_ = true;
  }
  engine_.upcalls().reserve(1);
  ++promised_;
  return *links_.emplace_back(std::move(link));
}

// One that has not begun after all.
void DatagramExchanges::drop_newest_link() {
  base::require_lock(locks::kBaton);
  links_.pop_back();
  engine_.upcalls().release(1);
  --promised_;
}

// Throws std::bad_alloc, and then the exchange has not begun.
void DatagramExchanges::connect(std::unique_ptr<ConnectAttempt> attempt, DatagramLinkSink& on_end) {
  base::require_lock(locks::kBaton);
  DatagramLink& link = make_link(on_end);
  try {
    link.connect(std::move(attempt));
  } catch (const std::bad_alloc&) {
    drop_newest_link();
    throw;
  }
}

void DatagramExchanges::accept(transport::InboundRequest& request, const transport::Offer& reply,
                               DatagramLinkSink& on_end) {
  base::require_lock(locks::kBaton);
  DatagramLink& link = make_link(on_end);
  try {
    if (!link.accept(request, reply)) tell({.type = ConnectionEventType::kAcceptFailed, .is_passive = true});
  } catch (const std::bad_alloc&) {
    drop_newest_link();
    throw;
  }
}

// Out of memory, an exchange that succeeded counts as failed: without its address handle the peer cannot be named.
hca::DatagramEvent DatagramExchanges::describe_end(DatagramLink& link, ConnectionEventType type,
                                                   std::span<const std::byte> private_data) const {
  hca::DatagramEvent event{.type = type, .is_passive = link.is_passive()};
  try {
    event.private_data.assign(private_data.begin(), private_data.end());
    if (type == ConnectionEventType::kEstablished) {
      event.peer = std::make_shared<AddressHandle>(engine_, link.shared_from_this());
    }
  } catch (const std::bad_alloc&) {
    if (type == ConnectionEventType::kEstablished) {
      event.type = link.is_passive() ? ConnectionEventType::kAcceptFailed : ConnectionEventType::kUnreachable;
    }
    event.private_data.clear();
  }
  return event;
}

void DatagramExchanges::tell(hca::DatagramEvent event) {
  --promised_;
  engine_.upcalls().post(owner_, DatagramUpcall{&sink_, std::move(event)});
}

void DatagramExchanges::release() {
  base::require_lock(locks::kBaton);
  // A link may outlive its exchange, because address handles hold it.
  const auto links = std::exchange(links_, {});
  for (const auto& link : links) link->forget_sink();
  engine_.upcalls().release(std::exchange(promised_, 0));
}

}  // namespace softdat::simnic
