// SPDX-License-Identifier: BSD-2-Clause
// The thread that calls consumers' wait agents. It holds nothing while it does, so an agent may call
// any DAT function; the threads that find the events are never at an agent's mercy.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace softdat::object {

class UpcallThread {
 public:
  UpcallThread();
  // Makes the calls that wait, then ends. From inside a call it does not wait for that call.
  ~UpcallThread();
  UpcallThread(const UpcallThread&) = delete;
  UpcallThread& operator=(const UpcallThread&) = delete;

  // Any thread; calls are made one after the other in the order of post().
  void post(std::function<void()> call);

 private:
  struct Queue;
  static void run(std::shared_ptr<Queue> queue);

  std::shared_ptr<Queue> queue_;
  std::thread thread_;
};

}  // namespace softdat::object
