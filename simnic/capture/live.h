// SPDX-License-Identifier: BSD-2-Clause
// Live captures: of a process that runs already (docs/decisions/0030-captures-of-running-processes.md).
//
// LiveProcess knows the adapters of the process and the capture under way; LiveNic is one adapter, and taps its
// carrier. Lock order: LiveProcess::mutex_, the baton.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "simnic/capture/recorder.h"
#include "simnic/capture/stream.h"
#include "simnic/lock_places.h"
#include "transport/carrier.h"
#include "transport/tap.h"

namespace softdat::simnic {
class Engine;
namespace direct {
class DirectContext;
}
}  // namespace softdat::simnic

namespace softdat::simnic::capture {

// One capture, from its begin to its end. The session that captures holds it.
struct LiveCapture {
  LiveCapture(base::UniqueFd file, RecorderOptions options) : recorder(std::move(file), std::move(options)) {}
  Recorder recorder;
  std::atomic<std::uint32_t> connections{0};
};
using SharedPlace = std::shared_ptr<const Place>;  // keeps its capture

// Taps the connections of one adapter while a capture is under way.
class LiveNic final : private transport::Tapper {
 public:
  // `carrier` is the one that moves the bytes, whatever stands before it; `direct_context` may be null. Both outlive
  // this. Throws std::bad_alloc.
  LiveNic(Engine& engine, transport::Carrier& carrier, direct::DirectContext* direct_context, std::string name,
          const transport::Address& address);
  // REQUIRES: not the baton.
  ~LiveNic();
  LiveNic(const LiveNic&) = delete;
  LiveNic& operator=(const LiveNic&) = delete;

 private:
  friend class LiveProcess;
  // Without the baton. begin() returns how many connections there are already, and throws std::bad_alloc without any
  // effect. end() does nothing where none has begun.
  std::uint32_t begin(const std::shared_ptr<LiveCapture>& capture);
  void end();

  // Tapper.
  std::unique_ptr<transport::ChannelTap> on_connect(const transport::Address& remote, const transport::Offer& request,
                                                    const char* carrier_name, transport::ChannelSink& sink) override;
  std::unique_ptr<transport::ChannelTap> on_accept(const transport::Offer& request, const transport::Offer& reply,
                                                   const char* carrier_name, transport::ChannelSink& sink) override;
  std::unique_ptr<transport::ChannelTap> on_running(const transport::ConnectionFacts& facts,
                                                    transport::ChannelSink& sink) override;
  void on_reject(const transport::Offer& request, std::span<const std::byte> private_data) override;

  // Fixed after construction.
  Engine& engine_;
  transport::Carrier& carrier_;
  direct::DirectContext* const direct_context_;
  const std::string name_;
  const transport::Address address_;
  // Owned by the baton.
  SharedPlace place_;  // what connections are captured into; null: nothing
  std::uint32_t running_ = 0;
};

class LiveProcess {
 public:
  static LiveProcess& instance();

  // 0: the capture has begun on all adapters. Else the number of the process that captures already. Throws
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

  base::Mutex<locks::kLiveProcess> mutex_;
  std::vector<LiveNic*> nics_;
  std::shared_ptr<LiveCapture> capture_;
  std::uint32_t owner_ = 0;
};

}  // namespace softdat::simnic::capture
