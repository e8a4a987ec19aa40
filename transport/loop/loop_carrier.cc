// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/loop_carrier.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "transport/loop/conversation.h"

namespace softdat::transport::loop {

class LoopPort final : public Port {
 public:
  LoopPort(LoopCarrier& carrier, std::uint64_t service_id, std::uint32_t backlog, PortSink& sink)
      : carrier_(carrier), service_id_(service_id), backlog_(backlog), sink_(sink) {}
  ~LoopPort() override {
    const auto section = carrier_.network_.enter();
    carrier_.ports_.erase(service_id_);
  }

  bool is_full() const { return *unanswered_ >= std::max<std::size_t>(backlog_, 1); }
  const Unanswered& unanswered() const { return unanswered_; }
  PortSink& sink() const { return sink_; }

 private:
  LoopCarrier& carrier_;
  const std::uint64_t service_id_;
  const std::uint32_t backlog_;
  PortSink& sink_;
  Unanswered unanswered_ = std::make_shared<std::size_t>(0);
};

namespace {

class LoopChannel final : public Channel {
 public:
  // Without an end until attach(): what is established needs a channel, and to make one takes memory.
  explicit LoopChannel(LoopNetwork& network) : network_(network) {}
  void attach(std::shared_ptr<End> end) { end_ = std::move(end); }
  ~LoopChannel() override {
    if (!end_) return;
    const auto section = network_.enter();
    end_->close(CloseMode::kAbrupt);
    end_.reset();
  }

  SendResult send(const Message& message, PayloadSource* payload) override {
    const auto section = network_.enter();
    return end_->send(message, payload);
  }
  void flush() override {}
  void terminate(const TerminateCode& code) override {
    const auto section = network_.enter();
    end_->terminate(code);
  }
  void close(CloseMode mode) override {
    const auto section = network_.enter();
    end_->close(mode);
  }
  Features features() const override {
    const auto section = network_.enter();
    return end_->features();
  }
  const char* carrier_name() const override { return "loop"; }

 private:
  LoopNetwork& network_;
  std::shared_ptr<End> end_;
};

class LoopRequest final : public InboundRequest {
 public:
  LoopRequest(LoopNetwork& network, std::shared_ptr<PassiveEnd> end, const Offer& offer)
      : network_(network), end_(std::move(end)), offer_(offer) {}
  ~LoopRequest() override {
    const auto section = network_.enter();
    if (is_alive()) end_->refuse(Refusal::kBusy, {});
    end_.reset();
  }

  const Offer& offer() const override { return offer_; }
  bool is_alive() const override {
    const auto section = network_.enter();
    return end_->state() == EndState::kRequested;
  }
  std::unique_ptr<Channel> accept(const Offer& reply, ChannelSink& sink) override {
    const auto section = network_.enter();
    // Memory first: accept() posts the reply, which cannot be taken back.
    auto channel = std::make_unique<LoopChannel>(network_);
    if (!is_alive() || !end_->accept(reply, sink)) return nullptr;
    channel->attach(end_);
    return channel;
  }
  void reject(std::span<const std::byte> private_data) override {
    const auto section = network_.enter();
    if (!is_alive()) return;
    end_->refuse(Refusal::kByConsumer, private_data);
  }

 private:
  LoopNetwork& network_;
  std::shared_ptr<PassiveEnd> end_;
  const Offer offer_;
};

}  // namespace

LoopCarrier::LoopCarrier(LoopNetwork& network, const Address& own) : network_(network), own_(own) {
  const auto section = network_.enter();
  network_.carriers_.emplace(own.with_port(0), this);
}

LoopCarrier::~LoopCarrier() {
  kill();
}

ListenResult LoopCarrier::listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) {
  const auto section = network_.enter();
  if (!is_alive_ || has_failed_) return {nullptr, ListenError::kNoResources};
  if (network_.find(own_, service_id)->ports_.contains(service_id)) return {nullptr, ListenError::kAddressInUse};
  auto port = std::make_unique<LoopPort>(*this, service_id, backlog, sink);
  ports_[service_id] = port.get();
  return {std::move(port)};
}

// The request travels as an item, so the peer's sink is called in a turn of its own carrier.
std::unique_ptr<Channel> LoopCarrier::connect(const Address& remote, const Offer& request, ChannelSink& sink) {
  const auto section = network_.enter();
  const auto conversation = std::make_shared<Conversation>(network_);
  conversation->set_number(network_.enlist(conversation));
  ActiveEnd& active = conversation->active();
  PassiveEnd& passive = conversation->passive();
  auto channel = std::make_unique<LoopChannel>(network_);
  make_room();
  active.start_connecting(*this, sink, request);
  LoopCarrier* target = has_failed_ ? nullptr : network_.find(remote, request.service_id);
  if (!is_alive_) {
    active.silence();
  } else if (target == nullptr) {
    active.post({.kind = ItemKind::kRefusal, .refusal = Refusal::kUnreachable});
  } else {
    target->make_room();
    Item item{.kind = ItemKind::kRequest, .offer = request};
    passive.attach(*target);
    passive.post(std::move(item));
  }
  channel->attach(conversation->share(active));
  return channel;
}

