// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/shm_request.h"

#include <utility>

#include "transport/shm/carrier_parts.h"
#include "transport/shm/link.h"

namespace softdat::transport::shm {

ShmRequest::ShmRequest(CarrierParts& carrier, Link& link, std::uint32_t number, const Offer& offer,
                       Unanswered unanswered)
    : carrier_(carrier), link_(&link), number_(number), offer_(offer), unanswered_(std::move(unanswered)) {
  ++*unanswered_;
}

ShmRequest::~ShmRequest() {
  // On the stack, because a destructor must not allocate.
  const BareRefusal refusal = encode_bare_refusal(Refusal::kBusy, false);
  if (Link* link = leave()) link->conversations().finish(number_, RecordKind::kRefuse, refusal);
}

Link* ShmRequest::leave() {
  if (unanswered_) --*std::exchange(unanswered_, nullptr);
  return std::exchange(link_, nullptr);
}

std::unique_ptr<Channel> ShmRequest::accept(const Offer& reply, ChannelSink& sink) {
  if (link_ == nullptr) return nullptr;
  // The steps that allocate come first, because a request that has left its link cannot come back.
  auto channel = std::make_unique<ShmChannel>(carrier_, sink);
  channel->opening().answer(offer_, reply);
  const Bytes answer = encode_offer(reply);
  if (carrier_.tapper != nullptr) channel->tap(carrier_.tapper);
  leave()->conversations().accept(number_, *channel, answer);
  return channel;
}

void ShmRequest::reject(std::span<const std::byte> private_data) {
  Tapper* const tapper = carrier_.tapper;
  if (tapper != nullptr && link_ != nullptr) tapper->on_reject(offer_, private_data);
  const RefusalNotice notice{.reason = Refusal::kByConsumer,
                             .private_data = {private_data.begin(), private_data.end()}};
  const Bytes refusal = encode_refusal(notice);  // first, as above
  if (Link* link = leave()) link->conversations().finish(number_, RecordKind::kRefuse, refusal);
}

}  // namespace softdat::transport::shm
