// SPDX-License-Identifier: BSD-2-Clause
// Engine: owns the carrier and the baton. The engine's work is done by a consumer thread that polls or posts, or by the
// engine thread. docs/decisions/0003-the-baton.md has the proof that no work is lost between them.
//
// A turn is one pass over all work that is due. A section is the time for which one thread holds the baton: BatonWork,
// from which Engine derives, has what is due in it. LaneList has the lanes that posters may hold. The engine adds what
// drives them: the carrier, polls, the engine thread, and the queue of upcalls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/event_count.h"
#include "simnic/baton_work.h"
#include "simnic/completion_queue.h"
#include "simnic/engine_thread.h"
#include "simnic/failure_watch.h"
#include "simnic/fault_guard_renewal.h"
#include "simnic/lane.h"
#include "simnic/poll_leader.h"
#include "simnic/program_activity.h"
#include "simnic/spin_budget.h"
#include "simnic/task.h"
#include "simnic/turn_clock.h"
#include "simnic/upcall_queue.h"
#include "transport/carrier.h"

namespace softdat::simnic {

// What turns an engine when no consumer does.
enum class Drive {
  kThread,  // the engine thread
  kByHand,  // only the caller of turn(), which also says what time it is
};

// How much a turn puts off to the next one (acks that may yet ride on a message of the consumer's).
enum class Haste { kPatient, kEager };

class Engine final : public BatonWork, public LaneList, private base::OtherSleep {
 public:
  Engine(std::unique_ptr<transport::Carrier> carrier, Drive drive);
  ~Engine();  // after all that uses it

  // Holds the baton while it lives. Its destructor does what became due meanwhile. REQUIRES: the thread does not hold
  // the baton (as it does in a method with the suffix _with_baton and in a channel sink).
  class Hold {
   public:
    explicit Hold(Engine& engine) : engine_(engine) { engine_.take(); }
    ~Hold() { engine_.let_go(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Engine& engine_;
  };

  // Any thread. Turns if no other thread does and there may be something to do, then calls sinks. True if something was
  // done. With a queue: as hca::Device::progress_for().
  bool progress(const void* queue = nullptr);
  // The same for a thread that has found this queue empty, with a second look. kByProgress: `out` was written.
  hca::Device::Found take_by_progress(CompletionQueue& queue, hca::Completion& out);
  // True: nothing has arrived, and no upcall waits. It counts as a poll then. Fast path: most polls of a thread that
  // waits for a message end here.
  bool is_empty_poll();
  // REQUIRES: the thread has found a completion in its queue, without progress. It counts as a poll, so that the engine
  // thread stands aside while a program takes what one look has brought. Every 64th makes a turn, as of all polls.
  void note_found();

  // Any thread; drives time by hand. Returns how many things were done.
  std::size_t turn(base::Time now, Haste haste = Haste::kEager);

  // Any thread, as hca::Device::sleep().
  base::WakeReason sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline);

  // Any thread, without the baton: has the task run, by this thread if the baton is free, else by the holder. Calls no
  // sink.
  void ring(Task& task);

  // Any thread that posts a send: tells the engine thread, if that wants to know, that the program does not only watch
  // its memory.
  void note_post() { activity_.note_post(); }

  // Any thread that has worked for the NIC for a while (it copied a large send), without the baton. Does what has come
  // meanwhile, as a poll does, but calls no sink. Otherwise the engine thread would wake for it, on the processor on
  // which this thread copies. Counts as a poll, but does not make the engine thread stand aside by itself.
  void catch_up();

  // Any thread, with any lock. Wakes the engine thread to deliver what the caller has left in the upcall queue.
  void have_news_told();

  // Any thread.
  UpcallQueue& upcalls() { return upcalls_; }

  // With the baton.
  transport::Carrier& carrier() {
    stay();
    return *carrier_;
  }
  FailureWatch& failure_watch() { return failure_watch_; }
  base::Time now() const { return clock_.now(); }

 private:
  friend class EngineThread;

  // While the engine thread stands aside, the pollers turn at least once in each of its rests.
  static_assert(EngineThread::kBusyPolls >= ProgramActivity::kPollsPerClock);

  // One turn, unless another thread has the baton. True when something was done.
  bool peek();
  bool tell_news() { return upcalls_.has_news() && upcalls_.deliver(); }
  enum class Yield : std::uint8_t { kNever, kIfInVain };
  bool progress_with_baton(Yield yield);
  // How a poll ended its section.
  enum class End : std::uint8_t {
    kBrief,   // it only looked, and set no timer
    kWhole,   // it ran tasks or made a turn
    kInVain,  // the same, and this thread should yield (TurnClock)
  };
  struct Polled {
    std::size_t done = 0;
    End end = End::kBrief;
  };
  Polled poll_with_baton();
  Polled turn_in_poll(std::uint64_t poll);
  void end_poll(End end);  // gives the baton away
  std::size_t turn_with_baton(base::Time now, Haste haste);
  void let_go();  // gives the baton away, and has the engine thread serve sinks and timers
  base::WakeReason sleep_now(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline);
  base::WakeReason lead(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline);
  base::WakeReason follow(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline);
  void end_sleep() override { carrier_->interrupt(); }
  Haste poll_haste() const;

  // Fixed after construction.
  const Drive drive_;
  const std::unique_ptr<transport::Carrier> carrier_;
  const transport::WatchWords* const watch_words_;  // the carrier's; null: none
  UpcallQueue upcalls_;
  SpinBudget spin_;
  PollLeader leader_;
  ProgramActivity activity_;
  // Owned by the baton.
  FailureWatch failure_watch_{upcalls_};
  TurnClock clock_;
  FaultGuardRenewal guard_renewal_;
  // Last: it uses all of the above from its construction on.
  std::unique_ptr<EngineThread> thread_;
};

inline void Engine::note_found() {
  if (ProgramActivity::is_clock_poll(activity_.polls())) [[unlikely]] {
    progress_with_baton(Yield::kNever);
    return;
  }
  activity_.count_poll();
  if (thread_) thread_->note_polls();
}

[[gnu::always_inline]] inline bool Engine::is_empty_poll() {
  const bool is_quiet = is_calm() && watch_words_ != nullptr && watch_words_->are_quiet();
  if (!is_quiet || upcalls_.has_news()) return false;
  if (ProgramActivity::is_clock_poll(activity_.polls())) return false;
  activity_.count_poll();
  if (thread_) thread_->note_polls();
  return true;
}

}  // namespace softdat::simnic
