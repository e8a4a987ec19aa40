// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram_queue_pair.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/narrow.h"
#include "base/ordered_copy.h"
#include "simnic/engine.h"
#include "simnic/fault.h"
#include "simnic/lock_places.h"
#include "simnic/memory_region.h"
#include "simnic/queue_pair_limits.h"
#include "simnic/receive_request.h"

namespace softdat::simnic {
namespace {

using hca::CompletionStatus;
using hca::ConnectionEventType;
using hca::QueuePairState;

constexpr std::size_t kStandingUpcalls = 1;  // that there are too many receives

// Copies from `bytes` to what the slices name; true when all of it had its place, and none of that faulted.
bool scatter(std::span<const std::byte> bytes, const transport::SliceList& slices) {
  for (const transport::Slice& slice : slices.slices()) {
    const std::size_t part = std::min(slice.length, bytes.size());
    if (!base::copy_ordered(slice.data, bytes.data(), part)) return false;
    bytes = bytes.subspan(part);
  }
  return bytes.empty();
}

// False without memory.
bool resize(std::vector<std::byte>& bytes, std::size_t size) try {
  bytes.resize(size);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool gather(const transport::SliceList& slices, std::span<std::byte> bytes) {
  for (const transport::Slice& slice : slices.slices()) {
    const std::size_t part = std::min(slice.length, bytes.size());
    if (!base::copy_in(bytes.data(), slice.data, part)) return false;
    bytes = bytes.subspan(part);
  }
  return bytes.empty();
}

}  // namespace

AddressHandle::AddressHandle(Engine& engine, std::shared_ptr<DatagramLink> link)
    : engine_(engine),
      address_(link->remote()),
      qp_number_(link->peer_number()),
      link_number_(link->number()),
      link_(std::move(link)) {}

AddressHandle::~AddressHandle() {
  const Engine::Hold hold(engine_);
  link_.reset();
}

DatagramQueuePair::DatagramQueuePair(const DatagramNicView& nic, const hca::QueuePairConfig& config,
                                     hca::DatagramSink& sink)
    : nic_(nic),
      limits_(grant(config)),
      sink_(config.sink),
      datagram_sink_(sink),
      shared_(static_cast<SharedReceiveQueue*>(config.srq)),
      memory_{nic.memory, {static_cast<const ProtectionDomain*>(config.pd)->id(), 0}},
      recv_memory_(shared_ == nullptr ? memory_ : shared_->memory()),
      sends_(limits_.send_wr, limits_.send_sge),
      recvs_(limits_.recv_wr, limits_.recv_sge),
      send_feed_(send_feed_of(config)),
      recv_feed_(recv_feed_of(config)) {
  nic_.engine.upcalls().reserve(kStandingUpcalls);
  const Engine::Hold hold(nic_.engine);
  try {
    number_ = nic_.datagrams.add(*this);
    if (shared_ != nullptr) shared_->join();
  } catch (const std::bad_alloc&) {
    nic_.datagrams.remove(number_);
    nic_.engine.upcalls().release(kStandingUpcalls);
    throw;
  }
}

DatagramQueuePair::~DatagramQueuePair() {
  {
    const Engine::Hold hold(nic_.engine);
    nic_.datagrams.remove(number_);
    if (shared_ != nullptr) shared_->leave(*this);
    release_links();
    while (!sends_.is_empty()) sends_.pop();
    // What came from a shared queue is accounted for until its completion is polled.
    while (!recvs_.is_empty()) {
      if (shared_ != nullptr)
        complete_recv(CompletionStatus::kFlushed, 0, false);
      else
        recvs_.pop();
    }
    nic_.engine.forget(*this);
  }
  nic_.engine.upcalls().forget(this);
  nic_.engine.upcalls().release(kStandingUpcalls + (is_end_promised_ ? 1 : 0));
}

hca::Outcome DatagramQueuePair::post_recv(const hca::RecvRequest& request) {
  if (shared_ != nullptr) return hca::fail(hca::Error::kInvalidState);
  {
    const std::lock_guard lock(recv_mutex_);
    ResolvedSegment found;
    const hca::Outcome outcome = check_receive(memory_, recv_regions_, request, limits_.recv_sge, found);
    if (!outcome) return outcome;
    if (recvs_.is_full()) return hca::fail(hca::Error::kLimitReached);
    counters_.add(hca::Transfer::kPostRecv, push_receive(request, found, recvs_));
  }
  // Both looks must follow the push: a thread that enters kError or sets a limit looks at the queue afterwards.
  const bool is_alarming = recv_limits_.is_alarming([this] { return recvs_outstanding(); });
  if (state() == QueuePairState::kError || is_alarming) nic_.engine.ring(*this);
  return hca::Done{};
}

void DatagramQueuePair::set_recv_limits(std::uint32_t soft, std::uint32_t hard) {
  const Engine::Hold hold(nic_.engine);
  recv_limits_.set(soft, hard);
  look_at_recv_limits();
}

hca::Outcome DatagramQueuePair::inherit_recvs(hca::QueuePair& from) {
  if (from.recvs_outstanding() > 0) return hca::fail(hca::Error::kInvalidState);
  return hca::Done{};
}

void DatagramQueuePair::look_at_recv_limits() {
  base::require_lock(locks::kBaton);
  if (!recv_limits_.is_set()) [[likely]]
    return;
  const std::uint32_t count = recvs_outstanding();
  if (recv_limits_.takes_soft(count) && sink_ != nullptr)
    nic_.engine.upcalls().post_counted(this, RecvLimitUpcall{sink_});
  const bool breaks = recv_limits_.exceeds_hard(count) && state() == QueuePairState::kConnected;
  if (breaks) enter_error(ConnectionEventType::kBroken);
}

hca::Outcome DatagramQueuePair::post_datagram(const hca::DatagramRequest& request) {
  const std::uint64_t length = hca::total_length(request.local);
  if (request.peer == nullptr || (request.flags & ~hca::kSendFlags) != 0 || length > kMaxDatagram ||
      request.local.size() > limits_.send_sge) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  const AccessError fault = check_segments(memory_, request.local, kLocalRead);
  if (fault != AccessError::kNone) return hca::fail(error_of(fault));
  const SendEntry entry{.wr_id = request.wr_id,
                        .link = static_cast<const AddressHandle*>(request.peer)->link_number(),
                        .qp_number = request.qp_number,
                        .flags = request.flags,
                        .length = base::narrow<std::uint32_t>(length),
                        .segment_count = base::narrow<std::uint16_t>(request.local.size())};
  {
    const std::lock_guard lock(send_mutex_);
    if (sends_.is_full()) return hca::fail(hca::Error::kLimitReached);
    sends_.push(entry, request.local);
    counters_.add(hca::Transfer::kPostDatagram, length);
  }
  nic_.engine.ring(*this);
  return hca::Done{};
}

void DatagramQueuePair::run_with_baton() {
  base::require_lock(locks::kBaton);
  nic_.engine.stay();
  while (state() != QueuePairState::kError && !sends_.is_empty()) transmit_oldest();
  look_at_recv_limits();
  const bool is_send_lost = send_feed_.take_loss();
  const bool is_recv_lost = recv_feed_.take_loss();
  if (is_send_lost || is_recv_lost) enter_error(ConnectionEventType::kBroken);
  if (state() == QueuePairState::kError) flush();
}

// The datagram is a copy from here on, so it completes at once, whatever becomes of it: one for which there is no
// memory is lost as any other may be.
void DatagramQueuePair::transmit_oldest() {
  base::require_lock(locks::kBaton);
  const std::uint64_t number = sends_.completed();
  const SendEntry& entry = sends_.at(number);
  const DatagramHead head{.to = entry.qp_number,
                          .from = number_,
                          .from_ipv4 = nic_.address.ipv4,
                          .length = entry.length,
                          .is_solicited = (entry.flags & hca::kSolicited) != 0};
  transport::SliceList slices;
  const AccessError fault = resolve(memory_, sends_.segments(number), kLocalRead, 0, entry.length, slices);
  if (fault != AccessError::kNone) return complete_send(CompletionStatus::kLocalProtection);
  DatagramLink* const link = nic_.datagrams.find_link(entry.link);
  std::vector<std::byte> datagram;
  if (link == nullptr || !resize(datagram, kDatagramHeadSize + entry.length)) {
    return complete_send(CompletionStatus::kSuccess);
  }
  std::ranges::copy(encode_datagram_head(head), datagram.begin());
  const bool is_whole = gather(slices, std::span(datagram).subspan(kDatagramHeadSize));
  if (is_whole) link->send(std::move(datagram));
  complete_send(is_whole ? CompletionStatus::kSuccess : CompletionStatus::kLocalProtection);
}

// A datagram does not wait for a receive, so the shared queue need not run this task when there is one again.
bool DatagramQueuePair::has_receive() {
  base::require_lock(locks::kBaton);
  if (!recvs_.is_empty()) return true;
  return shared_ != nullptr && !shared_->is_empty() && shared_->take(recvs_, *this);
}

void DatagramQueuePair::receive_with_baton(const DatagramHead& head, const transport::Address& sender,
                                           std::span<const std::byte> data) {
  base::require_lock(locks::kBaton);
  if (state() == QueuePairState::kError || !has_receive()) return;
  const std::uint64_t number = recvs_.completed();
  const std::uint32_t length = hca::kDatagramPrefix + head.length;
  if (recvs_.at(number).length < length) return;
  const auto prefix = make_datagram_prefix(head, sender, nic_.address);
  transport::SliceList front, rest;
  const auto segments = recvs_.segments(number);
  const bool is_ours =
      resolve(recv_memory_, segments, hca::kLocalWrite, 0, prefix.size(), front) == AccessError::kNone &&
      resolve(recv_memory_, segments, hca::kLocalWrite, prefix.size(), head.length, rest) == AccessError::kNone;
  const bool is_placed = is_ours && scatter(prefix, front) && scatter(data, rest);
  complete_recv(is_placed ? CompletionStatus::kSuccess : CompletionStatus::kLocalProtection, is_placed ? length : 0,
                head.is_solicited);
  if (recv_feed_.has_lost()) nic_.engine.run_at_end(*this);
}

hca::QueuePairCounts DatagramQueuePair::counts() const {
  hca::QueuePairCounts result = counters_.read_rare();
  result.send_capacity = sends_.capacity();
  result.recv_capacity = recvs_.capacity();
  result.send_high_water = sends_.high_water();
  result.recv_high_water = recvs_.high_water();
  return result;
}

void DatagramQueuePair::complete_send(CompletionStatus status) {
  base::require_lock(locks::kBaton);
  const SendEntry entry = sends_.pop();
  const bool is_success = status == CompletionStatus::kSuccess;
  if (!is_success) counters_.fail_request(status);
  if (is_success && (entry.flags & hca::kSignaled) == 0) return;
  send_feed_.push_with_baton({.wr_id = entry.wr_id,
                              .qp_context = 0,
                              .length = is_success ? entry.length : 0,
                              .status = status,
                              .opcode = hca::CompletionOpcode::kSendDatagram,
                              .solicited = false},
                             (entry.flags & hca::kQuiet) != 0);
}

void DatagramQueuePair::complete_recv(CompletionStatus status, std::uint32_t length, bool is_solicited) {
  base::require_lock(locks::kBaton);
  const RecvEntry entry = recvs_.pop();
  if (status == CompletionStatus::kSuccess) [[likely]]
    counters_.add(hca::Transfer::kRecvDatagram, length);
  else
    counters_.fail_receive(status);
  recv_feed_.push_with_baton({.wr_id = entry.wr_id,
                              .qp_context = 0,
                              .length = length,
                              .status = status,
                              .opcode = hca::CompletionOpcode::kRecvDatagram,
                              .solicited = is_solicited,
                              .srq_account = shared_ == nullptr ? std::uint16_t{0} : shared_->account()},
                             (entry.flags & hca::kQuiet) != 0);
}

void DatagramQueuePair::flush() {
  base::require_lock(locks::kBaton);
  while (!sends_.is_empty()) complete_send(CompletionStatus::kFlushed);
  while (!recvs_.is_empty()) complete_recv(CompletionStatus::kFlushed, 0, false);
}

transport::Offer DatagramQueuePair::make_offer(std::span<const std::byte> private_data) const {
  transport::Offer offer;
  offer.address = nic_.address;
  offer.features = transport::kDatagrams;
  set_queue_pair_number(offer, number_);
  offer.private_data.assign(private_data.begin(), private_data.end());
  return offer;
}

// Also destroys the links of failed exchanges: no call of a link can be on the stack here.
DatagramLink& DatagramQueuePair::make_link() {
  base::require_lock(locks::kBaton);
  std::erase_if(links_, [](const auto& link) { return link->is_over(); });
  auto link = std::make_shared<DatagramLink>(nic_.engine, nic_.datagrams, static_cast<DatagramLinkSink&>(*this));
  links_.reserve(links_.size() + 1);
  if (!is_end_promised_) {
    nic_.engine.upcalls().reserve(1);
    is_end_promised_ = true;
  }
  nic_.engine.upcalls().reserve(1);
  ++promised_exchanges_;
  return *links_.emplace_back(std::move(link));
}

// One that has not begun after all.
void DatagramQueuePair::drop_newest_link() {
  base::require_lock(locks::kBaton);
  links_.pop_back();
  nic_.engine.upcalls().release(1);
  --promised_exchanges_;
}

hca::Outcome DatagramQueuePair::connect(const hca::ConnectParameters& parameters) try {
  if (!is_single_host(parameters.remote)) return hca::fail(hca::Error::kBadAddress);
  if (parameters.private_data.size() > transport::kMaxPrivateData) return hca::fail(hca::Error::kInvalidArgument);
  const Engine::Hold hold(nic_.engine);
  if (state() == QueuePairState::kError) return hca::fail(hca::Error::kInvalidState);
  transport::Offer request = make_offer(parameters.private_data);
  request.service_id = parameters.service_id;
  const base::Time now = nic_.engine.now();
  auto attempt = std::make_unique<ConnectAttempt>(parameters.remote, std::move(request), now, nic_.connect_grace,
                                                  base::deadline_after(now, parameters.timeout));
  DatagramLink& link = make_link();
  try {
    link.connect(std::move(attempt));
  } catch (const std::bad_alloc&) {
    drop_newest_link();
    throw;
  }
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

hca::Outcome DatagramQueuePair::accept_with_baton(transport::InboundRequest& request,
                                                  std::span<const std::byte> private_data) try {
  base::require_lock(locks::kBaton);
  if ((request.offer().features & transport::kDatagrams) == 0) return hca::fail(hca::Error::kInvalidArgument);
  if (state() == QueuePairState::kError) return hca::fail(hca::Error::kInvalidState);
  transport::Offer reply = make_offer(private_data);
  reply.service_id = request.offer().service_id;
  DatagramLink& link = make_link();
  try {
    if (!link.accept(request, reply)) tell({.type = ConnectionEventType::kAcceptFailed, .is_passive = true});
  } catch (const std::bad_alloc&) {
    drop_newest_link();
    throw;
  }
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

bool DatagramQueuePair::on_exchanged(DatagramLink& link, ConnectionEventType type,
                                     std::span<const std::byte> private_data) {
  hca::DatagramEvent event{.type = type, .is_passive = link.is_passive()};
  try {
    event.private_data.assign(private_data.begin(), private_data.end());
    if (type == ConnectionEventType::kEstablished) {
      event.peer = std::make_shared<AddressHandle>(nic_.engine, link.shared_from_this());
    }
  } catch (const std::bad_alloc&) {
    if (type == ConnectionEventType::kEstablished) {
      event.type = link.is_passive() ? ConnectionEventType::kAcceptFailed : ConnectionEventType::kUnreachable;
    }
    event.private_data.clear();
  }
  const bool is_established = event.type == ConnectionEventType::kEstablished;
  if (is_established && state() == QueuePairState::kIdle) {
    state_.store(QueuePairState::kConnected, std::memory_order_seq_cst);
  }
  tell(std::move(event));
  return is_established;
}

void DatagramQueuePair::tell(hca::DatagramEvent event) {
  --promised_exchanges_;
  nic_.engine.upcalls().post(this, DatagramUpcall{&datagram_sink_, std::move(event)});
}

void DatagramQueuePair::release_links() {
  base::require_lock(locks::kBaton);
  for (const auto& link : links_) link->forget_sink();
  links_.clear();
  nic_.engine.upcalls().release(std::exchange(promised_exchanges_, 0));
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
  release_links();
  flush();
  if (sink_ == nullptr) return;
  Upcall end = ConnectionUpcall{sink_, {news, {}}, nullptr};
  if (std::exchange(is_end_promised_, false)) return nic_.engine.upcalls().post(this, std::move(end));
  // No peer has been reached since the last end, and what was posted has been flushed.
  static_cast<void>(nic_.engine.upcalls().try_post(this, end));
}

hca::Outcome DatagramQueuePair::reset() {
  const Engine::Hold hold(nic_.engine);
  const std::scoped_lock lock(send_mutex_, recv_mutex_);
  if (state() == QueuePairState::kConnected) return hca::fail(hca::Error::kInvalidState);
  flush();
  state_.store(QueuePairState::kIdle, std::memory_order_seq_cst);
  return hca::Done{};
}

}  // namespace softdat::simnic
