// SPDX-License-Identifier: BSD-2-Clause
// Engine: owns the carrier and the baton. The engine's work is done by a consumer thread that polls or posts, or by the
// engine thread. docs/decisions/0003-the-baton.md has the proof that no work is lost between them.
//
// A section is the time for which one thread holds the baton. A turn is one pass over all work that is due.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/event_count.h"
#include "base/timers.h"
#include "simnic/baton.h"
#include "simnic/completion_queue.h"
#include "simnic/doorbell_list.h"
#include "simnic/engine_thread.h"
#include "simnic/failure_watch.h"
#include "simnic/lane.h"
#include "simnic/poll_leader.h"
#include "simnic/spin_budget.h"
#include "simnic/task.h"
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

class Engine {
 public:
  Engine(std::unique_ptr<transport::Carrier> carrier, Drive drive);
  ~Engine();  // after all that uses it
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Holds the baton while it lives. Its destructor does what became due meanwhile. REQUIRES: the thread does not hold
  // the baton (as it does in a method with the suffix _with_baton and in a channel sink).
  class Hold {
   public:
    explicit Hold(Engine& engine) : engine_(engine) { engine_.baton_.take(); }
    ~Hold() { engine_.let_go(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Engine& engine_;
  };

  // Any thread. Turns if no other thread does and there may be something to do, then calls sinks. True if something was
  // done.
  bool progress() { return progress_for(nullptr); }
  // As hca::Device::progress_for(); null: of no queue.
  bool progress_for(const void* queue);
  // The same for a thread that has found this queue empty, with a second look. True: `out` was written.
  bool take_by_progress(CompletionQueue& queue, hca::Completion& out);
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
  void note_post() {
    if (counts_posts_.load(std::memory_order_relaxed)) [[unlikely]]
      posts_.store(posts_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // Any thread that has worked for the NIC for a while (it copied a large send), without the baton. Does what has come
  // meanwhile, as a poll does, but calls no sink. Otherwise the engine thread would wake for it, on the processor on
  // which this thread copies. Counts as a poll, but does not make the engine thread stand aside by itself.
  void catch_up();

  // Any thread, with any lock. Wakes the engine thread to deliver what the caller has left in the upcall queue.
  void have_news_told();

  // Any thread.
  UpcallQueue& upcalls() { return upcalls_; }

  // With the baton.
  // Before what may be a cancellation point. A Hold does it, and a turn() of the carrier takes care of itself.
  void stay() { baton_.stay(); }
  transport::Carrier& carrier() {
    stay();
    return *carrier_;
  }
  FailureWatch& failure_watch() { return failure_watch_; }
  base::Timers& timers() { return timers_; }
  base::Time now() const;
  void run_at_end(Task& task);       // of this section
  void run_next_turn(Task& task);    // or at the end of this one, if it is an eager one
  void forgo_next_turn(Task& task);  // what it was to be run for has been done
  // Destroys a closed channel at the end of the section, when no call of it can be on the stack.
  void bury(std::unique_ptr<transport::Channel> channel) {
    channel->chain(std::move(graveyard_));
    graveyard_ = std::move(channel);
  }
  // No list holds the task afterwards, unless it is rung again.
  void forget(Task& task);
  // Posters may be in the lane from now on / not any more.
  void list_lane(Lane& lane) { lanes_.push_back(lane); }
  void strike_lane(Lane& lane) { lanes_.erase(lanes_.iterator_to(lane)); }
  // After a key has gone: when this returns, no poster reads through it.
  void await_posters();

 private:
  friend class EngineThread;

  // A polling thread reads the clock, and asks the kernel, once in so many polls.
  static constexpr std::uint64_t kPollsPerClock = 64;
  // While the engine thread stands aside, the pollers turn at least once in each of its rests.
  static_assert(EngineThread::kBusyPolls >= kPollsPerClock);

  // One turn, unless another thread has the baton. True when something was done.
  bool peek();
  // Does not look at the doorbells, because leave() does, after the baton has been given away.
  bool has_nothing_due() const { return due_now_.empty() && timers_.empty() && !graveyard_; }
  bool may_leave_to_leader(const void* queue);
  bool tell_news() { return upcalls_.has_news() && upcalls_.deliver(); }
  bool progress_with_baton();
  // How a poll ended its section.
  enum class End : std::uint8_t {
    kBrief,   // it only looked, and set no timer
    kWhole,   // it ran tasks or made a turn
    kInVain,  // the same, and polls have found nothing for so long that the caller should yield
  };
  struct Polled {
    std::size_t done = 0;
    End end = End::kBrief;
  };
  Polled poll_with_baton();
  Polled turn_in_poll(std::uint64_t poll);
  void end_poll(End end);
  std::size_t turn_with_baton(base::Time now, Haste haste);
  void renew_fault_guard();          // before what has arrived is copied to the consumer
  bool finish_section_with_baton();  // true when something was done
  void empty_graveyard();
  void run_due_with_baton();
  void promote_with_baton();
  void leave();  // gives the baton away, and runs tasks that were rung at that moment
  void serve_late_ringers();
  void let_go();  // leave(), and have the engine thread serve sinks and timers
  // Returns the number of polls before this one.
  std::uint64_t count_poll() {
    const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
    polls_.store(polls + 1, std::memory_order_relaxed);
    return polls;
  }
  base::Time poll_time(std::uint64_t poll) const;
  Haste poll_haste() const;
  bool is_polled_in_vain(std::uint64_t poll, std::size_t done);

  // Fixed after construction.
  const Drive drive_;
  const std::unique_ptr<transport::Carrier> carrier_;
  const transport::WatchWords* const watch_words_;  // the carrier's; null: none
  Baton baton_;
  DoorbellList doorbells_;
  UpcallQueue upcalls_;
  SpinBudget spin_;
  // Owned by the baton.
  base::Timers timers_;
  FailureWatch failure_watch_{upcalls_};
  template <Task::DueHook Task::*Hook>
  using TaskList = boost::intrusive::list<Task, boost::intrusive::member_hook<Task, Task::DueHook, Hook>>;
  TaskList<&Task::due_now_> due_now_;
  TaskList<&Task::due_later_> due_later_;
  boost::intrusive::list<Lane,
                         boost::intrusive::member_hook<Lane, boost::intrusive::list_member_hook<>, &Lane::listed_>>
      lanes_;
  std::unique_ptr<transport::Channel> graveyard_;  // the last of a chain
  base::Time now_{};
  base::Time last_done_{};  // when a poll last did something
  base::Time renew_guard_at_{};
  // Written with the baton, read by pollers without: nothing is due but what the carrier's words tell of.
  std::atomic<bool> is_calm_{false};
  // The same: a poll asks the kernel.
  std::atomic<bool> does_poll_ask_kernel_{false};
  PollLeader leader_;
  // Any poller's; one that is lost does no harm. Read by the engine thread too.
  std::atomic<std::uint64_t> polls_{0};
  // Posts of sends while counts_posts_, a hint as well.
  std::atomic<std::uint64_t> posts_{0};
  std::atomic<bool> counts_posts_{false};  // written by the engine thread
  // Written with the baton, read by the engine thread without.
  std::atomic<base::Time::rep> next_deadline_{base::kNever.time_since_epoch().count()};
  // Last: it uses all of the above from its construction on.
  std::unique_ptr<EngineThread> thread_;
};

inline void Engine::note_found() {
  if (polls_.load(std::memory_order_relaxed) % kPollsPerClock == 0) [[unlikely]] {
    progress_with_baton();
    return;
  }
  count_poll();
  if (thread_) thread_->note_polls();
}

[[gnu::always_inline]] inline bool Engine::is_empty_poll() {
  const bool is_quiet =
      is_calm_.load(std::memory_order_relaxed) && watch_words_ != nullptr && watch_words_->are_quiet();
  if (!is_quiet || upcalls_.has_news()) return false;
  if (polls_.load(std::memory_order_relaxed) % kPollsPerClock == 0) return false;
  count_poll();
  if (thread_) thread_->note_polls();
  return true;
}

}  // namespace softdat::simnic
