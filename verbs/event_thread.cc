// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/event_thread.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <system_error>

#include "base/log.h"
#include "base/own_threads.h"
#include "base/uncancelled.h"

namespace softdat::verbs {
namespace {

// Ids and targets beyond those that have keys.
constexpr std::size_t kSpare = 64;

void make_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
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
                 .reads_in = said.initiator_depth,
                 .reads_out = said.responder_resources};
  result.has_lost_data = !copy(said, result.private_data);
  return result;
}

// Without memory for it a request cannot be handed over: then nobody has taken it.
bool is_told(EventTarget& target, const CmEvent& event) try {
  target.on_cm_event(event);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

Adapter::~Adapter() {
  if (plug != nullptr) library_.destroy_cq(plug);
  if (connections != nullptr) library_.destroy_event_channel(connections);
  if (completions != nullptr) library_.destroy_comp_channel(completions);
  if (context != nullptr) library_.close_device(context);
}

struct EventThread::Core {
  explicit Core(std::shared_ptr<Adapter> open)
      : adapter(std::move(open)), doorbell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!doorbell) throw std::system_error(errno, std::generic_category(), "eventfd");
  }

  void run();
  int due_in_ms();
  bool do_one_task();
  bool do_due_wakes();
  void destroy_buried();
  void hear_connections();
  void hear_device();
  void hear_completions();
  void refuse(rdma_cm_id* stray);
  void ring();

  // Calls `what(target)` for whoever the key belongs to. False when it is nobody's.
  template <typename What>
  bool tell(EventKey key, What what);
  template <typename What>
  void call(std::unique_lock<std::mutex>& lock, EventTarget* target, What what);

  const std::shared_ptr<Adapter> adapter;
  const base::UniqueFd doorbell;
  // Guarded by mutex.
  std::mutex mutex;
  std::condition_variable fell_silent;
  std::map<EventKey, EventTarget*> targets;
  std::vector<EventTarget*> tasks;  // in order, each once
  struct Wake {
    EventTarget* target;
    base::Time time;
  };
  std::vector<Wake> wakes;  // each target once
  std::vector<rdma_cm_id*> graves;
  std::uint64_t dug = 0;     // ids put into graves, ever
  std::uint64_t buried = 0;  // of those the ones that are destroyed
  EventTarget* speaking = nullptr;
  std::thread::id thread;
  bool is_ending = false;
};

void EventThread::Core::ring() {
  const base::Uncancelled guard;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(doorbell.get(), &one, sizeof one);
}

