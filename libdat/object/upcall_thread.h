// SPDX-License-Identifier: BSD-2-Clause
// The thread that calls consumers' wait agents. It holds nothing while it does, so an agent may call
// any DAT function; the threads that find the events are never at an agent's mercy.
#pragma once

#include <memory>
#include <thread>

#include "libdat/object/wait_agent.h"

namespace softdat::object {

class UpcallThread {
 public:
  // Throws std::system_error when there are no threads to be had.
  UpcallThread();
  // Makes the calls that wait, then ends. From inside a call it does not wait for that call.
  ~UpcallThread();
  UpcallThread(const UpcallThread&) = delete;
  UpcallThread& operator=(const UpcallThread&) = delete;

  // Any thread; calls are made one after the other in this order.
  void post(WaitAgent agent, Handle evd);

 private:
  struct Queue;
  static void run(const std::shared_ptr<Queue>& queue);

  // Fixed after construction. The thread has its own share in the queue.
  std::shared_ptr<Queue> queue_;
  std::thread thread_;
};

}  // namespace softdat::object
