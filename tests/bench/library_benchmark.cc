// SPDX-License-Identifier: BSD-2-Clause
// What our own queues, timers and waits cost beside those of Boost.Lockfree and Boost.Asio that could stand in their
// places. docs/decisions/0021-lockfree-and-asio.md says what follows from it. One thread measures, so that the figures
// are those of the code and not of the caches' traffic.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/stack.hpp>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "base/handler_room.h"
#include "base/timers.h"
#include "base/unique_fd.h"
#include "simnic/doorbell_list.h"

namespace softdat::bench {
namespace {

namespace asio = boost::asio;

struct Idle final : simnic::Task {
  void run_with_baton() override {}
};

// One doorbell rung, and the list drained; and the look at an empty list that each poll takes.
void doorbell_of_ours(benchmark::State& state) {
  simnic::DoorbellList list;
  Idle task;
  for (auto _ : state) {
    list.ring(task);
    if (!list.is_empty()) list.drain([](simnic::Task& rung) { rung.run_with_baton(); });
    benchmark::DoNotOptimize(list.is_empty());
  }
}

// The same over a queue with a node for each task, the flag that keeps a task from being there twice, and a counter to
// look at, because the queue's own empty() is not ordered with what a ringer does next.
void doorbell_of_lockfree(benchmark::State& state) {
  boost::lockfree::queue<simnic::Task*> queue(1);
  std::atomic<bool> is_rung{false};
  std::atomic<std::size_t> count{0};
  Idle task;
  for (auto _ : state) {
    if (!is_rung.exchange(true, std::memory_order_seq_cst)) {
      static_cast<void>(queue.bounded_push(&task));
      count.fetch_add(1, std::memory_order_seq_cst);
    }
    simnic::Task* found = nullptr;
    while (count.load(std::memory_order_seq_cst) != 0 && queue.pop(found)) {
      count.fetch_sub(1, std::memory_order_seq_cst);
      is_rung.exchange(false, std::memory_order_seq_cst);
      found->run_with_baton();
    }
    benchmark::DoNotOptimize(count.load(std::memory_order_seq_cst));
  }
}

struct Call {
  void* agent;
  void* evd;
};

void call_by_mutex(benchmark::State& state) {
  std::mutex mutex;
  std::deque<Call> calls;
  for (auto _ : state) {
    {
      const std::lock_guard lock(mutex);
      calls.push_back({&state, nullptr});
    }
    const std::lock_guard lock(mutex);
    benchmark::DoNotOptimize(calls.front());
    calls.pop_front();
  }
}

void call_by_lockfree(benchmark::State& state) {
  boost::lockfree::queue<Call> calls(1);
  Call call;
  for (auto _ : state) {
    static_cast<void>(calls.bounded_push({&state, nullptr}));
    calls.pop(call);
    benchmark::DoNotOptimize(call);
  }
}

void free_entry_by_mutex(benchmark::State& state) {
  std::mutex mutex;
  std::vector<std::uint32_t> free = {1};
  for (auto _ : state) {
    std::uint32_t entry = 0;
    {
      const std::lock_guard lock(mutex);
      entry = free.back();
      free.pop_back();
    }
    benchmark::DoNotOptimize(entry);
    const std::lock_guard lock(mutex);
    free.push_back(entry);
  }
}

void free_entry_by_lockfree(benchmark::State& state) {
  boost::lockfree::stack<std::uint32_t> free(1);
  free.bounded_push(1);
  for (auto _ : state) {
    std::uint32_t entry = 0;
    free.pop(entry);
    benchmark::DoNotOptimize(entry);
    free.bounded_push(entry);
  }
}

struct Bell final : base::Timer {
  void on_timer() override { ++rings; }
  int rings = 0;
};

// Time that the caller drives, as the engine's.
struct DrivenClock {
  using duration = base::Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<DrivenClock>;
  [[maybe_unused]] static constexpr bool is_steady = true;
  static time_point now() { return current; }
  inline static time_point current{};
};

// One deadline set, reached and rung, beside range(0) that wait.
void timer_of_ours(benchmark::State& state) {
  base::Timers timers;
  std::vector<Bell> waiting(static_cast<std::size_t>(state.range(0)));
  for (Bell& bell : waiting) timers.set(bell, base::kNever - base::Duration(1));
  Bell bell;
  base::Time now{};
  for (auto _ : state) {
    timers.set(bell, now + std::chrono::microseconds(1));
    benchmark::DoNotOptimize(timers.next());
    now += std::chrono::microseconds(1);
    timers.run(now);
  }
}

void timer_of_asio(benchmark::State& state) {
  using Timer = asio::basic_waitable_timer<DrivenClock>;
  base::HandlerRoom room;  // outlives the context, which holds what is in it
  asio::io_context context(1);
  std::vector<Timer> waiting;
  for (int i = 0; i < state.range(0); ++i) {
    waiting.emplace_back(context, DrivenClock::current + std::chrono::hours(1'000'000));
    waiting.back().async_wait([](boost::system::error_code) {});
  }
  Timer timer(context);
  for (auto _ : state) {
    timer.expires_at(DrivenClock::current + std::chrono::microseconds(1));
    timer.async_wait(base::InRoom(room, [](boost::system::error_code) {}));
    DrivenClock::current += std::chrono::microseconds(1);
    context.poll();
  }
}

// Reads it, as the event thread of a verbs device reads events until there are none.
void empty(int fd) {
  std::uint64_t rings = 0;
  while (::read(fd, &rings, sizeof rings) > 0) {
  }
}
void ring(int fd) {
  const std::uint64_t one = 1;
  if (::write(fd, &one, sizeof one) < 0) std::abort();
}

struct Bells {
  base::UniqueFd fds[3] = {base::UniqueFd(::eventfd(0, EFD_NONBLOCK)), base::UniqueFd(::eventfd(0, EFD_NONBLOCK)),
                           base::UniqueFd(::eventfd(0, EFD_NONBLOCK))};
};

// One of three descriptors becomes readable, is heard and emptied.
void event_by_poll(benchmark::State& state) {
  const Bells bells;
  for (auto _ : state) {
    ring(bells.fds[0].get());
    pollfd fds[] = {{bells.fds[0].get(), POLLIN, 0}, {bells.fds[1].get(), POLLIN, 0}, {bells.fds[2].get(), POLLIN, 0}};
    if (::poll(fds, 3, -1) <= 0) continue;
    for (const pollfd& fd : fds) {
      if (fd.revents != 0) empty(fd.fd);
    }
  }
}

void event_by_asio(benchmark::State& state) {
  const Bells bells;
  base::HandlerRoom rooms[3];
  asio::io_context context(1);
  struct Source {
    base::HandlerRoom& room;
    asio::posix::stream_descriptor descriptor;
    void listen() {
      descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                            base::InRoom(room, [this](boost::system::error_code) {
                              empty(descriptor.native_handle());
                              listen();
                            }));
    }
  };
  Source sources[3] = {{rooms[0], asio::posix::stream_descriptor(context, bells.fds[0].get())},
                       {rooms[1], asio::posix::stream_descriptor(context, bells.fds[1].get())},
                       {rooms[2], asio::posix::stream_descriptor(context, bells.fds[2].get())}};
  for (Source& source : sources) source.listen();
  for (auto _ : state) {
    ring(bells.fds[0].get());
    context.run_one();
  }
  for (Source& source : sources) source.descriptor.release();
}

BENCHMARK(doorbell_of_ours);
BENCHMARK(doorbell_of_lockfree);
BENCHMARK(call_by_mutex);
BENCHMARK(call_by_lockfree);
BENCHMARK(free_entry_by_mutex);
BENCHMARK(free_entry_by_lockfree);
BENCHMARK(timer_of_ours)->Arg(0)->Arg(100);
BENCHMARK(timer_of_asio)->Arg(0)->Arg(100);
BENCHMARK(event_by_poll);
BENCHMARK(event_by_asio);

}  // namespace
}  // namespace softdat::bench

// Beside a thread that rests, because the C library's locks are cheaper while there is only one.
int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::promise<void> end;
  std::thread resting([over = end.get_future()] { over.wait(); });
  benchmark::RunSpecifiedBenchmarks();
  end.set_value();
  resting.join();
}