template <typename What>
void EventThread::Core::call(std::unique_lock<std::mutex>& lock, EventTarget* target, What what) {
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

bool EventThread::Core::do_one_task() {
  std::unique_lock lock(mutex);
  if (tasks.empty()) return false;
  EventTarget* const target = tasks.front();
  tasks.erase(tasks.begin());
  call(lock, target, [](EventTarget& self) { self.on_wake(); });
  return true;
}

bool EventThread::Core::do_due_wakes() {
  std::unique_lock lock(mutex);
  const base::Time now = base::Clock::now();
  const auto due = std::find_if(wakes.begin(), wakes.end(), [&](const Wake& wake) { return wake.time <= now; });
  if (due == wakes.end()) return false;
  EventTarget* const target = due->target;
  wakes.erase(due);
  call(lock, target, [](EventTarget& self) { self.on_wake(); });
  return true;
}

int EventThread::Core::due_in_ms() {
  const std::lock_guard lock(mutex);
  if (!tasks.empty() || !graves.empty() || is_ending) return 0;
  base::Time next = base::kNever;
  for (const Wake& wake : wakes) next = std::min(next, wake.time);
  if (next == base::kNever) return -1;
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(next - base::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(rest, 0, 60'000));
}

void EventThread::Core::destroy_buried() {
  std::unique_lock lock(mutex);
  while (!graves.empty()) {
    rdma_cm_id* const id = graves.front();
    graves.erase(graves.begin());
    lock.unlock();
    adapter->library().destroy_id(id);
    lock.lock();
    ++buried;
    fell_silent.notify_all();
  }
}

// Its listener has gone.
void EventThread::Core::refuse(rdma_cm_id* stray) {
  adapter->library().reject_ece(stray, nullptr, 0);
  adapter->library().destroy_id(stray);
}

void EventThread::Core::hear_connections() {
  const Library& library = adapter->library();
  rdma_cm_event* event = nullptr;
  while (library.get_cm_event(adapter->connections, &event) == 0) {
    CmEvent copy = copy_of(*event);
    const rdma_cm_id* const whose = copy.type == RDMA_CM_EVENT_CONNECT_REQUEST ? event->listen_id : event->id;
    if (base::is_logged(base::LogLevel::kTrace)) {
      base::log(base::LogLevel::kTrace, "verbs: %s, status %d", library.event_str(copy.type), copy.status);
    }
    library.ack_cm_event(event);
    bool is_heard = false;
    tell(key_of(whose), [&](EventTarget& target) { is_heard = is_told(target, copy); });
    if (!is_heard && copy.type == RDMA_CM_EVENT_CONNECT_REQUEST) refuse(copy.id);
    destroy_buried();
  }
}

void EventThread::Core::hear_device() {
  const Library& library = adapter->library();
  ibv_async_event event;
  while (library.get_async_event(adapter->context, &event) == 0) {
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
    library.ack_async_event(&event);
    tell(key, [&](EventTarget& target) { target.on_async_event(type); });
  }
}

void EventThread::Core::hear_completions() {
  const Library& library = adapter->library();
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  while (library.get_cq_event(adapter->completions, &cq, &context) == 0) {
    library.ack_cq_events(cq, 1);
    tell(key_of(cq), [](EventTarget& target) { target.on_channel(); });
  }
}

void EventThread::Core::run() {
  {
    const std::lock_guard lock(mutex);
    thread = std::this_thread::get_id();
  }
  for (;;) {
    while (do_one_task() || do_due_wakes()) {
    }
    destroy_buried();
    {
      const std::lock_guard lock(mutex);
      if (is_ending && tasks.empty() && graves.empty()) return;
    }
    pollfd fds[] = {{doorbell.get(), POLLIN, 0},
                    {adapter->connections->fd, POLLIN, 0},
                    {adapter->completions->fd, POLLIN, 0},
                    {adapter->context->async_fd, POLLIN, 0}};
    if (::poll(fds, std::size(fds), due_in_ms()) <= 0) continue;
    std::uint64_t rings = 0;
    if (fds[0].revents != 0) [[maybe_unused]]
      const ssize_t taken = ::read(doorbell.get(), &rings, sizeof rings);
    if (fds[2].revents != 0) hear_completions();
    if (fds[3].revents != 0) hear_device();
    if (fds[1].revents != 0) hear_connections();
  }
}

EventThread::EventThread(std::shared_ptr<Adapter> adapter) : core_(std::make_shared<Core>(std::move(adapter))) {
  make_nonblocking(core_->adapter->connections->fd);
  make_nonblocking(core_->adapter->completions->fd);
  make_nonblocking(core_->adapter->context->async_fd);
  thread_ = base::start_own_thread([core = core_] { core->run(); });
  ::pthread_setname_np(thread_.native_handle(), "softdat-verbs");
}

EventThread::~EventThread() {
  {
    const std::lock_guard lock(core_->mutex);
    core_->is_ending = true;
  }
  core_->ring();
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
  if (core_->tasks.capacity() < most / 2) core_->tasks.reserve(most);
  if (core_->wakes.capacity() < most / 2) core_->wakes.reserve(most);
  core_->targets[key] = &target;
}

void EventThread::remove(EventKey key) {
  const std::lock_guard lock(core_->mutex);
  core_->targets.erase(key);
}

void EventThread::post(EventTarget& target) {
  {
    const std::lock_guard lock(core_->mutex);
    auto& tasks = core_->tasks;
    if (std::find(tasks.begin(), tasks.end(), &target) != tasks.end()) return;
    tasks.push_back(&target);
    if (core_->thread == std::this_thread::get_id()) return;
  }
  core_->ring();
}

void EventThread::wake_at(EventTarget& target, base::Time time) {
  {
    const std::lock_guard lock(core_->mutex);
    auto& wakes = core_->wakes;
    const auto found =
        std::find_if(wakes.begin(), wakes.end(), [&](const auto& wake) { return wake.target == &target; });
    if (found == wakes.end()) {
      wakes.push_back({&target, time});
    } else {
      found->time = time;
    }
    if (core_->thread == std::this_thread::get_id()) return;
  }
  core_->ring();
}

// The call that is running may ask for another one, so what was asked for goes once more after it.
void EventThread::forget(EventTarget& target) {
  std::unique_lock lock(core_->mutex);
  std::erase_if(core_->targets, [&](const auto& entry) { return entry.second == &target; });
  const auto cancel = [&] {
    std::erase(core_->tasks, &target);
    std::erase_if(core_->wakes, [&](const auto& wake) { return wake.target == &target; });
  };
  cancel();
  if (core_->thread == std::this_thread::get_id()) return;
  core_->fell_silent.wait(lock, [&] { return core_->speaking != &target; });
  cancel();
}

void EventThread::bury(rdma_cm_id* id) {
  if (id == nullptr) return;
  {
    const std::lock_guard lock(core_->mutex);
    core_->targets.erase(key_of(id));
    core_->graves.push_back(id);
    ++core_->dug;
  }
  core_->ring();
}

void EventThread::bury_and_wait(rdma_cm_id* id) {
  bury(id);
  std::unique_lock lock(core_->mutex);
  if (core_->thread == std::this_thread::get_id()) return;
  const std::uint64_t ours = core_->dug;
  core_->fell_silent.wait(lock, [&] { return core_->buried >= ours; });
}

}  // namespace softdat::verbs