// kSwallow: for tests of timeouts, the request gets no answer.
void LoopCarrier::serve_request(const std::shared_ptr<PassiveEnd>& end, const Offer& offer) try {
  if (policy_ == ConnectPolicy::kSwallow) return;
  const auto port = ports_.find(offer.service_id);
  if (policy_ == ConnectPolicy::kRefuse || port == ports_.end()) return end->refuse(Refusal::kNoListener, {});
  if (port->second->is_full()) return end->refuse(Refusal::kBusy, {});
  auto request = std::make_unique<LoopRequest>(network_, end, offer);
  end->start_requested(port->second->unanswered(), offer);
  port->second->sink().on_request(std::move(request));
} catch (const std::bad_alloc&) {
  end->refuse(Refusal::kBusy, {});
}

// Either list has room for the ends of all connections, so that an end can be noted without memory.
void LoopCarrier::make_room() {
  const std::size_t ends = 2 * network_.conversations_.size();
  for (auto* list : {&busy_, &in_turn_}) {
    if (list->capacity() < ends) list->reserve(2 * ends);
  }
}

void LoopCarrier::note_busy(const std::shared_ptr<End>& end) {
  if (end->set_queued(true)) return;
  SOFTDAT_DEBUG_CHECK(busy_.size() < busy_.capacity(), "an end is noted without memory", busy_.size());
  busy_.push_back(end);
  has_work_.store(true, std::memory_order_seq_cst);
  activity_.notify();
}

std::size_t LoopCarrier::turn(base::Time now) {
  const auto section = network_.enter();
  if (!is_alive_) return 0;
  network_.advance(now);
  // Before the list is taken. A note that comes afterwards sets it again, and wait() sees it.
  has_work_.store(false, std::memory_order_seq_cst);
  const bool fails_now = std::exchange(must_fail_, false);
  if (fails_now) break_down();
  SOFTDAT_DEBUG_CHECK(in_turn_.empty(), "a turn does not begin within another", in_turn_.size());
  in_turn_.swap(busy_);
  if (network_.is_seeded()) std::shuffle(in_turn_.begin(), in_turn_.end(), network_.random());
  std::size_t count = fails_now ? 1 : 0;
  // By index: a sink may connect, which may move the list.
  for (std::size_t i = 0; i < in_turn_.size(); ++i) {
    const std::shared_ptr<End> end = in_turn_[i];
    // Before serve(): an end that becomes busy meanwhile is queued anew.
    end->set_queued(false);
    count += serve(*end);
    if (end->is_busy()) note_busy(end);
  }
  in_turn_.clear();
  return count;
}

void LoopCarrier::fail() {
  const auto section = network_.enter();
  must_fail_ = true;
  has_work_.store(true, std::memory_order_seq_cst);
  activity_.notify();
}

// As carriers do whose descriptors are gone: every connection is lost, on both sides.
void LoopCarrier::break_down() {
  has_failed_ = true;
  leave_network();
  for (const std::uint64_t number : network_.connections()) {
    const auto alive = network_.conversations_[number].lock();
    const bool is_ours = alive->active().carrier() == this || alive->passive().carrier() == this;
    if (is_ours) network_.cut(number);
  }
}

// Bounded by what stood there at the start, so that a sink that answers at once cannot hold a turn.
std::size_t LoopCarrier::serve(End& end) {
  std::size_t left = std::min(end.inbox().waiting(), network_.options().items_per_turn);
  std::size_t count = end.wake_sender() ? 1 : 0;
  for (; left > 0 && end.deliver_one(network_.now_); --left) ++count;
  return count;
}

void LoopCarrier::wait(base::Time deadline) {
  const auto is_over = [this] {
    return has_work_.load(std::memory_order_seq_cst) || interrupted_.load(std::memory_order_seq_cst);
  };
  while (!is_over()) {
    // The predicate is asked again after prepare() (base/event_count.h), or a wake-up between the two would be lost.
    const auto ticket = activity_.prepare();
    if (is_over()) {
      activity_.cancel();
    } else if (activity_.wait(ticket, deadline) != base::WakeReason::kNotified) {
      break;
    }
  }
  interrupted_.store(false, std::memory_order_seq_cst);
}

void LoopCarrier::interrupt() {
  interrupted_.store(true, std::memory_order_seq_cst);
  activity_.notify();
}

void LoopCarrier::leave_network() {
  std::erase_if(network_.carriers_, [this](const auto& entry) { return entry.second == this; });
}

void LoopCarrier::kill() {
  const auto section = network_.enter();
  if (!std::exchange(is_alive_, false)) return;
  leave_network();
  const auto bury = [this](End& end, End& peer) {
    if (end.carrier() != this) return;
    const bool has_ended = end.state() == EndState::kClosed;  // and what it said last is on its way
    end.silence();
    if (!has_ended) peer.lose();
  };
  for (auto at = network_.conversations_.begin(); at != network_.conversations_.end();) {
    const auto alive = (at++)->second.lock();  // the last reference to it may go below
    if (!alive) continue;
    bury(alive->active(), alive->passive());
    bury(alive->passive(), alive->active());
  }
  busy_.clear();  // ends of ours whose peers were ours too
}

}  // namespace softdat::transport::loop
