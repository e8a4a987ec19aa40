// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/shared_receive_queue.h"

#include <algorithm>

#include "base/assert.h"
#include "base/narrow.h"
#include "base/probe.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/limit.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/refusal.h"
#include "libdat/object/users_words.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kDefaultIov = 8;
constexpr std::int32_t kLowWatermarkReason = 2;  // DAT_SRQ_LOW_WATERMARK_EVENT

bool is_within(std::int32_t count, std::uint32_t limit) {
  return count >= 0 && static_cast<std::uint32_t>(count) <= limit;
}

Status refuse_watermark(const Status& status, std::int32_t asked, std::uint32_t most) {
  return because(status, [&] {
    return "low_watermark is " + std::to_string(asked) + ", and 0 to " + std::to_string(most) +
           ", the max_recv_dtos of the queue, are allowed";
  });
}

Status check_wish(const SharedReceiveQueueAttributes& wanted, const hca::DeviceAttributes& device) {
  const Status status = invalid_parameter(StatusDetail::kInvalidArg3);
  if (wanted.max_recv_dtos <= 0 || !is_within(wanted.max_recv_dtos, device.max_srq_wr)) {
    return beyond_limit(status, device,
                        {"max_recv_dtos", wanted.max_recv_dtos, device.max_srq_wr, "max_recv_per_srq", 1});
  }
  if (!is_within(wanted.max_recv_iov, device.max_srq_sge)) {
    const char* const attribute = device.max_srq_sge == device.max_sge ? "max_iov_segments_per_dto" : nullptr;
    return beyond_limit(status, device, {"max_recv_iov", wanted.max_recv_iov, device.max_srq_sge, attribute});
  }
  if (is_within(wanted.low_watermark, base::narrow<std::uint32_t>(wanted.max_recv_dtos))) return kOk;
  return refuse_watermark(status, wanted.low_watermark, base::narrow<std::uint32_t>(wanted.max_recv_dtos));
}

}  // namespace

SharedReceiveQueue::SharedReceiveQueue(InterfaceAdapter& ia, ProtectionZone& pz, std::int32_t max_recv_iov)
    : Object(kKind, &ia),
      device_(ia.shared_device()),
      pz_(std::static_pointer_cast<ProtectionZone>(pz.shared_from_this())),
      max_recv_iov_(max_recv_iov) {}

Status SharedReceiveQueue::create(InterfaceAdapter& ia, ProtectionZone& pz, const SharedReceiveQueueAttributes& wanted,
                                  Handle& srq) {
  const hca::DeviceAttributes& device = ia.device().attributes();
  if (device.max_srq == 0) return not_offered(device, "shared receive queues (max_srqs is 0)");
  if (const Status status = check_wish(wanted, device); !status.ok()) return status;
  if (&pz.device() != &ia.device()) return invalid_handle(StatusDetail::kInvalidHandlePz);
  const std::int32_t iov = wanted.max_recv_iov == 0
                               ? base::narrow<std::int32_t>(std::min(kDefaultIov, device.max_srq_sge))
                               : wanted.max_recv_iov;
  const std::shared_ptr<SharedReceiveQueue> self(new SharedReceiveQueue(ia, pz, iov));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->set_up(wanted.max_recv_dtos); !status.ok()) return status;
  srq = adoption.publish();
  // Not before: who sees the event must find the queue alive.
  if (const auto alive = pin_handle<SharedReceiveQueue>(srq); alive && alive.get() == self.get()) {
    static_cast<void>(alive->set_low_watermark(wanted.low_watermark));
  }
  return kOk;
}

Status SharedReceiveQueue::set_up(std::int32_t max_recv_dtos) {
  auto queue = device_->create_srq({.pd = &pz_->domain(),
                                    .capacity = base::narrow<std::uint32_t>(max_recv_dtos),
                                    .max_sge = base::narrow<std::uint32_t>(max_recv_iov_),
                                    .sink = this});
  if (!queue) {
    const hca::DeviceAttributes& device = device_->attributes();
    return failed_creation(queue.reason(), StatusDetail::kResourceSrq, StatusDetail::kInvalidArg3, device,
                           {"shared receive queues", device.max_srq, "max_srqs"});
  }
  // The PZ may have been freed meanwhile. Then the device's queue goes with this scope.
  if (!pz_->add_user()) return invalid_handle(StatusDetail::kInvalidHandlePz);
  queue_ = std::move(*queue);
  return kOk;
}

