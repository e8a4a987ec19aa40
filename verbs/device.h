// SPDX-License-Identifier: BSD-2-Clause
// Device: an RDMA device of the verbs backend: an opened adapter, its event thread, and what is made with them.
//
// Ownership: the caller of open_device() owns it; what it made must be gone before. The adapter closes when both the
// device and the event thread have let go of it.
// Threads: every call from any thread. The event thread calls the sinks.
// Errors: as hca/device.h says. Limits are checked against the attributes first (kLimitReached); otherwise errno of
// libibverbs tells the error (status.h). Want of memory in this process is kNoMemory.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "hca/device.h"
#include "verbs/event_thread.h"
#include "verbs/listener.h"
#include "verbs/lock_places.h"
#include "verbs/memory_table.h"
#include "verbs/traits.h"
#include "verbs/withheld_established.h"

namespace softdat::verbs {

class Device final : public hca::Device, private EventTarget {
 public:
  // Throws std::bad_alloc, std::system_error.
  Device(std::shared_ptr<Adapter> adapter, const Traits& traits, hca::DeviceAttributes attributes);
  ~Device() override;

  const hca::DeviceAttributes& attributes() const override { return attributes_; }
  hca::Result<std::unique_ptr<hca::ProtectionDomain>> create_pd() override;
  hca::Result<std::unique_ptr<hca::MemoryRegion>> register_memory(hca::ProtectionDomain& pd, std::uint64_t address,
                                                                  std::uint64_t length,
                                                                  hca::AccessMask access) override;
  // Key and range; kBadKey, kOutOfRange. Rights are not checked. Nothing is wrong with 0 bytes.
  hca::Outcome check_memory(std::uint32_t lkey, std::uint64_t address, std::uint64_t length) const override;
  hca::Result<std::unique_ptr<hca::MemoryWindow>> create_window(hca::ProtectionDomain& pd, hca::WindowScope scope,
                                                                std::uint64_t context) override;
  hca::Result<std::unique_ptr<hca::CompletionQueue>> create_cq(std::size_t capacity,
                                                               hca::CompletionSink& sink) override;
  hca::Result<std::unique_ptr<hca::QueuePair>> create_qp(const hca::QueuePairConfig& config) override;
  hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> create_srq(
      const hca::SharedReceiveQueueConfig& config) override;
  hca::Result<std::unique_ptr<hca::Listener>> listen(std::uint64_t service_id, std::uint32_t backlog,
                                                     hca::ListenerSink& sink) override;
  // A sink that comes after the failure is told at once, by the event thread. Throws std::bad_alloc.
  void watch(hca::DeviceSink& sink) override;
  // When it returns, the sink is not called any more.
  void forget(hca::DeviceSink& sink) override;
  // The device works by itself, and the event thread does the rest.
  bool progress() override { return false; }
  base::WakeReason sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) override {
    return count.wait_cancellably(ticket, deadline);
  }

 private:
  // Passes the device's failure on to one sink.
  class Watcher;

  void on_async_event(ibv_event_type type) override;
  // The rights in words of libibverbs.
  int device_access(hca::AccessMask access) const;

  // Fixed after construction.
  const std::shared_ptr<Adapter> adapter_;
  const Traits traits_;
  const hca::DeviceAttributes attributes_;
  EventThread events_;

  MemoryTable memory_;
  WithheldEstablished withheld_;
  ListenerTable listeners_;
  std::atomic<std::uint32_t> last_domain_{0};

  base::Mutex<locks::kVerbsDevice> mutex_;
  // Guarded by mutex_.
  std::map<hca::DeviceSink*, std::unique_ptr<Watcher>> watchers_;
  bool has_failed_ = false;
};

}  // namespace softdat::verbs
