// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/shm_request.h"

#include <utility>

#include "transport/shm/link.h"

namespace softdat::transport::shm {

ShmRequest::ShmRequest(ShmCarrier& carrier, Link& link, std::uint32_t number, const Offer& offer, Unanswered unanswered)
    : carrier_(carrier), link_(&link), number_(number), offer_(offer), unanswered_(std::move(unanswered)) {
  ++*unanswered_;
}

ShmRequest::~ShmRequest() {
  const RefusalNotice notice{.reason = Refusal::kNoListener};
  if (Link* link = leave()) link->finish(number_, RecordKind::kRefuse, encode_refusal(notice));
}

Link* ShmRequest::leave() {
  if (unanswered_) --*std::exchange(unanswered_, nullptr);
  return std::exchange(link_, nullptr);
}

std::unique_ptr<Channel> ShmRequest::accept(const Offer& reply, ChannelSink& sink) {
  if (link_ == nullptr) return nullptr;
  // What may fail for want of memory comes first: a request that has left its link cannot come back.
  auto channel = std::make_unique<ShmChannel>(carrier_, sink);
  channel->expect(offer_, offer_.features & reply.features);
  leave()->accept(number_, *channel, reply);
  return channel;
}

void ShmRequest::reject(std::span<const std::byte> private_data) {
  const RefusalNotice notice{.reason = Refusal::kByConsumer,
                             .private_data = {private_data.begin(), private_data.end()}};
  if (Link* link = leave()) link->finish(number_, RecordKind::kRefuse, encode_refusal(notice));
}

}  // namespace softdat::transport::shm
