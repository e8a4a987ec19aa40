// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram_queue_pair.h"

#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "simnic/engine.h"
#include "simnic/lock_places.h"
#include "simnic/memory_region.h"
#include "simnic/queue_pair_limits.h"

namespace softdat::simnic {
namespace {

using hca::ConnectionEventType;
using hca::QueuePairState;

constexpr std::size_t kStandingUpcalls = 1;  // that there are too many receives

MemoryView memory_of(const DatagramNicView& nic, const hca::QueuePairConfig& config) {
  return {nic.memory, {static_cast<const ProtectionDomain*>(config.pd)->id(), 0}};
}

transport::Offer make_datagram_offer(const DatagramNicView& nic, std::uint32_t number,
                                     std::span<const std::byte> private_data) {
  transport::Offer offer;
  offer.address = nic.address;
  offer.features = transport::kDatagrams;
  set_queue_pair_number(offer, number);
  offer.private_data.assign(private_data.begin(), private_data.end());
  return offer;
}

}  // namespace

DatagramQueuePair::DatagramQueuePair(const DatagramNicView& nic, const hca::QueuePairConfig& config,
                                     hca::DatagramSink& sink)
    : nic_(nic),
      limits_(grant(config)),
      sink_(config.sink),
      sends_(config, limits_, memory_of(nic, config), counters_),
      receives_(config, limits_, memory_of(nic, config), counters_),
      exchanges_(nic.engine, nic.datagrams, this, sink) {
  nic_.engine.upcalls().reserve(kStandingUpcalls);
  const Engine::Hold hold(nic_.engine);
  try {
    number_ = nic_.datagrams.add(*this);
    receives_.join();
  } catch (const std::bad_alloc&) {
    nic_.datagrams.remove(number_);
    nic_.engine.upcalls().release(kStandingUpcalls);
    throw;
  }
}

// First out of reach of the switch and the engine, with the baton; then wait for a sink call that is running, without
// it.
DatagramQueuePair::~DatagramQueuePair() {
  {
    const Engine::Hold hold(nic_.engine);
    nic_.datagrams.remove(number_);
    receives_.leave(*this);
    exchanges_.release();
    sends_.discard();
    receives_.discard();
    nic_.engine.forget(*this);
  }
  nic_.engine.upcalls().forget(this);
  nic_.engine.upcalls().release(kStandingUpcalls + (exchanges_.take_place_for_end() ? 1 : 0));
}

hca::Outcome DatagramQueuePair::post_recv(const hca::RecvRequest& request) {
  const auto posted = receives_.post(request, state_);
  if (!posted) return hca::fail(posted.reason());
  if (posted.value() == ReceivePosted::kMustRing) nic_.engine.ring(*this);
  return hca::Done{};
}

void DatagramQueuePair::set_recv_limits(std::uint32_t soft, std::uint32_t hard) {
  const Engine::Hold hold(nic_.engine);
  receives_.set_limits(soft, hard);
  nic_.engine.run_at_end(*this);
}

// With the posting lock held no poster is between its look at is_retired() and its push.
hca::Outcome DatagramQueuePair::retire() {
  const Engine::Hold hold(nic_.engine);
  const std::lock_guard lock(receives_.posting_lock());
  const bool is_in_use = state() != QueuePairState::kIdle || receives_.is_retired() || recvs_outstanding() > 0 ||
                         exchanges_.is_any_under_way();
  if (is_in_use) return hca::fail(hca::Error::kInvalidState);
  receives_.retire();
  return hca::Done{};
}

bool DatagramQueuePair::has_told_all() const {
  return !nic_.engine.upcalls().holds_any_of(this);
}

// The thread that has the baton sends what others post meanwhile. A poster that is far ahead of it waits for the baton:
// otherwise that thread could not leave for as long as others post.
hca::Outcome DatagramQueuePair::post_datagram(const hca::DatagramRequest& request) {
  const hca::Outcome outcome = sends_.post(request);
  if (!outcome) return outcome;
  if (sends_.is_far_ahead()) {
    const Engine::Hold hold(nic_.engine);
    nic_.engine.run_at_end(*this);
  } else {
    nic_.engine.ring(*this);
  }
  return outcome;
}

// Rung by a post or a limit. An unsent datagram never waits here: DatagramLink queues it.
void DatagramQueuePair::run_with_baton() {
  base::require_lock(locks::kBaton);
  nic_.engine.stay();
  const DatagramHead source{.from = number_, .from_ipv4 = nic_.address.ipv4};
  // The links send their part before more follows, because a link keeps no more than DatagramLink::kMostWaiting.
  for (std::uint32_t sent = 0; state() != QueuePairState::kError && !sends_.is_empty(); ++sent) {
    if (sent == DatagramSendQueue::kMostAtOnce) {
      nic_.engine.run_at_end(*this);
      break;
    }
    sends_.transmit_oldest(source, nic_.datagrams);
  }
  if (receives_.takes_soft_limit() && sink_ != nullptr)
    nic_.engine.upcalls().post_counted(this, RecvLimitUpcall{sink_});
  if (receives_.exceeds_hard_limit() && state() == QueuePairState::kConnected)
    enter_error(ConnectionEventType::kBroken);
  // A completion that found no room breaks the queue pair, as it breaks a connection: the consumer could not know.
  const bool is_send_lost = sends_.take_loss();
  const bool is_receive_lost = receives_.take_loss();
  if (is_send_lost || is_receive_lost) enter_error(ConnectionEventType::kBroken);
  if (state() != QueuePairState::kError) return;
  sends_.flush();
  receives_.flush();
}

void DatagramQueuePair::receive_with_baton(const DatagramHead& head, const transport::Address& sender,
                                           std::span<const std::byte> data) {
  base::require_lock(locks::kBaton);
  if (state() == QueuePairState::kError) return;
  const auto prefix = make_datagram_prefix(head, sender, nic_.address);
  if (!receives_.deliver(head, prefix, data, *this)) nic_.engine.run_at_end(*this);
}

hca::QueuePairCounts DatagramQueuePair::counts() const {
  hca::QueuePairCounts result = counters_.read_rare();
  sends_.read_counts(result);
  receives_.read_counts(result);
  return result;
}

// Exchanges addresses with a queue pair of the peer. One queue pair may have many exchanges under way.
hca::Outcome DatagramQueuePair::connect(const hca::ConnectParameters& parameters) try {
  if (!is_single_host(parameters.remote)) return hca::fail(hca::Error::kBadAddress);
  if (parameters.private_data.size() > transport::kMaxPrivateData) return hca::fail(hca::Error::kInvalidArgument);
  const Engine::Hold hold(nic_.engine);
  if (!may_exchange()) return hca::fail(hca::Error::kInvalidState);
  transport::Offer request = make_datagram_offer(nic_, number_, parameters.private_data);
  request.service_id = parameters.service_id;
  const base::Time now = nic_.engine.now();
  auto attempt = std::make_unique<ConnectAttempt>(parameters.remote, std::move(request), now, nic_.connect_grace,
                                                  base::deadline_after(now, parameters.timeout));
  exchanges_.connect(std::move(attempt), *this);
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

hca::Outcome DatagramQueuePair::accept_with_baton(transport::InboundRequest& request,
                                                  std::span<const std::byte> private_data) try {
  base::require_lock(locks::kBaton);
  if ((request.offer().features & transport::kDatagrams) == 0) return hca::fail(hca::Error::kInvalidArgument);
  if (!may_exchange()) return hca::fail(hca::Error::kInvalidState);
  transport::Offer reply = make_datagram_offer(nic_, number_, private_data);
  reply.service_id = request.offer().service_id;
  exchanges_.accept(request, reply, *this);
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

bool DatagramQueuePair::on_exchanged(DatagramLink& link, ConnectionEventType type,
                                     std::span<const std::byte> private_data) {
  hca::DatagramEvent event = exchanges_.describe_end(link, type, private_data);
  const bool is_established = event.type == ConnectionEventType::kEstablished;
  // The first peer makes the queue pair connected; more may follow.
  if (is_established && state() == QueuePairState::kIdle) {
    state_.store(QueuePairState::kConnected, std::memory_order_seq_cst);
  }
  exchanges_.tell(std::move(event));
  return is_established;
}

hca::Outcome DatagramQueuePair::disconnect(bool) {
  const Engine::Hold hold(nic_.engine);
  if (state() == QueuePairState::kIdle) return hca::fail(hca::Error::kInvalidState);
  enter_error(ConnectionEventType::kDisconnected);
  return hca::Done{};
}

void DatagramQueuePair::enter_error(ConnectionEventType news) {
  base::require_lock(locks::kBaton);
  if (state() == QueuePairState::kError) return;
  state_.store(QueuePairState::kError, std::memory_order_seq_cst);
  exchanges_.release();
  sends_.flush();
  {
    // Awaits posts that have not seen the state. Later ones ring.
    const std::lock_guard lock(receives_.posting_lock());
  }
  receives_.flush();
  if (sink_ == nullptr) return;
  Upcall end = ConnectionUpcall{sink_, {news, {}}, nullptr};
  if (exchanges_.take_place_for_end()) return nic_.engine.upcalls().post(this, std::move(end));
  // No peer has been reached since the last end, and what was posted has been flushed.
  static_cast<void>(nic_.engine.upcalls().try_post(this, end));
}

hca::Outcome DatagramQueuePair::reset() {
  const Engine::Hold hold(nic_.engine);
  // With both posting locks held no post is under way.
  const std::scoped_lock lock(sends_.posting_lock(), receives_.posting_lock());
  if (state() == QueuePairState::kConnected || receives_.is_retired()) return hca::fail(hca::Error::kInvalidState);
  sends_.flush();
  receives_.flush();
  state_.store(QueuePairState::kIdle, std::memory_order_seq_cst);
  return hca::Done{};
}

}  // namespace softdat::simnic
