// SPDX-License-Identifier: BSD-2-Clause
// EventThread: the one thread of an open verbs device. It takes the events of the connection manager, the device and
// its completion queues, and calls the object concerned. It alone calls the consumer's sinks (except for
// QueuePairSink::on_failure), so one at a time and with no lock held. It sleeps in Boost.Asio until an event comes.
#pragma once

#include <boost/intrusive/list.hpp>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/timers.h"
#include "hca/connection.h"
#include "verbs/library.h"

namespace softdat::verbs {

// What the connection manager said, copied, so that it could be acknowledged at once.
struct CmEvent {
  rdma_cm_event_type type;
  int status = 0;
  rdma_cm_id* id = nullptr;
  hca::Bytes private_data{};
  bool has_lost_data = false;  // there was no memory for it
  std::uint32_t ird = 0;       // that the peer takes
  std::uint32_t ord = 0;       // that the peer wishes to have outstanding
};

// An object that the event thread may call. It stops being called when forget() has returned.
class EventTarget : private base::Timer {
 public:
  // Of an id of this object's; CONNECT_REQUEST: of the listener's, with the new id, which it owns now.
  virtual void on_cm_event(const CmEvent& /*event*/) {}
  virtual void on_async_event(ibv_event_type /*type*/) {}
  // The channel of its completion queue, which was armed, has fired.
  virtual void on_channel() {}
  // What post() or wake_at() asked for.
  virtual void on_wake() {}

 protected:
  ~EventTarget() = default;

 private:
  friend class EventThread;
  using TaskHook = boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  void on_timer() final { on_wake(); }
  void cancel() {
    task_.unlink();
    cancel_timer();
  }

  TaskHook task_;  // guarded by the event thread's mutex, as the timer is
};

enum class EventSource : std::uint8_t { kCmId, kQueuePair, kCompletionQueue, kSharedReceiveQueue, kDevice };
using EventKey = std::pair<EventSource, std::uintptr_t>;

inline EventKey key_of(const rdma_cm_id* id) {
  return {EventSource::kCmId, reinterpret_cast<std::uintptr_t>(id)};
}
inline EventKey key_of_qp(std::uint32_t number) {
  return {EventSource::kQueuePair, number};
}
inline EventKey key_of(const ibv_cq* cq) {
  return {EventSource::kCompletionQueue, reinterpret_cast<std::uintptr_t>(cq)};
}
inline EventKey key_of(const ibv_srq* srq) {
  return {EventSource::kSharedReceiveQueue, reinterpret_cast<std::uintptr_t>(srq)};
}
inline constexpr EventKey kDeviceKey{EventSource::kDevice, 0};

// The context and the channels of an open device. Owned by the device and its thread together,
// whichever leaves last closes them.
class Adapter {
 public:
  explicit Adapter(const Library& library) : library_(library) {}
  ~Adapter();
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  const Library& library() const { return library_; }
  // Refuses the peer for the backend, not for a consumer: the peer reports that nobody listens. Does not destroy the
  // id. Any thread.
  void refuse(rdma_cm_id* id) const;

  ibv_context* context = nullptr;
  bool is_iwarp = false;  // as is the device of the context
  ibv_comp_channel* completions = nullptr;
  rdma_event_channel* connections = nullptr;
  ibv_cq* plug = nullptr;  // see open_device()

 private:
  const Library& library_;
};

// Every call from any thread.
class EventThread {
 public:
  // Throws std::system_error.
  explicit EventThread(std::shared_ptr<Adapter> adapter);
  // No target may be left. May run on the thread itself.
  ~EventThread();

  void add(EventKey key, EventTarget& target);
  void remove(EventKey key);

  // Has it called soon, or at that time (one time a target; the later call counts). Take no memory.
  void post(EventTarget& target);
  void wake_at(EventTarget& target, base::Time time);

  // When it returns, the thread does not call the target any more. Waits for a call that is running, unless this is
  // called within it.
  void forget(EventTarget& target);

  // Destroys the id, which stops being a key, between two events: that waits for events that have
  // not been acknowledged, and only this thread holds such.
  void bury(rdma_cm_id* id);
  // The same, and it is gone when this returns, unless the thread itself calls: then soon.
  void bury_and_wait(rdma_cm_id* id);

 private:
  struct Core;
  static std::shared_ptr<Core> make_core(std::shared_ptr<Adapter> adapter);
  std::shared_ptr<Core> core_;
  std::thread thread_;
};

}  // namespace softdat::verbs
