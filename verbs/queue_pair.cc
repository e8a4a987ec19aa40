// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "verbs/completion_queue.h"
#include "verbs/memory_region.h"
#include "verbs/shared_receive_queue.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

// What a device copies while it is posted to, where it can: small messages then cost no second look
// at memory.
constexpr std::uint32_t kWishedInline = 64;

std::uint16_t to_port(std::uint32_t number) {
  return static_cast<std::uint16_t>(1 + number % 0xffff);
}

}  // namespace

QueuePair::QueuePair(const DeviceView& device, const hca::QueuePairConfig& config)
    : device_(device),
      limits_(config.limits),
      context_(config.context),
      sink_(config.sink),
      domain_(static_cast<ProtectionDomain&>(*config.pd)),
      domain_id_(domain_.id()),
      send_queue_(static_cast<CompletionQueue&>(*config.send_cq)),
      recv_queue_(static_cast<CompletionQueue&>(*config.recv_cq)),
      shared_(static_cast<SharedReceiveQueue*>(config.srq)),
      sends_(std::max(config.limits.send_wr, 1u)),
      recvs_(std::max(config.limits.recv_wr, 1u)),
      recv_segments_(recvs_.places() * config.limits.recv_sge),
      recv_counts_(recvs_.places()) {
  usual_work_.sg_list = &usual_segment_;
  usual_work_.num_sge = 1;
}

hca::Result<std::unique_ptr<hca::QueuePair>> QueuePair::create(const DeviceView& device,
                                                               const hca::QueuePairConfig& config) {
  std::unique_ptr<QueuePair> self(new QueuePair(device, config));
  if (const hca::Outcome made = self->make_device_queue_pair(); !made) return hca::fail(made.reason());
  return std::unique_ptr<hca::QueuePair>(std::move(self));
}

// The peer learns of it from the connection manager; nobody here does. What the last completions say of the connection
// comes too late, and may be asked to be told all the same.
QueuePair::~QueuePair() {
  is_dying_.store(true, std::memory_order_seq_cst);
  device_.events.forget(*this);
  device_.withheld.remove(beginning_);
  if (id_ != nullptr) {
    const hca::QueuePairState now = state();
    const bool is_up = now == hca::QueuePairState::kConnected || now == hca::QueuePairState::kDisconnecting ||
                       now == hca::QueuePairState::kAccepting;
    if (is_up) library().disconnect(id_);
    device_.events.bury(id_);
  }
  destroy_device_queue_pair(this);
  for (std::uint32_t i = 0; i < sends_.outstanding(); ++i) {
    if (sends_.at(i).is_counted) send_queue_.discount_unwanted();
  }
  device_.events.forget(*this);
}

hca::Outcome QueuePair::make_device_queue_pair() {
  ibv_qp_init_attr wish{};
  wish.send_cq = send_queue_.cq();
  wish.recv_cq = recv_queue_.cq();
  wish.srq = shared_ == nullptr ? nullptr : shared_->srq();
  wish.qp_type = IBV_QPT_RC;
  wish.cap = {.max_send_wr = std::max(limits_.send_wr, 1u),
              .max_recv_wr = shared_ == nullptr ? std::max(limits_.recv_wr, 1u) : 0,
              .max_send_sge = std::max(limits_.send_sge, 1u),
              .max_recv_sge = shared_ == nullptr ? std::max(limits_.recv_sge, 1u) : 0,
              .max_inline_data = kWishedInline};
  const ibv_qp_cap asked = wish.cap;
  ibv_qp* made = library().create_qp(domain_.pd(), &wish);
  if (made == nullptr && errno == EINVAL) {
    wish.cap = asked;
    wish.cap.max_inline_data = 0;
    made = library().create_qp(domain_.pd(), &wish);
  }
  if (made == nullptr) {
    const int error = errno;
    base::log(base::LogLevel::kNotice,
              "verbs:%s makes no further queue pair (errno %d) of %u sends and %u receives; a device limit, often of "
              "queues for each process",
              device_.traits.place.device.c_str(), error, asked.max_send_wr, asked.max_recv_wr);
    return hca::fail(error_of(error));
  }
  max_inline_ = std::min(wish.cap.max_inline_data, kWishedInline);
  qp_ = made;
  send_queue_.expect_sends(limits_.send_wr);  // before what may lack memory: who destroys the pair releases them
  number_.store(made->qp_num, std::memory_order_seq_cst);
  device_.events.add(key_of_qp(made->qp_num), *this);
  send_queue_.attach(made->qp_num, *this);
  if (&recv_queue_ != &send_queue_) recv_queue_.attach(made->qp_num, *this);
  if (shared_ != nullptr) shared_->attach(recv_queue_);
  if (to_init()) return hca::Done{};
  destroy_device_queue_pair(this);
  return hca::fail(hca::Error::kLimitReached);
}

// InfiniBand takes receives from this state on. iWARP has no such state and takes them at once.
bool QueuePair::to_init() {
  if (device_.traits.is_iwarp) return true;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.traits.place.port;
  attributes.qp_access_flags = 0;
  constexpr int kMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  return library().modify_qp(qp_, &attributes, kMask) == 0;
}

// What the device has done is taken first, so that no completion is lost; then nothing of it is
// left in the queues.
void QueuePair::destroy_device_queue_pair(const QueuePair* dying) {
  if (qp_ == nullptr) return;
  const std::uint32_t number = qp_->qp_num;
  device_.events.remove(key_of_qp(number));
  send_queue_.drain();
  recv_queue_.drain();
  if (dying != nullptr) is_discarding_.store(true, std::memory_order_seq_cst);  // others may empty the queues meanwhile
  library().destroy_qp(std::exchange(qp_, nullptr));
  send_queue_.detach(number, dying);
  send_queue_.release_sends(limits_.send_wr);
  if (&recv_queue_ != &send_queue_) recv_queue_.detach(number, dying);
  if (shared_ != nullptr) shared_->detach(recv_queue_);
}

std::uint32_t QueuePair::sends_outstanding() const {
  send_queue_.drain();
  return sends_.outstanding();
}

std::uint32_t QueuePair::recvs_outstanding() const {
  recv_queue_.drain();
  return recvs_.outstanding();
}

hca::Address QueuePair::remote_address() const {
  const std::lock_guard lock(mutex_);
  return remote_;
}

// Of a connection that port from which its request came; before there is one, a number all the same.
std::uint16_t QueuePair::local_port() const {
  const std::lock_guard lock(mutex_);
  return port_ != 0 ? port_ : to_port(number_.load(std::memory_order_relaxed));
}

// A flushed request only follows another that has failed, or an end that the connection manager tells of.
void QueuePair::on_work_failed(hca::CompletionStatus status, bool is_receive) {
  if (status == hca::CompletionStatus::kFlushed) return;
  if (is_receive) was_peers_fault_.store(true, std::memory_order_seq_cst);
  has_failed_.store(true, std::memory_order_seq_cst);
  device_.events.post(*this);
}

void QueuePair::on_overflow() {
  has_failed_.store(true, std::memory_order_seq_cst);
  device_.events.post(*this);
}

}  // namespace softdat::verbs
