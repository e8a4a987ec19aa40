// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/nasty_carrier.h"

#include <algorithm>
#include <new>
#include <utility>

#include "simnic/nasty/nasty_channel.h"
#include "simnic/wrapped_port.h"

namespace softdat::simnic::nasty {
namespace {

using transport::ChannelSink;
using transport::InboundRequest;
using transport::Offer;

// A request whose private data is padded.
class NastyRequest final : public WrappedRequest {
 public:
  NastyRequest(NastyCarrier& carrier, std::unique_ptr<InboundRequest> inner)
      : WrappedRequest(std::move(inner)), carrier_(carrier) {
    if (!is_of_datagrams(inner_->offer())) padded_ = carrier_.pad(inner_->offer());
  }

  const Offer& offer() const override { return padded_ ? *padded_ : inner_->offer(); }

  std::unique_ptr<transport::Channel> accept(const Offer& reply, ChannelSink& sink) override {
    if (is_of_datagrams(offer())) return inner_->accept(reply, sink);
    auto channel = std::make_unique<NastyChannel>(carrier_, carrier_.endpoint_of(reply.address), sink);
    return channel->accept(*inner_, reply) ? std::move(channel) : nullptr;
  }

 private:
  NastyCarrier& carrier_;
  std::optional<Offer> padded_;
};

}  // namespace

transport::ListenResult NastyCarrier::listen(std::uint64_t service_id, std::uint32_t backlog,
                                             transport::PortSink& sink) {
  return WrappedPort::listen(*inner_, service_id, backlog, sink, [this](std::unique_ptr<InboundRequest> request) {
    return std::make_unique<NastyRequest>(*this, std::move(request));
  });
}

std::unique_ptr<transport::Channel> NastyCarrier::connect(const transport::Address& remote, const Offer& request,
                                                          ChannelSink& sink) {
  if (is_of_datagrams(request)) return inner_->connect(remote, request, sink);
  auto channel = std::make_unique<NastyChannel>(*this, endpoint_of(request.address), sink);
  channel->connect(remote, request);
  return channel;
}

std::size_t NastyCarrier::turn(base::Time now) {
  turned_at_ = std::max(turned_at_, now);
  const std::size_t moved = inner_->turn(now);
  if (is_counted_here()) ++looks_;
  return moved + proceed();
}

transport::Look NastyCarrier::look() {
  transport::Look seen = inner_->look();
  if (seen.takes_turn) return seen;
  ++looks_;
  seen.done += static_cast<std::uint32_t>(proceed());
  return seen;
}

void NastyCarrier::wait(base::Time deadline) {
  waiter_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  const base::Time next{base::Duration(next_.load(std::memory_order_seq_cst))};
  inner_->wait(std::min(deadline, next));
}

std::optional<Offer> NastyCarrier::pad(const Offer& offer) const try {
  Offer padded = offer;
  if (padded.private_data.size() < private_data_) padded.private_data.resize(private_data_);
  return padded;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

// There is room for all, so that no hold allocates.
void NastyCarrier::add_holder() {
  restless_.reserve(holders_ + 1);
  ++holders_;
}

void NastyCarrier::remove_holder(Holder& holder) {
  --holders_;
  // Replaced and not erased, because proceed() may be walking the list.
  std::replace(restless_.begin(), restless_.end(), &holder, static_cast<Holder*>(nullptr));
}

Hold NastyCarrier::hold(Holder& holder, unsigned looks, base::Duration longest) {
  const Hold hold{.looks = looks_ + looks, .deadline = base::deadline_after(now(), longest)};
  if (std::find(restless_.begin(), restless_.end(), &holder) == restless_.end()) {
    std::erase(restless_, nullptr);
    restless_.push_back(&holder);
  }
  const base::Time::rep end = hold.deadline.time_since_epoch().count();
  if (end < next_.load(std::memory_order_relaxed)) {
    next_.store(end, std::memory_order_seq_cst);
    // A thread that waits already would sleep beyond the end of this hold.
    inner_->interrupt();
  }
  return hold;
}

// Holders may come, go and hold more meanwhile.
std::size_t NastyCarrier::proceed() {
  // Fast path: no message and no ack is held.
  if (next_.load(std::memory_order_relaxed) == base::kNever.time_since_epoch().count()) return 0;
  std::size_t done = 0;
  for (std::size_t i = 0; i < restless_.size(); ++i) {
    Holder* const holder = restless_[i];
    if (holder == nullptr || !holder->hold() || !is_over(*holder->hold())) continue;
    holder->end_hold();
    ++done;
  }
  base::Time next = base::kNever;
  std::erase_if(restless_, [&](const Holder* holder) {
    if (holder == nullptr || !holder->hold()) return true;
    next = std::min(next, holder->hold()->deadline);
    return false;
  });
  next_.store(next.time_since_epoch().count(), std::memory_order_seq_cst);
  return done;
}

}  // namespace softdat::simnic::nasty
