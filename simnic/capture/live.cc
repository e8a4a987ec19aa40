// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/live.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/forks.h"
#include "base/made_once.h"
#include "simnic/capture/connection_capture.h"
#include "simnic/capture/live_session.h"
#include "simnic/capture/live_tap.h"
#include "simnic/direct/direct_context.h"
#include "simnic/engine.h"

namespace softdat::simnic::capture {
namespace {

// Once there is one. Never destroyed: adapters may be open while the process ends.
constinit std::atomic<LiveProcess*> g_process{nullptr};

[[gnu::destructor]] void flush_live_capture() {
  if (LiveProcess* const known = g_process.load(std::memory_order_acquire)) known->flush();
}

}  // namespace

// The adapters are the parent's, and so is the capture. Another thread of the parent may have held the lock.
void forget_live_captures_in_child() {
  forget_live_sessions_in_child();
  LiveProcess* const process = g_process.load(std::memory_order_acquire);
  if (process == nullptr) return;
  new (&process->mutex_) base::Mutex<locks::kLiveProcess>;
  new (&process->nics_) std::vector<LiveNic*>;
  new (&process->capture_) std::shared_ptr<LiveCapture>;
}

[[gnu::constructor]] static void forget_live_captures_in_children() {
  base::on_fork({.in_child = forget_live_captures_in_child});
}

LiveProcess& LiveProcess::instance() {
  return base::made_once(g_process, [] { return std::make_unique<LiveProcess>(); });
}

void LiveProcess::enter(LiveNic& nic) {
  const std::lock_guard lock(mutex_);
  nics_.push_back(&nic);
  // An adapter that opens while a capture runs is captured from its beginning.
  if (!capture_) return;
  try {
    static_cast<void>(nic.begin(capture_));
  } catch (const std::bad_alloc&) {
    // The adapter is not captured.
  }
}

void LiveProcess::leave(LiveNic& nic) {
  const std::lock_guard lock(mutex_);
  std::erase(nics_, &nic);
}

std::uint32_t LiveProcess::begin(const std::shared_ptr<LiveCapture>& capture, std::uint32_t owner,
                                 std::uint32_t& connections) {
  const std::lock_guard lock(mutex_);
  // A process has one live capture at a time. The tool is told who owns it.
  if (capture_) return owner_;
  connections = 0;
  try {
    for (LiveNic* const nic : nics_) connections += nic->begin(capture);
  } catch (const std::bad_alloc&) {
    for (LiveNic* const nic : nics_) nic->end();
    throw;
  }
  capture_ = capture;
  owner_ = owner;
  return 0;
}

void LiveProcess::end() {
  const std::lock_guard lock(mutex_);
  for (LiveNic* const nic : nics_) nic->end();
  capture_.reset();
}

// Without the lock while it waits for the writer, which may take seconds.
void LiveProcess::flush() {
  std::shared_ptr<LiveCapture> capture;
  {
    const std::lock_guard lock(mutex_);
    capture = capture_;
  }
  if (!capture) return;
  capture->recorder.flush();
}

LiveNic::LiveNic(Engine& engine, transport::Carrier& carrier, direct::DirectContext* direct_context, std::string name,
                 const transport::Address& address)
    : engine_(engine), carrier_(carrier), direct_context_(direct_context), name_(std::move(name)), address_(address) {
  LiveProcess::instance().enter(*this);
}

LiveNic::~LiveNic() {
  // First: no session begins a capture on this adapter afterwards.
  LiveProcess::instance().leave(*this);
  end();
}

std::uint32_t LiveNic::begin(const std::shared_ptr<LiveCapture>& capture) {
  auto place = std::make_shared<Place>(describe_place(capture->recorder, name_, address_));
  place->connections = &capture->connections;
  // One owner for both.
  struct Owned {
    std::shared_ptr<LiveCapture> capture;
    std::shared_ptr<Place> place;
  };
  auto owned = std::make_shared<Owned>(Owned{capture, std::move(place)});
  const Engine::Hold hold(engine_);
  // Direct access passes the channels by, so it stops while the capture runs.
  if (direct_context_ != nullptr) direct_context_->suspend();
  place_ = SharedPlace(owned, owned->place.get());
  running_ = 0;
  carrier_.tap(this);
  return running_;
}

void LiveNic::end() {
  const Engine::Hold hold(engine_);
  if (!place_) return;
  carrier_.tap(nullptr);
  // Taps of running connections hold the place themselves until they are gone.
  place_.reset();
  if (direct_context_ != nullptr) direct_context_->resume();
}

std::unique_ptr<transport::ChannelTap> LiveNic::on_connect(const transport::Address& remote,
                                                           const transport::Offer& request, const char* carrier_name,
                                                           transport::ChannelSink& sink) try {
  auto tap = std::make_unique<LiveTap>(place_, carrier_name, sink);
  tap->capture().ask(remote, request);
  return tap;
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::unique_ptr<transport::ChannelTap> LiveNic::on_accept(const transport::Offer& request,
                                                          const transport::Offer& reply, const char* carrier_name,
                                                          transport::ChannelSink& sink) try {
  auto tap = std::make_unique<LiveTap>(place_, carrier_name, sink);
  tap->capture().answer(request, reply);
  return tap;
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::unique_ptr<transport::ChannelTap> LiveNic::on_running(const transport::ConnectionFacts& facts,
                                                           transport::ChannelSink& sink) try {
  auto tap = std::make_unique<LiveTap>(place_, facts.carrier_name, sink);
  tap->begin_in_the_middle(facts);
  ++running_;
  return tap;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void LiveNic::on_reject(const transport::Offer& request, std::span<const std::byte> private_data) {
  capture_reject(*place_, request, private_data);
}

}  // namespace softdat::simnic::capture
