// SPDX-License-Identifier: BSD-2-Clause
// Live captures: of a process that runs already (docs/decisions/0026-captures-of-running-processes.md). Without one, a
// queue pair pays a null pointer in its slow path, and nothing in the fast ones.
//
// LiveProcess knows the adapters of the process and the capture under way; LiveNic is one adapter, and knows its queue
// pairs. Lock order: LiveProcess::mutex_, the baton, LiveNic::mutex_.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simnic/capture/recorder.h"
#include "simnic/capture/stream.h"

namespace softdat::simnic {
class Engine;
}

namespace softdat::simnic::capture {

// One capture, from its begin to its end. Whoever captures holds it.
struct LiveCapture {
  LiveCapture(base::UniqueFd file, RecorderOptions options) : recorder(std::move(file), std::move(options)) {}
  Recorder recorder;
  std::atomic<std::uint32_t> connections{0};
};
using SharedPlace = std::shared_ptr<const Place>;  // keeps its capture

// A queue pair. Both calls with the baton, and end_capture() only after begin_capture(). Allocation may fail:
// begin_capture() throws std::bad_alloc without any effect.
class LiveMember : public boost::intrusive::list_base_hook<> {
 public:
  // True: it has a connection, which is captured from now on.
  virtual bool begin_capture(const SharedPlace& place) = 0;
  virtual void end_capture() = 0;

 protected:
  ~LiveMember() = default;
};

class LiveNic {
 public:
  // Throws std::bad_alloc.
  LiveNic(Engine& engine, std::string name, const transport::Address& address);
  // REQUIRES: not the baton.
  ~LiveNic();
  LiveNic(const LiveNic&) = delete;
  LiveNic& operator=(const LiveNic&) = delete;

  // Any thread.
  void add(LiveMember& member);
  // With the baton.
  void remove(LiveMember& member);
  // With the baton: what new connections are captured into; null: nothing.
  const SharedPlace& place() const { return place_; }

 private:
  friend class LiveProcess;
  // Without the baton. Returns how many connections there are.
  std::uint32_t begin(const std::shared_ptr<LiveCapture>& capture);
  void end();

  Engine& engine_;
  const std::string name_;
  const transport::Address address_;
  std::mutex mutex_;
  boost::intrusive::list<LiveMember> members_;  // guarded by mutex_
  SharedPlace place_;                           // owned by the baton
};

class LiveProcess {
 public:
  static LiveProcess& instance();

  // 0: the capture has begun on all adapters, else the process number of whoever captures already. Throws
  // std::bad_alloc, without any effect.
  std::uint32_t begin(const std::shared_ptr<LiveCapture>& capture, std::uint32_t owner, std::uint32_t& connections);
  // When it returns, nothing adds to the capture any more.
  void end();
  // At the end of the process: what was captured is written.
  void flush();

 private:
  friend class LiveNic;
  friend void forget_live_captures_in_child();
  void enter(LiveNic& nic);
  void leave(LiveNic& nic);

  std::mutex mutex_;
  std::vector<LiveNic*> nics_;
  std::shared_ptr<LiveCapture> capture_;
  std::uint32_t owner_ = 0;
};

}  // namespace softdat::simnic::capture
