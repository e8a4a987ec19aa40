// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/device.h"

#include <cerrno>
#include <new>
#include <utility>

#include "base/log.h"
#include "hca/request_rules.h"
#include "verbs/completion_queue.h"
#include "verbs/memory_region.h"
#include "verbs/memory_window.h"
#include "verbs/queue_pair.h"
#include "verbs/shared_receive_queue.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

bool is_within(const hca::QueuePairLimits& asked, const hca::DeviceAttributes& most) {
  return asked.send_wr <= most.max_wr && asked.recv_wr <= most.max_wr && asked.send_sge <= most.max_sge &&
         asked.recv_sge <= most.max_sge && asked.ird <= most.max_ird && asked.ord <= most.max_ord;
}

}  // namespace

// One target for each sink, so that forget() waits for a call of this sink alone.
class Device::Watcher final : public EventTarget {
 public:
  explicit Watcher(hca::DeviceSink& sink) : sink_(sink) {}
  void on_wake() override { sink_.on_device_failed(); }

 private:
  hca::DeviceSink& sink_;
};

Device::Device(std::shared_ptr<Adapter> adapter, const Traits& traits, hca::DeviceAttributes attributes)
    : adapter_(std::move(adapter)), traits_(traits), attributes_(std::move(attributes)), events_(adapter_) {
  events_.add(kDeviceKey, *this);
}

Device::~Device() {
  events_.forget(*this);
}

hca::Result<std::unique_ptr<hca::ProtectionDomain>> Device::create_pd() {
  ibv_pd* const pd = adapter_->library().objects.alloc_pd(adapter_->context);
  if (pd == nullptr) return hca::fail(error_of(errno));
  // A number of our own, by which posts and binds see whether a key is of their domain.
  return std::unique_ptr<hca::ProtectionDomain>(new ProtectionDomain(*adapter_, pd, last_domain_.fetch_add(1) + 1));
}

// A device wants local write where peers may write.
int Device::device_access(hca::AccessMask access) const {
  int result = 0;
  const bool is_atomic = traits_.has_atomics && (access & hca::kRemoteAtomic) != 0;
  if ((access & (hca::kLocalWrite | hca::kRemoteWrite)) != 0 || is_atomic) result |= IBV_ACCESS_LOCAL_WRITE;
  if ((access & hca::kRemoteRead) != 0) result |= IBV_ACCESS_REMOTE_READ;
  if ((access & hca::kRemoteWrite) != 0) result |= IBV_ACCESS_REMOTE_WRITE;
  if (is_atomic) result |= IBV_ACCESS_REMOTE_ATOMIC;
  const bool may_be_bound = (access & (hca::kBindRemoteRead | hca::kLocalWrite)) != 0;
  if (traits_.has_windows && may_be_bound) result |= IBV_ACCESS_MW_BIND;
  return result;
}

hca::Result<std::unique_ptr<hca::MemoryRegion>> Device::register_memory(hca::ProtectionDomain& pd,
                                                                        std::uint64_t address, std::uint64_t length,
                                                                        hca::AccessMask access) {
  // A region may end with the last byte of the address space.
  const bool wraps = length > 0 && address + (length - 1) < address;
  if (wraps || length > attributes_.max_mr_size || (access & ~hca::kRegionAccess) != 0) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  // The kernel has memory begin at the same place of a page as its addresses, which 0 is for few.
  if ((access & hca::kZeroBased) != 0) return hca::fail(hca::Error::kUnsupported);
  const int rights = device_access(access);
  return MemoryRegion::create(*adapter_, memory_, static_cast<ProtectionDomain&>(pd), address, length, access, rights);
}

hca::Outcome Device::check_memory(std::uint32_t lkey, std::uint64_t address, std::uint64_t length) const {
  if (length == 0) return hca::Done{};
  const auto grant = memory_.find(lkey);
  if (!grant) return hca::fail(hca::Error::kBadKey);
  return holds(*grant, address, length) ? hca::Outcome(hca::Done{}) : hca::fail(hca::Error::kOutOfRange);
}

hca::Result<std::unique_ptr<hca::MemoryWindow>> Device::create_window(hca::ProtectionDomain& pd, hca::WindowScope scope,
                                                                      std::uint64_t context) {
  if (!traits_.has_windows) return hca::fail(hca::Error::kUnsupported);
  const auto& domain = static_cast<ProtectionDomain&>(pd);
  try {
    return MemoryWindow::create(memory_, domain.pd(), domain.id(), scope, context);
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

hca::Result<std::unique_ptr<hca::CompletionQueue>> Device::create_cq(std::size_t capacity, hca::CompletionSink& sink) {
  if (capacity > attributes_.max_cqe) return hca::fail(hca::Error::kLimitReached);
  try {
    return CompletionQueue::create(events_, *adapter_, capacity, sink);
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

hca::Result<std::unique_ptr<hca::QueuePair>> Device::create_qp(const hca::QueuePairConfig& config) {
  if (config.pd == nullptr || config.send_cq == nullptr || config.recv_cq == nullptr) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if (!is_within(config.limits, attributes_)) return hca::fail(hca::Error::kLimitReached);
  try {
    return QueuePair::create({events_, *adapter_, memory_, withheld_, traits_}, config);
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> Device::create_srq(const hca::SharedReceiveQueueConfig& config) {
  if (attributes_.max_srq == 0) return hca::fail(hca::Error::kUnsupported);
  if (config.pd == nullptr || config.sink == nullptr || config.capacity == 0) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if (config.capacity > attributes_.max_srq_wr || config.max_sge > attributes_.max_srq_sge) {
    return hca::fail(hca::Error::kLimitReached);
  }
  const auto& domain = static_cast<ProtectionDomain&>(*config.pd);
  try {
    return SharedReceiveQueue::create(events_, *adapter_, memory_, domain.pd(), domain.id(), config);
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

hca::Result<std::unique_ptr<hca::Listener>> Device::listen(std::uint64_t service_id, std::uint32_t backlog,
                                                           hca::ListenerSink& sink) {
  try {
    return Listener::open(events_, *adapter_, traits_, listeners_, service_id, backlog, sink);
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

void Device::watch(hca::DeviceSink& sink) {
  auto made = std::make_unique<Watcher>(sink);  // first, or a lack of memory would leave a sink without one
  const std::lock_guard lock(mutex_);
  auto& watcher = watchers_[&sink];
  watcher = std::move(made);
  if (has_failed_) events_.post(*watcher);
}

void Device::forget(hca::DeviceSink& sink) {
  std::unique_ptr<Watcher> watcher;
  {
    const std::lock_guard lock(mutex_);
    const auto found = watchers_.find(&sink);
    if (found == watchers_.end()) return;
    watcher = std::move(found->second);
    watchers_.erase(found);
  }
  // Without the lock: waits for a call of the sink that is running.
  events_.forget(*watcher);
}

void Device::on_async_event(ibv_event_type type) {
  if (type == IBV_EVENT_PORT_ERR) {
    base::log(base::LogLevel::kWarning, "%s: the port is down", attributes_.name.c_str());
  }
  if (type != IBV_EVENT_DEVICE_FATAL) return;
  // Kept in has_failed_ for sinks that come later.
  const std::lock_guard lock(mutex_);
  if (std::exchange(has_failed_, true)) return;
  base::log(base::LogLevel::kError, "%s: the device has failed", attributes_.name.c_str());
  for (const auto& [sink, watcher] : watchers_) events_.post(*watcher);
}

}  // namespace softdat::verbs
