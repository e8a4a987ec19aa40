// SPDX-License-Identifier: BSD-2-Clause
// EngineThread: turns the engine while no consumer thread does.
//
// It waits in the carrier without the baton, and takes the baton only for what comes. If consumer threads make
// kBusyPolls polls during one wait, it stands aside, so that their packets do not wake it, and looks now and then
// whether they still poll (rest_plan.h). Without polls, timers and traffic it sleeps, except for the carrier's own
// looks.
//
// This thread writes mode_ before it looks at kicked_ and blocks. Other threads write kicked_ before they look at
// mode_. Both are sequentially consistent, so one side sees the other. This thread writes waits_ and polls_at_wait_,
// which pollers read as a hint.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/clock.h"
#include "base/event_count.h"
#include "simnic/rest_plan.h"

namespace softdat::simnic {

class Engine;

class EngineThread {
 public:
  // So many polls in one wait make the engine thread stand aside.
  static constexpr std::uint64_t kBusyPolls = RestPlan::kBusyPolls;

  explicit EngineThread(Engine& engine);
  ~EngineThread();

  // Any thread: turn now, whatever you are doing.
  void kick();

  // Any thread that polled and is going to sleep: take over now instead of at the end of a rest.
  void hand_over();

  // Any thread. If so, it turns within a rest, or before it waits again.
  bool is_standing_aside() const { return mode_.load(std::memory_order_seq_cst) == Mode::kStandingAside; }

  // Any thread, after a poll: has a waiting engine thread stand aside once that was in earnest.
  void note_polls() {
    if (mode_.load(std::memory_order_relaxed) == Mode::kWaiting) [[unlikely]]
      end_wait_of_polled();
  }

  // Any thread, after a section: wakes a thread that waits beyond the next deadline.
  void note_deadline();

 private:
  enum class Mode : std::uint8_t { kTurning, kWaiting, kStandingAside };

  void end_wait_of_polled();
  void run();
  void do_what_was_put_off();
  // Blocks in the carrier. True when consumers polled in earnest meanwhile.
  bool wait_for_work();
  void stand_aside();
  RestPlan::Next sleep();
  std::uint64_t polls() const;
  bool take_kick() { return kicked_.exchange(false, std::memory_order_seq_cst); }
  bool is_ending() const { return is_ending_.load(std::memory_order_seq_cst); }

  Engine& engine_;
  std::atomic<Mode> mode_{Mode::kTurning};
  std::atomic<bool> kicked_{false};
  std::atomic<bool> is_ending_{false};
  std::atomic<base::Time::rep> waiting_until_{0};
  std::atomic<std::uint64_t> polls_at_wait_{0};
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<std::uint64_t> interrupted_wait_{0};  // the last wait that a poller ended
  base::EventCount rest_;
  // The engine thread's own.
  RestPlan plan_;
  bool has_watched_ = false;  // during the last sleep the program may have watched its memory
  std::thread thread_;
};

}  // namespace softdat::simnic
