// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/event_queue.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/narrow.h"
#include "base/probe.h"
#include "base/words.h"
#include "libdat/object/connection_request.h"
#include "libdat/object/event_stream.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/limit.h"
#include "libdat/object/refusal.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kCompletionStreams = kDtoStream | kRmrBindStream;

Status refuse_resize(hca::Error error, const EventQueue& queue, std::int32_t length) {
  if (error == hca::Error::kInvalidState) {
    return because(invalid_state(StatusDetail::kNoSubtype), [&] {
      return count_text(queue.size(), "event") + " or more wait in the EVD, and " + std::to_string(length) +
             " are asked for; dequeue some first";
    });
  }
  if (error == hca::Error::kUnsupported) {
    return not_offered(queue.device().attributes(), "way to let a completion queue grow");
  }
  return creation_failure(error, StatusDetail::kResourceTevd, StatusDetail::kInvalidArg2);
}

}  // namespace

Status check_queue_length(std::int32_t length, const hca::DeviceAttributes& attributes) {
  if (length >= 1 && static_cast<std::uint32_t>(length) <= attributes.max_cqe) return kOk;
  return beyond_limit(invalid_parameter(StatusDetail::kInvalidArg2), attributes,
                      {"evd_min_qlen", length, attributes.max_cqe, "max_evd_qlen", 1});
}

EventQueue::EventQueue(const Object& evd, std::shared_ptr<hca::Device> device)
    : evd_(evd), device_(std::move(device)) {}

// Completions stay in the device's queue; all other events go into the ring. An EVD may have both.
Status EventQueue::set_up(std::uint32_t streams, std::int32_t length, hca::CompletionSink& sink) {
  SOFTDAT_DEBUG_CHECK(length >= 1, "an EVD is made with room for an event", static_cast<std::uint64_t>(length));
  SOFTDAT_DEBUG_CHECK(cq_ == nullptr && this->length() == 0, "an EVD is set up once");
  if ((streams & kCompletionStreams) != 0) {
    auto cq = device_->create_cq(static_cast<std::size_t>(length), sink);
    if (!cq) {
      return failed_creation(
          cq.reason(), StatusDetail::kResourceTevd, StatusDetail::kInvalidArg2, device_->attributes(),
          {"completion queues, one of which stands behind this EVD", device_->attributes().max_cq, "max_evds"});
    }
    cq_ = std::move(*cq);
    wake_ = &cq_->event_count();
  }
  has_ring_ = (streams & ~kCompletionStreams) != 0;
  if (has_ring_) ring_.set_up(static_cast<std::size_t>(length));
  length_.store(length);
  return kOk;
}

void EventQueue::end() {
  hca::destroy(cq_);
}

void EventQueue::discard() {
  HandleTable& table = HandleTable::instance();
  // What comes later is refused: nobody would take it.
  ring_.set_capacity(0);
  Event event;
  while (ring_.pop(event)) {
    // The CR ends with its arrival; its peer is refused.
    const auto* arrival = std::get_if<RequestArrival>(&event.body);
    if (arrival == nullptr) continue;
    if (auto request = table.pin<ConnectionRequest>(arrival->request)) {
      table.close(as_object(std::move(request)));
    }
  }
}

std::int32_t EventQueue::size() const {
  const std::size_t completions = cq_ == nullptr ? 0 : cq_->size();
  return base::narrow<std::int32_t>(completions + ring_.size());
}

std::size_t EventQueue::high_water() const {
  const std::size_t completions = cq_ == nullptr ? 0 : cq_->high_water();
  return std::max(completions, ring_.high_water());
}

std::optional<std::uint64_t> EventQueue::put(Event event) {
  event.evd = evd_.handle();
  // The completions that wait now are older than the event.
  return ring_.push(event, cq_ == nullptr ? 0 : cq_->size());
}

base::Ordered<base::SpinLock, locks::kExclusiveCall>& EventQueue::taking_lock() const {
  return static_cast<Cell*>(evd_.handle())->call_lock();
}

bool EventQueue::take(Event& event) {
  base::require_lock(locks::kExclusiveCall);
  return ring_.is_empty() ? take_completion(event) : take_in_order(event);
}

bool EventQueue::take_completion(Event& event) {
  hca::Completion completion;
  if (cq_ == nullptr || cq_->poll({&completion, 1}) == 0) return false;
  SOFTDAT_PROBE(dequeue, evd_.handle(), completion.wr_id, completion.opcode, completion.status, completion.length);
  write_completion(completion, event);
  event.evd = evd_.handle();
  return true;
}

// DAT wants the completions of a connection before its DISCONNECTED.
[[gnu::noinline]] bool EventQueue::take_in_order(Event& event) {
  if (ring_.must_yield_to_completion() && take_completion(event)) return true;
  return ring_.pop(event) || take_completion(event);
}

void EventQueue::arm(bool solicited_only) {
  if (cq_ != nullptr) cq_->arm(solicited_only);
}

Status EventQueue::resize(std::int32_t length) {
  if (const Status status = check_queue_length(length, device_->attributes()); !status.ok()) return status;
  std::lock_guard lock(resize_mutex_);
  SOFTDAT_DEBUG_CHECK(awaited_ <= this->length(), "a thread waits for no more events than the EVD holds",
                      static_cast<std::uint64_t>(awaited_), static_cast<std::uint64_t>(this->length()));
  if (awaited_ > length) {
    return because(invalid_state(StatusDetail::kInvalidStateEvdWaiter), [&] {
      return "a thread waits for " + count_text(awaited_, "event") + ", and the EVD is to hold " +
             std::to_string(length);
    });
  }
  return resize_locked(length);
}

// Nobody may take completions while the device moves them.
hca::Outcome EventQueue::resize_completions(std::size_t room) {
  if (cq_ == nullptr) return hca::Done{};
  const std::lock_guard lock(taking_lock());
  return cq_->resize(room);
}

// Both queues or neither: nothing can fail after the completion queue.
Status EventQueue::resize_locked(std::int32_t length) {
  base::require_lock(locks::kResize);
  const auto room = static_cast<std::size_t>(length);
  if (ring_.size() > room) return refuse_resize(hca::Error::kInvalidState, *this, length);
  if (has_ring_ && length > this->length()) ring_.reserve(room);
  const hca::Outcome outcome = resize_completions(room);
  if (!outcome) return refuse_resize(outcome.reason(), *this, length);
  if (has_ring_) ring_.set_capacity(room);
  length_.store(length);
  has_overflowed_.store(false);
  return kOk;
}

// Under the lock of resize(), so the queue stays as long as the thread's threshold.
bool EventQueue::begin_awaiting(std::int32_t count) {
  const std::lock_guard lock(resize_mutex_);
  SOFTDAT_DEBUG_CHECK(awaited_ == 0, "events are awaited by one thread at a time");
  if (count > length()) return false;
  awaited_ = count;
  return true;
}

void EventQueue::end_awaiting() {
  const std::lock_guard lock(resize_mutex_);
  awaited_ = 0;
}

}  // namespace softdat::object
