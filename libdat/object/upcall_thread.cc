// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/upcall_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/log.h"
#include "base/own_threads.h"

namespace softdat::object {

struct UpcallThread::Queue {
  struct Call {
    WaitAgent agent;
    Handle evd;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Call> calls;  // guarded by mutex
  bool is_ending = false;  // guarded by mutex
};

UpcallThread::UpcallThread()
    : queue_(std::make_shared<Queue>()), thread_(base::start_own_thread([queue = queue_] { run(queue); })) {}

UpcallThread::~UpcallThread() {
  {
    std::lock_guard lock(queue_->mutex);
    queue_->is_ending = true;
  }
  queue_->changed.notify_one();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void UpcallThread::post(WaitAgent agent, Handle evd) {
  try {
    std::lock_guard lock(queue_->mutex);
    queue_->calls.push_back({agent, evd});
  } catch (const std::bad_alloc&) {
    base::log(base::LogLevel::kError, "out of memory: a wait agent of a CNO is not called");
  }
  queue_->changed.notify_one();
}

void UpcallThread::run(const std::shared_ptr<Queue>& queue) {
  std::unique_lock lock(queue->mutex);
  for (;;) {
    queue->changed.wait(lock, [&] { return queue->is_ending || !queue->calls.empty(); });
    if (queue->calls.empty()) return;
    const Queue::Call call = queue->calls.front();
    queue->calls.pop_front();
    lock.unlock();
    {
      const base::ConsumersTurn turn;
      call.agent.function(call.agent.instance_data, call.evd);
    }
    lock.lock();
  }
}

}  // namespace softdat::object
