// SPDX-License-Identifier: BSD-2-Clause
// The port: what an RDMA adapter offers to the DAT objects. simnic/ implements it in user space,
// verbs/ over hardware.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/event_count.h"
#include "hca/completion_queue.h"
#include "hca/connection.h"
#include "hca/queue_pair.h"
#include "hca/result.h"
#include "hca/shared_receive_queue.h"
#include "hca/types.h"

namespace softdat::hca {

// Keys registered and queue pairs created in one domain work together, and with no others. Must
// outlive them.
class ProtectionDomain {
 public:
  virtual ~ProtectionDomain() = default;
};

// Registered memory. When its destructor returns, no thread of ours and no peer touches the memory
// again.
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual std::uint32_t lkey() const = 0;
  virtual std::uint32_t rkey() const = 0;
  // Ends it ahead of its destructor, which would void the windows over it too. kInvalidState, and
  // nothing has happened, while a window is bound to it or a bind to it is posted.
  virtual Outcome revoke() = 0;
};

// What a window is bound to. Key 0: to nothing.
struct WindowBinding {
  std::uint32_t rkey = 0;
  std::uint32_t lkey = 0;
  std::uint64_t address = 0;  // as the region counts
  std::uint64_t length = 0;
  bool is_zero_based = false;
  std::uint32_t note = 0;  // of the BindRequest
};

// Whose peers may use a window's key.
enum class WindowScope : std::uint8_t {
  kQueuePair,  // that of the queue pair it was bound on
  kDomain,     // those of all queue pairs of its domain
};

// A way into a part of a region, opened by QueuePair::post_bind() with a key of its own each time,
// and shut by the next bind, by a peer's send that voids the key, or by its destructor. After that
// nobody comes in; binds that are still posted then complete without effect.
class MemoryWindow {
 public:
  virtual ~MemoryWindow() = default;
  // As of the binds carried out so far.
  virtual WindowBinding binding() const = 0;
};

// Which successful receives wake and notify; failures always do. A device that cannot tell whether a receive was
// solicited takes kIfSolicited for kAlways, unless its completion queue is armed for solicited completions alone.
enum class RecvWakes : std::uint8_t { kAlways, kIfSolicited };

struct QueuePairConfig {
  ProtectionDomain* pd = nullptr;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* recv_cq = nullptr;
  QueuePairLimits limits;
  std::uint64_t context = 0;  // comes back in every completion
  QueuePairSink* sink = nullptr;
  SharedReceiveQueue* srq = nullptr;  // where receives come from instead of the queue pair's own queue
  RecvWakes recv_wakes = RecvWakes::kAlways;
};

struct SharedReceiveQueueConfig {
  ProtectionDomain* pd = nullptr;  // of the receives; the queue pairs may be of others
  std::uint32_t capacity = 0;
  std::uint32_t max_sge = 0;
  SharedReceiveQueueSink* sink = nullptr;
};

// What happens to the device as a whole. Same thread rule as QueuePairSink.
class DeviceSink {
 public:
  // Once: the device cannot go on. Its connections break, no new ones come about; everything may still be destroyed.
  virtual void on_device_failed() = 0;

 protected:
  ~DeviceSink() = default;
};

// One adapter of this process. Every call from any thread. Objects made by it must be destroyed
// before it.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceAttributes& attributes() const = 0;

  virtual Result<std::unique_ptr<ProtectionDomain>> create_pd() = 0;
  virtual Result<std::unique_ptr<MemoryRegion>> register_memory(ProtectionDomain& pd, std::uint64_t address,
                                                                std::uint64_t length, AccessMask access) = 0;
  // Whether a region of this key, of whatever domain, holds the range: kBadKey, kOutOfRange. An
  // empty range asks for nothing.
  virtual Outcome check_memory(std::uint32_t lkey, std::uint64_t address, std::uint64_t length) const = 0;
  // `context` comes back in the completions of its binds.
  virtual Result<std::unique_ptr<MemoryWindow>> create_window(ProtectionDomain& pd, WindowScope scope,
                                                              std::uint64_t context) = 0;
  virtual Result<std::unique_ptr<CompletionQueue>> create_cq(std::size_t capacity, CompletionSink& sink) = 0;
  virtual Result<std::unique_ptr<QueuePair>> create_qp(const QueuePairConfig& config) = 0;
  virtual Result<std::unique_ptr<SharedReceiveQueue>> create_srq(const SharedReceiveQueueConfig& config) = 0;

  // kAddressInUse when the service id is taken on this device's address.
  virtual Result<std::unique_ptr<Listener>> listen(std::uint64_t service_id, std::uint32_t backlog,
                                                   ListenerSink& sink) = 0;

  // The sink hears of the device from now on (and at once, if it has failed already), until forget() has returned.
  virtual void watch(DeviceSink& sink) = 0;
  virtual void forget(DeviceSink& sink) = 0;

  // Does what the device has to do now, in the caller's time; never blocks. True when something was
  // done. May call sinks.
  virtual bool progress() = 0;

  // Sleeps as EventCount::wait does, while the device goes on being progressed by somebody (perhaps
  // this very thread). A cancellation point: nothing is held while the thread sleeps, and its frames can be unwound.
  virtual base::WakeReason sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) = 0;
};

}  // namespace softdat::hca
