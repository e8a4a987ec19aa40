// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/device_queue_pair.h"

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

// What a device copies while it is posted to, where it can: small messages then need no second check of memory.
constexpr std::uint32_t kWishedInline = 64;

}  // namespace

DeviceQueuePair::DeviceQueuePair(const DeviceView& device, const hca::QueuePairConfig& config, QueuePair& owner)
    : device_(device),
      limits_(config.limits),
      owner_(owner),
      domain_(static_cast<ProtectionDomain&>(*config.pd)),
      send_queue_(static_cast<CompletionQueue&>(*config.send_cq)),
      recv_queue_(static_cast<CompletionQueue&>(*config.recv_cq)),
      shared_(static_cast<SharedReceiveQueue*>(config.srq)) {}

hca::Outcome DeviceQueuePair::make(EventTarget& target) {
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
  ibv_qp* made = device_.library().objects.create_qp(domain_.pd(), &wish);
  // Some drivers refuse inline data instead of granting less.
  if (made == nullptr && errno == EINVAL) {
    wish.cap = asked;
    wish.cap.max_inline_data = 0;
    made = device_.library().objects.create_qp(domain_.pd(), &wish);
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
  send_queue_.expect_sends(limits_.send_wr);  // before calls that may throw: remove() releases them
  number_.store(made->qp_num, std::memory_order_seq_cst);
  device_.events.add(key_of_qp(made->qp_num), target);
  send_queue_.attach(made->qp_num, owner_);
  if (&recv_queue_ != &send_queue_) recv_queue_.attach(made->qp_num, owner_);
  if (shared_ != nullptr) shared_->attach(recv_queue_);
  if (move_to_init()) return hca::Done{};
  destroy();
  return hca::fail(hca::Error::kLimitReached);
}

// InfiniBand takes receives from this state on. iWARP has no such state and takes them at once.
bool DeviceQueuePair::move_to_init() {
  if (device_.traits.is_iwarp) return true;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.traits.place.port;
  // The peer gets its rights with the connection: CmId::move_to().
  attributes.qp_access_flags = 0;
  return modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

void DeviceQueuePair::destroy() {
  remove(nullptr);
}

void DeviceQueuePair::discard() {
  remove(&owner_);
}

// Drains before the ibv_qp goes, so that no completion is lost.
void DeviceQueuePair::remove(const QueuePair* dying) {
  if (qp_ == nullptr) return;
  const std::uint32_t number = qp_->qp_num;
  // Events of this number reach nobody from here on. The event thread acknowledges an event before it tells the target,
  // so ibv_destroy_qp() does not wait for it for long.
  device_.events.remove(key_of_qp(number));
  send_queue_.drain();
  recv_queue_.drain();
  if (dying != nullptr) is_discarding_.store(true, std::memory_order_seq_cst);  // other threads may drain meanwhile
  device_.library().objects.destroy_qp(std::exchange(qp_, nullptr));
  send_queue_.detach(number, dying);
  send_queue_.release_sends(limits_.send_wr);
  if (&recv_queue_ != &send_queue_) recv_queue_.detach(number, dying);
  if (shared_ != nullptr) shared_->detach(recv_queue_);
}

bool DeviceQueuePair::modify(ibv_qp_attr& attributes, int mask) {
  return qp_ != nullptr && device_.library().objects.modify_qp(qp_, &attributes, mask) == 0;
}

void DeviceQueuePair::move_to_error() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  modify(attributes, IBV_QP_STATE);
}

bool DeviceQueuePair::is_in_error() const {
  if (qp_ == nullptr) return false;
  ibv_qp_attr attributes{};
  ibv_qp_init_attr made{};
  return device_.library().objects.query_qp(qp_, &attributes, IBV_QP_STATE, &made) == 0 &&
         attributes.qp_state == IBV_QPS_ERR;
}

}  // namespace softdat::verbs