Status SharedReceiveQueue::free(Pin<SharedReceiveQueue> srq) {
  if (!srq->users_.try_close()) {
    return because(invalid_state(StatusDetail::kInvalidStateSrqInUse), [&] { return in_use_text(*srq); });
  }
  const bool was_open = HandleTable::instance().close(as_object(std::move(srq)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleSrq);
}

// resize() refuses what set_low_watermark() does not allow for, and the other way round.
void SharedReceiveQueue::check_watermark_locked() const {
  base::require_lock(locks::kSharedReceiveQueue);
  SOFTDAT_DEBUG_CHECK(is_within(low_watermark_, queue_->capacity()), "a low watermark is no more than the queue holds",
                      static_cast<std::uint64_t>(low_watermark_), queue_->capacity());
}

// The device's queue ends with this object: an EP of another opening of the adapter may use it after its handle has
// ended.
void SharedReceiveQueue::detach() {
  SOFTDAT_DEBUG_CHECK(users_.is_closed(), "no endpoint can begin to use a queue that ends");
  SOFTDAT_DEBUG_CHECK(queue_ != nullptr, "a queue that was published has the device's until it ends");
}

SharedReceiveQueue::~SharedReceiveQueue() {
  if (queue_ == nullptr) return;
  // It refers to the PZ's domain, so it ends first.
  queue_.reset();
  pz_->remove_user();
}

// The deleter ends the use, so an EP just drops its pointer.
std::shared_ptr<SharedReceiveQueue> SharedReceiveQueue::use() {
  if (!users_.try_acquire()) return nullptr;
  const auto self = std::static_pointer_cast<SharedReceiveQueue>(shared_from_this());
  return {this, [self](SharedReceiveQueue* queue) { queue->users_.release(); }};
}

Status SharedReceiveQueue::post_recv(std::span<const Segment> local, std::uint64_t cookie) {
  SOFTDAT_PROBE(post_recv, handle(), cookie, local.data(), local.size());
  const hca::Outcome outcome = queue_->post_recv({.wr_id = cookie, .local = local});
  return outcome ? kOk : refuse_post({.wr_id = cookie, .local = local}, post_failure(outcome.reason(), true));
}

// A device that cannot explain leaves it to the table of answers.
Status SharedReceiveQueue::refuse_post(const hca::RecvRequest& request, const Status& status) const {
  const hca::Failure failure = queue_->explain(request);
  if (failure.rule == hca::Rule::kUnknown) return status;
  return because(status, [&] {
    const std::string remedy = remedy_text(failure);
    return rule_text(failure) + (remedy.empty() ? "" : ". " + remedy);
  });
}

Status SharedReceiveQueue::resize(std::int32_t max_recv_dtos) {
  if (max_recv_dtos <= 0 || !is_within(max_recv_dtos, device_->attributes().max_srq_wr)) {
    return beyond_limit(invalid_parameter(StatusDetail::kInvalidArg2), device_->attributes(),
                        {"srq_max_recv_dto", max_recv_dtos, device_->attributes().max_srq_wr, "max_recv_per_srq", 1});
  }
  const std::lock_guard lock(mutex_);
  if (max_recv_dtos < low_watermark_) {
    return because(invalid_state(StatusDetail::kNoSubtype), [&] {
      return "srq_max_recv_dto is " + std::to_string(max_recv_dtos) + ", and the low watermark of the queue is " +
             std::to_string(low_watermark_) + "; lower that first (dat_srq_set_lw)";
    });
  }
  // The device's queue has the count of receives, so it decides whether they fit.
  const hca::Outcome outcome = queue_->resize(base::narrow<std::uint32_t>(max_recv_dtos));
  check_watermark_locked();
  if (outcome) return kOk;
  if (outcome.reason() == hca::Error::kInvalidState) {
    return because(invalid_state(StatusDetail::kNoSubtype), [&] {
      return "srq_max_recv_dto is " + std::to_string(max_recv_dtos) + ", and " +
             count_text(queue_->counts().outstanding, "receive") + " of the queue are outstanding";
    });
  }
  if (outcome.reason() == hca::Error::kUnsupported) {
    return not_offered(device_->attributes(), "way to let a shared receive queue grow");
  }
  return creation_failure(outcome.reason(), StatusDetail::kResourceSrq, StatusDetail::kInvalidArg2);
}

Status SharedReceiveQueue::set_low_watermark(std::int32_t low_watermark) {
  const std::lock_guard lock(mutex_);
  if (!is_within(low_watermark, queue_->capacity())) {
    return refuse_watermark(invalid_parameter(StatusDetail::kInvalidArg2), low_watermark, queue_->capacity());
  }
  low_watermark_ = low_watermark;
  check_watermark_locked();
  queue_->arm(base::narrow<std::uint32_t>(low_watermark));
  return kOk;
}

SharedReceiveQueueParameters SharedReceiveQueue::query() const {
  const std::lock_guard lock(mutex_);
  check_watermark_locked();
  const hca::SharedReceiveCounts counts = queue_->counts();
  return {.ia = ia_handle(),
          .pz = pz_->handle(),
          .attributes = {.max_recv_dtos = base::narrow<std::int32_t>(queue_->capacity()),
                         .max_recv_iov = max_recv_iov_,
                         .low_watermark = low_watermark_},
          .available = base::narrow<std::int32_t>(counts.available),
          .outstanding = base::narrow<std::int32_t>(counts.outstanding)};
}

base::SrqRecord SharedReceiveQueue::counters_now() const {
  const SharedReceiveQueueParameters now = query();
  base::SrqRecord record{};
  record.id = reinterpret_cast<std::uintptr_t>(handle());
  record.ia = reinterpret_cast<std::uintptr_t>(now.ia);
  record.capacity = base::narrow<std::uint32_t>(now.attributes.max_recv_dtos);
  record.available = base::narrow<std::uint32_t>(now.available);
  record.outstanding = base::narrow<std::uint32_t>(now.outstanding);
  record.low_watermark = base::narrow<std::uint32_t>(now.attributes.low_watermark);
  record.high_water = queue_->high_water();
  return record;
}

// DAT numbers the asynchronous errors of IAs, EPs and EVDs; an SRQ's come under the number that
// belongs to no kind of object.
void SharedReceiveQueue::on_low() {
  ia().report({handle(), kLowWatermarkReason, AsyncErrorType::kProviderInternalError});
}

}  // namespace softdat::object
