// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/event_thread.h"

#include <fcntl.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <memory>
#include <new>
#include <system_error>

#include "base/handler_room.h"
#include "base/log.h"
#include "base/own_threads.h"
#include "base/standard_numbers.h"
#include "base/uncancelled.h"
#include "base/unique_fd.h"
#include "verbs/lock_places.h"
#include "verbs/private_data.h"

namespace softdat::verbs {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

// Ids beyond the targets that have keys.
constexpr std::size_t kSpare = 64;

// Events of one source that are heard in a row. More of them wait for what has come of other sources meanwhile.
constexpr int kMostInARow = 1024;

// What there is to be heard of a source after some of it has been.
enum class Rest : std::uint8_t { kNone, kSome, kEnded };

// By the error with which it gave no event: it has none now, or there is no memory for it. Any other one lasts, as EIO
// of a device that has been removed does.
Rest rest_after(int error) {
  return error == EAGAIN || error == EINTR || error == ENOMEM ? Rest::kNone : Rest::kEnded;
}

// False: there is no memory for it.
bool copy(const rdma_conn_param& said, hca::Bytes& into) try {
  const auto* const bytes = static_cast<const std::byte*>(said.private_data);
  if (bytes != nullptr) into.assign(bytes, bytes + said.private_data_len);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// The event counts for more than what came with it.
CmEvent copy_of(const rdma_cm_event& event) {
  const rdma_conn_param& said = event.param.conn;
  CmEvent result{.type = event.event,
                 .status = event.status,
                 .id = event.id,
                 .ird = said.initiator_depth,
                 // rdma_cm counts from the receiver's side: our initiator depth is the peer's IRD.
                 .ord = said.responder_resources};
  result.has_lost_data = !copy(said, result.private_data);
  return result;
}

std::array<int, 4> numbers_of(const Adapter& adapter) {
  return {adapter.context->cmd_fd, adapter.context->async_fd, adapter.completions->fd, adapter.connections->fd};
}

// Without memory for it a request cannot be handed over: then nobody has taken it.
bool is_told(EventTarget& target, const CmEvent& event) try {
  target.on_cm_event(event);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

// In the reverse order of open_adapter(); ibv_close_device() needs all objects gone.
Adapter::~Adapter() {
  if (plug != nullptr) library_.objects.destroy_cq(plug);
  if (connections != nullptr) library_.cm.destroy_event_channel(connections);
  if (completions != nullptr) library_.objects.destroy_comp_channel(completions);
  if (context != nullptr) library_.devices.close_device(context);
}

// rdma_reject() says "consumer reject" on InfiniBand, rdma_reject_ece() another reason. iWARP has one reason, so the
// mark tells.
void Adapter::refuse(rdma_cm_id* id) const {
  const auto mark = refusal_mark();
  if (is_iwarp) {
    library_.cm.reject(id, mark.data(), static_cast<std::uint8_t>(mark.size()));
  } else {
    library_.cm.reject_ece(id, nullptr, 0);
  }
}

struct EventThread::Core {
  using Lock = std::unique_lock<base::Mutex<locks::kEventThread>>;

  explicit Core(std::shared_ptr<Adapter> open);

  void run();
  void listen(std::size_t which);
  EventTarget* take_due_locked();
  void destroy_buried(Lock& lock);
  // Each hears a source.
  Rest hear_connections();
  Rest hear_device();
  Rest hear_completions();
  void refuse(rdma_cm_id* stray);
  // Has a sleeping thread look at what the caller has left. Takes no memory.
  void nudge(Lock lock);

  // Calls `what(target)` for whoever the key belongs to. False when it is nobody's.
  template <typename What>
  bool tell(EventKey key, What what);
  template <typename What>
  void call(Lock& lock, EventTarget* target, What what);

  const std::shared_ptr<Adapter> adapter;
  // The kernel keeps queue pairs and connections as long as anybody has these descriptors. A child made by fork()
  // closes its copies, so that peers hear of the death of its parent.
  const base::UniqueFd witness = base::open_witness("softdat-verbs");
  const base::ClosedInChild closed_in_child;
  // They outlive the context, which holds what is in them.
  base::HandlerRoom nudge_room;
  std::array<base::HandlerRoom, 3> source_rooms;

  // Used by the thread alone, but for asio::post().
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  // What is heard of one comes after all that is there to be heard of those before it: an end of a connection after its
  // last messages.
  struct Source {
    Source(asio::io_context& in, int fd, Rest (Core::*listener)());
    ~Source() { descriptor.release(); }  // it is the adapter's
    Descriptor descriptor;
    Rest (Core::*hear)();
  };
  std::array<Source, 3> sources;

  // Guarded by mutex.
  base::Mutex<locks::kEventThread> mutex;
  std::condition_variable_any fell_silent;
  std::map<EventKey, EventTarget*> targets;
  using Tasks =
      boost::intrusive::list<EventTarget, boost::intrusive::constant_time_size<false>,
                             boost::intrusive::member_hook<EventTarget, EventTarget::TaskHook, &EventTarget::task_>>;
  Tasks tasks;  // in order
  base::Timers wakes;
  std::vector<rdma_cm_id*> graves;
  std::uint64_t dug = 0;     // ids put into graves, ever
  std::uint64_t buried = 0;  // of those the ones that are destroyed
  EventTarget* speaking = nullptr;
  std::thread::id thread;
  bool is_nudged = false;
  bool is_ending = false;
};

template <typename What>
// No lock is held while a target runs. `speaking` tells forget() which target to wait for.
void EventThread::Core::call(Lock& lock, EventTarget* target, What what) {
  speaking = target;
  lock.unlock();
  what(*target);
  lock.lock();
  speaking = nullptr;
  fell_silent.notify_all();
}

template <typename What>
bool EventThread::Core::tell(EventKey key, What what) {
  std::unique_lock lock(mutex);
  const auto found = targets.find(key);
  if (found == targets.end()) return false;
  call(lock, found->second, what);
  return true;
}

EventTarget* EventThread::Core::take_due_locked() {
  base::require_lock(locks::kEventThread);
  if (tasks.empty()) {
    return wakes.empty() ? nullptr : static_cast<EventTarget*>(wakes.take_due(base::Clock::now()));
  }
  EventTarget& target = tasks.front();
  tasks.pop_front();
  return &target;
}

// rdma_destroy_id() waits until the events of the id are acknowledged. Only this thread acknowledges, so it destroys.
void EventThread::Core::destroy_buried(Lock& lock) {
  while (!graves.empty()) {
    rdma_cm_id* const id = graves.front();
    graves.erase(graves.begin());
    lock.unlock();
    adapter->library().cm.destroy_id(id);
    lock.lock();
    ++buried;
    fell_silent.notify_all();
  }
}

// Its listener has gone.
void EventThread::Core::refuse(rdma_cm_id* stray) {
  adapter->refuse(stray);
  adapter->library().cm.destroy_id(stray);
}

Rest EventThread::Core::hear_connections() {
  const Library& library = adapter->library();
  for (int heard = 0; heard < kMostInARow; ++heard) {
    rdma_cm_event* event = nullptr;
    errno = 0;  // what ends without a word has ended
    if (library.cm.get_cm_event(adapter->connections, &event) != 0) return rest_after(errno);
    CmEvent copy = copy_of(*event);
    // A request belongs to its listener. Its own new id has no target yet.
    const rdma_cm_id* const whose = copy.type == RDMA_CM_EVENT_CONNECT_REQUEST ? event->listen_id : event->id;
    if (base::is_logged(base::LogLevel::kTrace)) {
      base::log(base::LogLevel::kTrace, "verbs: %s, status %d", library.cm.event_str(copy.type), copy.status);
    }
    // Before the target runs, because it may have the id destroyed. The copy is ours.
    library.cm.ack_cm_event(event);
    bool is_heard = false;
    tell(key_of(whose), [&](EventTarget& target) { is_heard = is_told(target, copy); });
    if (!is_heard && copy.type == RDMA_CM_EVENT_CONNECT_REQUEST) refuse(copy.id);
    std::unique_lock lock(mutex);
    destroy_buried(lock);
  }
  return Rest::kSome;
}

Rest EventThread::Core::hear_device() {
  const Library& library = adapter->library();
  for (int heard = 0; heard < kMostInARow; ++heard) {
    ibv_async_event event;
    errno = 0;
    if (library.devices.get_async_event(adapter->context, &event) != 0) return rest_after(errno);
    EventKey key = kDeviceKey;
    switch (event.event_type) {
      case IBV_EVENT_CQ_ERR:
        key = key_of(event.element.cq);
        break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
      case IBV_EVENT_COMM_EST:
      case IBV_EVENT_SQ_DRAINED:
      case IBV_EVENT_PATH_MIG:
      case IBV_EVENT_PATH_MIG_ERR:
      case IBV_EVENT_QP_LAST_WQE_REACHED:
        key = key_of_qp(event.element.qp->qp_num);
        break;
      case IBV_EVENT_SRQ_ERR:
      case IBV_EVENT_SRQ_LIMIT_REACHED:
        key = key_of(event.element.srq);
        break;
      default:
        break;
    }
    const ibv_event_type type = event.event_type;
    // Before the target runs: ibv_destroy_qp() and its like wait for this.
    library.devices.ack_async_event(&event);
    tell(key, [&](EventTarget& target) { target.on_async_event(type); });
  }
  return Rest::kSome;
}

Rest EventThread::Core::hear_completions() {
  const Library& library = adapter->library();
  for (int heard = 0; heard < kMostInARow; ++heard) {
    ibv_cq* cq = nullptr;
    void* cookie = nullptr;
    errno = 0;
    if (library.objects.get_cq_event(adapter->completions, &cq, &cookie) != 0) return rest_after(errno);
    library.objects.ack_cq_events(cq, 1);
    tell(key_of(cq), [](EventTarget& target) { target.on_channel(); });
  }
  return Rest::kSome;
}

EventThread::Core::Source::Source(asio::io_context& in, int fd, Rest (Core::*listener)())
    : descriptor(in, fd), hear(listener) {
  boost::system::error_code refused;
  descriptor.non_blocking(true, refused);
}

EventThread::Core::Core(std::shared_ptr<Adapter> open)
    : adapter(std::move(open)),
      closed_in_child(witness, numbers_of(*adapter)),
      sources{Source(context, adapter->completions->fd, &Core::hear_completions),
              Source(context, adapter->context->async_fd, &Core::hear_device),
              Source(context, adapter->connections->fd, &Core::hear_connections)} {}

// Asio waits for one event, so each handler asks again. A handler reads the sources before its own first. The
// descriptor of a source that has ended stays readable, so nobody waits for it again; the device has failed then.
void EventThread::Core::listen(std::size_t which) {
  Source& source = sources[which];
  const auto hear_all = [this, which](const boost::system::error_code& error) {
    if (error) return;
    Rest rest = Rest::kNone;
    for (std::size_t i = 0; i <= which && rest != Rest::kSome; ++i) rest = (this->*sources[i].hear)();
    if (rest != Rest::kEnded) return listen(which);
    tell(kDeviceKey, [](EventTarget& device) { device.on_async_event(IBV_EVENT_DEVICE_FATAL); });
  };
  source.descriptor.async_wait(Descriptor::wait_read, base::InRoom(source_rooms[which], hear_all));
}

// The posted handler wakes run_one(). It uses nudge_room, and is_nudged keeps it to one at a time.
void EventThread::Core::nudge(Lock lock) {
  if (is_nudged || thread == std::this_thread::get_id()) return;
  is_nudged = true;
  lock.unlock();
  const base::Uncancelled guard;
  asio::post(context, base::InRoom(nudge_room, [this] {
               const std::lock_guard again(mutex);
               is_nudged = false;
             }));
}

void EventThread::Core::run() {
  std::unique_lock lock(mutex);
  thread = std::this_thread::get_id();
  for (std::size_t i = 0; i < sources.size(); ++i) listen(i);
  for (;;) {
    while (EventTarget* const due = take_due_locked()) call(lock, due, [](EventTarget& self) { self.on_wake(); });
    destroy_buried(lock);
    // The ids that were buried last are destroyed before the thread ends.
    if (is_ending && tasks.empty() && graves.empty()) return;
    const base::Time next = wakes.next();
    lock.unlock();
    next == base::kNever ? context.run_one() : context.run_one_until(next);
    lock.lock();
  }
}

std::shared_ptr<EventThread::Core> EventThread::make_core(std::shared_ptr<Adapter> adapter) try {
  const base::StandardNumbersTaken taken;
  return std::make_shared<Core>(std::move(adapter));
} catch (const boost::system::system_error& error) {
  throw std::system_error(error.code().value(), std::system_category(), "no event thread");
}

EventThread::EventThread(std::shared_ptr<Adapter> adapter)
    : core_(make_core(std::move(adapter))), thread_(base::start_own_thread([core = core_] { core->run(); })) {
  ::pthread_setname_np(thread_.native_handle(), "softdat-verbs");
}

EventThread::~EventThread() {
  std::unique_lock lock(core_->mutex);
  core_->is_ending = true;
  core_->nudge(std::move(lock));
  // A sink may destroy the device: then the thread outlives this object, and keeps the core.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

// Room for what happens later to what is made now, where nobody could do anything about the lack of it.
void EventThread::add(EventKey key, EventTarget& target) {
  const std::lock_guard lock(core_->mutex);
  const std::size_t most = 2 * (core_->targets.size() + core_->graves.size() + kSpare);
  if (core_->graves.capacity() < most / 2) core_->graves.reserve(most);
  core_->targets[key] = &target;
}

void EventThread::remove(EventKey key) {
  const std::lock_guard lock(core_->mutex);
  core_->targets.erase(key);
}

void EventThread::post(EventTarget& target) {
  std::unique_lock lock(core_->mutex);
  if (target.task_.is_linked()) return;
  core_->tasks.push_back(target);
  core_->nudge(std::move(lock));
}

// The thread sleeps until wakes.next(), so only an earlier time must wake it.
void EventThread::wake_at(EventTarget& target, base::Time time) {
  std::unique_lock lock(core_->mutex);
  const bool is_sooner = time < core_->wakes.next();
  core_->wakes.set(target, time);
  if (is_sooner) core_->nudge(std::move(lock));
}

// The call that is running may ask for another one, so what was asked for goes once more after it.
void EventThread::forget(EventTarget& target) {
  const base::Uncancelled guard;  // destructors call this
  std::unique_lock lock(core_->mutex);
  std::erase_if(core_->targets, [&](const auto& entry) { return entry.second == &target; });
  target.cancel();
  if (core_->thread == std::this_thread::get_id()) return;
  core_->fell_silent.wait(lock, [&] { return core_->speaking != &target; });
  target.cancel();
}

// Never waits: the event thread destroys the id soon. add() has reserved room in graves.
void EventThread::bury(rdma_cm_id* id) {
  if (id == nullptr) return;
  std::unique_lock lock(core_->mutex);
  core_->targets.erase(key_of(id));
  core_->graves.push_back(id);
  ++core_->dug;
  core_->nudge(std::move(lock));
}

void EventThread::bury_and_wait(rdma_cm_id* id) {
  const base::Uncancelled guard;  // destructors call this
  bury(id);
  std::unique_lock lock(core_->mutex);
  if (core_->thread == std::this_thread::get_id()) return;
  const std::uint64_t ours = core_->dug;
  core_->fell_silent.wait(lock, [&] { return core_->buried >= ours; });
}

}  // namespace softdat::verbs
