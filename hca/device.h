// SPDX-License-Identifier: BSD-2-Clause
// Device: an RDMA adapter as the rooms above see it. Two rooms implement this interface: a simulated adapter and one
// over libibverbs.
//
// Sinks. A sink belongs to the caller that passes it, and must outlive the object it was passed for. One sink call of a
// device runs at a time, with no lock of the device held. Within a sink every call of the port is allowed but sleep().
// A destructor waits for a sink call of its object that is under way, unless it runs within that call.
// QueuePairSink::on_failure() is the exception: it runs with locks of the device held, and must not call the device.
//
// Blocking. sleep() waits for time. Calls that end a registration or a connection (destructors, revoke(), disconnect())
// may wait for a peer: some milliseconds (docs/decisions/0015), or on some RDMA devices 10 s (docs/BACKENDS.md). No
// other call waits for a peer.
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

// Memory keys and queue pairs of one domain can be used together, and with no others. Must outlive them.
class ProtectionDomain {
 public:
  virtual ~ProtectionDomain() = default;
};

// Registered memory. After its destructor has returned, neither the device nor a peer accesses the memory.
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual std::uint32_t lkey() const = 0;
  virtual std::uint32_t rkey() const = 0;
  // Ends the registration, as the destructor does, but fails with kInvalidState, without any effect, while a window is
  // bound to the region or a bind to it is posted. (The destructor voids such windows.)
  virtual Outcome revoke() = 0;
};

// What a window is bound to. Not bound: both keys are 0.
struct WindowBinding {
  std::uint32_t rkey = 0;
  std::uint32_t lkey = 0;
  std::uint64_t address = 0;  // in the region's address space
  std::uint64_t length = 0;   // bytes
  bool is_zero_based = false;
  std::uint32_t note = 0;  // the BindRequest's
};

// The queue pairs whose peers may use a window's key.
enum class WindowScope : std::uint8_t {
  kQueuePair,  // the one that the window was bound on
  kDomain,     // all of the window's domain
};

// A memory window: gives peers access to a part of a region. Each QueuePair::post_bind() gives it a new key, which is
// valid until the next bind, a peer's send that invalidates it, or the destructor. Binds that are still posted when the
// destructor runs complete without effect.
class MemoryWindow {
 public:
  virtual ~MemoryWindow() = default;
  // The binding after the binds carried out so far. Any thread.
  virtual WindowBinding binding() const = 0;
};

// Which successful receives wake a waiter and call the sink; failed ones always do. A device that cannot tell whether a
// receive was solicited treats kIfSolicited as kAlways, unless the completion queue is armed for solicited completions
// only.
enum class RecvWakes : std::uint8_t { kAlways, kIfSolicited };

struct QueuePairConfig {
  ProtectionDomain* pd = nullptr;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* recv_cq = nullptr;
  QueuePairLimits limits;
  std::uint64_t context = 0;  // returned in every completion
  QueuePairSink* sink = nullptr;
  SharedReceiveQueue* srq = nullptr;  // null: receives are posted to the queue pair
  RecvWakes recv_wakes = RecvWakes::kAlways;
};

struct SharedReceiveQueueConfig {
  ProtectionDomain* pd = nullptr;  // of the receives' memory; the queue pairs may have other domains
  std::uint32_t capacity = 0;
  std::uint32_t max_sge = 0;
  SharedReceiveQueueSink* sink = nullptr;
};

// Receives events of the device as a whole. Called as QueuePairSink is.
class DeviceSink {
 public:
  // The device has failed. Called once. Its connections break and no new ones are made; all objects may still be
  // destroyed.
  virtual void on_device_failed() = 0;

 protected:
  ~DeviceSink() = default;
};

// An open adapter. All calls from any thread. Objects made by it must be destroyed before it. A call that creates fails
// with kNoMemory, kLimitReached or kUnsupported, beside what stands at it.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceAttributes& attributes() const = 0;

  virtual Result<std::unique_ptr<ProtectionDomain>> create_pd() = 0;
  virtual Result<std::unique_ptr<MemoryRegion>> register_memory(ProtectionDomain& pd, std::uint64_t address,
                                                                std::uint64_t length, AccessMask access) = 0;
  // Whether the region of this key contains the range, whatever its domain: kBadKey, kOutOfRange. Succeeds for an empty
  // range.
  virtual Outcome check_memory(std::uint32_t lkey, std::uint64_t address, std::uint64_t length) const = 0;
  // `context` is returned in the completions of its binds.
  virtual Result<std::unique_ptr<MemoryWindow>> create_window(ProtectionDomain& pd, WindowScope scope,
                                                              std::uint64_t context) = 0;
  virtual Result<std::unique_ptr<CompletionQueue>> create_cq(std::size_t capacity, CompletionSink& sink) = 0;
  virtual Result<std::unique_ptr<QueuePair>> create_qp(const QueuePairConfig& config) = 0;
  virtual Result<std::unique_ptr<SharedReceiveQueue>> create_srq(const SharedReceiveQueueConfig& config) = 0;

  // At most max(backlog, 1) requests wait for an answer; further ones are refused. kAddressInUse if another listener
  // has the service id at this device's address.
  virtual Result<std::unique_ptr<Listener>> listen(std::uint64_t service_id, std::uint32_t backlog,
                                                   ListenerSink& sink) = 0;

  // watch() adds a sink; if the device has failed already, the sink is called soon. forget() removes it, and waits for
  // a call under way as destructors do.
  virtual void watch(DeviceSink& sink) = 0;
  virtual void forget(DeviceSink& sink) = 0;

  // Does the device's pending work in this thread, and calls sinks. Returns whether something was done. Never blocks.
  // Within a sink it calls no sinks. Does nothing on a device that has a thread for all of its work.
  virtual bool progress() = 0;

  // The same for a poll of one queue, which `queue` names. Where the work is costly to look for, polls of a program
  // that polls several queues in turn look for it once in a round.
  virtual bool progress_for(const void* queue) {
    static_cast<void>(queue);
    return progress();
  }

  // Takes the oldest completion of a queue of this device. If there is none, makes progress for the queue, and looks
  // again. A completion that comes by this progress may go straight to `out`. The caller must serialize it with poll()
  // and resize() of the queue.
  enum class Found : std::uint8_t {
    kNothing,
    kInVain,  // nothing, and the caller should yield once it holds no lock, because others may need this processor
    kAtOnce,
    kByProgress,
  };
  virtual Found poll(CompletionQueue& queue, Completion& out) {
    if (queue.poll({&out, 1}) == 1) return Found::kAtOnce;
    return progress_for(&queue) && queue.poll({&out, 1}) == 1 ? Found::kByProgress : Found::kNothing;
  }

  // Sleeps as EventCount::wait_cancellably() does; may also end as notified where nobody has notified. Some thread
  // makes the device's progress meanwhile, possibly this one before it sleeps. A cancellation point: no lock is held
  // while the thread sleeps. REQUIRES: not within a sink.
  virtual base::WakeReason sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) = 0;

  // How a wait of the program ends before it begins. kGoesOn unless faults are injected. `has_end`: the wait has a time
  // limit.
  enum class WaitFate : std::uint8_t { kGoesOn, kInterrupted, kTimedOut };
  virtual WaitFate decide_wait(bool /*has_end*/) { return WaitFate::kGoesOn; }
};

}  // namespace softdat::hca
