// SPDX-License-Identifier: BSD-2-Clause
// EngineThread: turns the engine while no consumer thread does.
//
// It waits in the carrier without the baton, and takes the baton only for what comes. If consumer threads make
// kBusyPolls polls during one wait, it stands aside, so that their packets do not wake it, and looks now and then
// whether they still poll (rest_plan.h). Without polls, timers and traffic it sleeps, except for the carrier's own
// looks.
//
// A thread of the program that sleeps for an event may lead: wait in the carrier in place of this thread, which then
// stands aside (docs/decisions/0003-the-baton.md).
//
// This thread writes mode_ before it looks at kicked_ and is_led_ and blocks. Other threads write kicked_ or is_led_
// before they look at mode_. All are sequentially consistent, so one side sees the other. Two other pairs follow the
// same rule: this thread writes is_parked_ and a leader that ends writes is_led_; a follower writes followers_ and a
// leader that ends writes is_led_. The thread that waits in the carrier writes waits_, polls_at_wait_ and is_waited_,
// which pollers read as hints. The model is tests/models/lead.pml.
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

  // These five: a thread of the program that is about to sleep for an event.
  // Tries to take the lead. True: the caller leads until end_lead(). It waits in the carrier once, until
  // publish_deadline() at most. False while another thread sleeps or leads, while threads poll in earnest, where the
  // carrier cannot be waited in, and while the engine thread waits in it, unless a thread of the program woke less than
  // RestPlan::kRestOfLead ago.
  bool begin_lead();
  void end_lead();
  // Says that the caller waits in the carrier until the next deadline, which it returns. note_deadline() ends the wait
  // where an earlier one comes up.
  base::Time publish_deadline();
  // The caller sleeps without the lead. The engine thread takes over now instead of at the end of a rest, unless
  // another thread leads; that one hands over to the engine thread when it ends.
  void begin_following();
  void end_following();

  // Any thread. If so, it turns within a rest, or before it waits again.
  bool is_standing_aside() const {
    return mode_.load(std::memory_order_seq_cst) == Mode::kStandingAside && !is_parked_.load(std::memory_order_seq_cst);
  }

  // Any thread, after a poll: has a thread that waits in the carrier stand aside once that was in earnest.
  void note_polls() {
    if (is_waited_.load(std::memory_order_relaxed)) [[unlikely]]
      end_wait_of_polled();
  }

  // Any thread, after a section: wakes a thread that waits beyond the next deadline.
  void note_deadline();

 private:
  enum class Mode : std::uint8_t { kTurning, kWaiting, kStandingAside };

  void end_wait_of_polled();
  bool may_end_wait() const;
  void end_wait_of_engine_thread();
  bool is_led() const { return is_led_.load(std::memory_order_seq_cst); }
  void note_sleep_end();
  std::uint64_t note_wait();
  bool is_polled() const { return polls() - polls_at_wait_.load(std::memory_order_relaxed) >= kBusyPolls; }
  void run();
  void do_what_was_put_off();
  // Blocks in the carrier. True when consumers polled in earnest meanwhile.
  bool wait_for_work();
  void stand_aside();
  void begin_rest();
  RestPlan::Next sleep();
  RestPlan::Next sleep_while_led(base::EventCount::Ticket ticket);
  bool is_lead_lost();
  std::uint64_t polls() const;
  // A lead counts as kBusyPolls polls.
  std::uint64_t activity() const { return polls() + kBusyPolls * leads_.load(std::memory_order_relaxed); }
  bool take_kick() { return kicked_.exchange(false, std::memory_order_seq_cst); }
  bool is_ending() const { return is_ending_.load(std::memory_order_seq_cst); }

  Engine& engine_;
  std::atomic<Mode> mode_{Mode::kTurning};
  std::atomic<bool> kicked_{false};
  std::atomic<bool> is_ending_{false};
  std::atomic<base::Time::rep> waiting_until_{0};
  std::atomic<bool> is_waited_{false};   // a thread waits in the carrier
  std::atomic<bool> was_polled_{false};  // polls ended the last lead; cleared by a wait without as many polls
  std::atomic<std::uint64_t> polls_at_wait_{0};
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<std::uint64_t> interrupted_wait_{0};  // the last wait that a poller ended
  base::EventCount rest_;
  base::EventCount wait_ended_;
  std::atomic<bool> is_led_{false};
  std::atomic<std::uint64_t> leads_{0};  // begun so far
  std::atomic<std::uint32_t> followers_{0};
  std::atomic<base::Time::rep> sleep_end_{0};  // when a thread of the program woke last
  std::atomic<bool> is_parked_{false};         // the engine thread rests until the lead ends
  // The engine thread's own.
  std::uint64_t known_leads_ = 0;     // leads_ at the beginning of the rest
  std::uint64_t suspected_lead_ = 0;  // the number of a lead that has lasted for kLongestLead
  std::uint32_t rests_of_lead_ = 0;   // the rests that the present lead has lasted
  RestPlan plan_;
  bool has_watched_ = false;  // during the last sleep the program may have watched its memory
  std::thread thread_;
};

}  // namespace softdat::simnic
