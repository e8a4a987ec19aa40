// SPDX-License-Identifier: BSD-2-Clause
// UpcallThread: calls consumers' wait agents. It holds nothing while it does, so an agent may call any DAT function;
// the threads that find the events are never at an agent's mercy.
//
// A call is never lost: reserve() takes its room when an agent is associated, where the lack of memory can be answered.
// post() never allocates and never waits for the thread.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>

#include "libdat/object/wait_agent.h"

namespace softdat::object {

class UpcallThread {
 public:
  // Throws std::system_error when there are no threads to be had, and std::bad_alloc.
  UpcallThread();
  // Makes the calls that wait, then ends. From inside a call it does not wait for that call.
  ~UpcallThread();
  UpcallThread(const UpcallThread&) = delete;
  UpcallThread& operator=(const UpcallThread&) = delete;

  // One thread at a time (the IA's lock) calls these. Each reserve() is followed by one post() or one release().
  // Room for one call. Throws std::bad_alloc.
  void reserve();
  void release();
  // Calls are made one after the other in this order.
  void post(WaitAgent agent, Handle evd);

 private:
  struct Queue;
  static void run(Queue& queue);

  // Fixed after construction. The thread has its own share in the queue.
  std::shared_ptr<Queue> queue_;
  std::size_t room_ = 0;  // of the queue; guarded by the IA's lock
  std::thread thread_;
};

}  // namespace softdat::object
