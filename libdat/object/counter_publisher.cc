// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/counter_publisher.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "base/assert.h"
#include "base/environment.h"
#include "base/event_count.h"
#include "base/forks.h"
#include "base/lock_order.h"
#include "base/log.h"
#include "base/made_once.h"
#include "base/own_threads.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/memory_region.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::object {
namespace {

// One for the life of the process, as its thread.
class Publisher {
 public:
  // Throws std::system_error, std::bad_alloc.
  Publisher();

  void enter() {
    adapters_.fetch_add(1, std::memory_order_seq_cst);
    news_.notify();
  }
  // A last snapshot then shows that nothing is open.
  void leave() {
    [[maybe_unused]] const std::uint32_t adapters = adapters_.fetch_sub(1, std::memory_order_seq_cst);
    SOFTDAT_DEBUG_CHECK(adapters > 0, "an IA that leaves has entered");
    news_.notify();
  }
  void keep(const base::EndpointSums& sums);

 private:
  void run();
  bool publish();
  void add(Object& object);
  void add_endpoint(Endpoint& ep);
  void add_process();

  std::atomic<std::uint32_t> adapters_{0};
  base::EventCount news_;
  base::Mutex<locks::kPublisher> mutex_;
  base::EndpointSums freed_{};  // guarded by mutex_
  // Used by the publisher's thread alone.
  base::CounterFile file_;
  base::EndpointSums live_{};   // of the endpoints in the present snapshot
  base::EndpointSums shown_{};  // of the process, in the last snapshot
  bool is_failure_told_ = false;
};

// A child made by fork() begins anew: it has no thread, and the file is its parent's.
constinit std::atomic<Publisher*> g_publisher{nullptr};
constinit base::Mutex<locks::kPublisherCreation> g_creation;  // held while one is made

// Another thread of the parent may have held the lock.
void forget_in_child() {
  g_publisher.store(nullptr, std::memory_order_relaxed);
  new (&g_creation) base::Mutex<locks::kPublisherCreation>;
}

[[gnu::constructor]] void forget_publisher_in_children() {
  base::on_fork({.in_child = forget_in_child});
}

Publisher& publisher() {
  const std::lock_guard lock(g_creation);
  Publisher* existing = g_publisher.load(std::memory_order_acquire);
  if (existing == nullptr) {
    existing = new Publisher;
    g_publisher.store(existing, std::memory_order_release);
  }
  return *existing;
}

std::uint64_t ns_of(base::Duration duration) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(duration).count());
}

// Number by number.
template <typename Operation>
base::EndpointSums combine(const base::EndpointSums& a, const base::EndpointSums& b, Operation operation) {
  using Words = std::array<std::uint64_t, sizeof(base::EndpointSums) / sizeof(std::uint64_t)>;
  auto words = std::bit_cast<Words>(a);
  const auto more = std::bit_cast<Words>(b);
  std::transform(words.begin(), words.end(), more.begin(), words.begin(), operation);
  return std::bit_cast<base::EndpointSums>(words);
}

void warn(const char* cause) {
  base::log(base::LogLevel::kWarning, "the counters of this process are not shown: %s", cause);
}

Publisher::Publisher() {
  // Never joined: it goes with the process.
  base::start_own_thread([this] { run(); }).detach();
}

void Publisher::keep(const base::EndpointSums& sums) {
  const std::lock_guard lock(mutex_);
  // Endpoints that end add here what they have counted, so that the sums of the process never fall.
  freed_ = combine(freed_, sums, std::plus<>());
}

void Publisher::run() {
  for (;;) {
    // First, so a notify() after the looks below ends the wait.
    const auto ticket = news_.prepare();
    const bool is_open = adapters_.load(std::memory_order_seq_cst) != 0;
    const bool is_shown = publish();
    const base::Time next = base::deadline_after(base::Clock::now(), kPublishPeriod);
    // Without an IA, or without a file, the thread sleeps until an IA opens or closes.
    news_.wait(ticket, is_open && is_shown ? next : base::kNever);
  }
}

// False: there is no file, until another IA is opened.
bool Publisher::publish() try {
  base::require_no_lock();  // objects take theirs while they tell their counters
  // A program may have closed the descriptor, or given its number to another file.
  if (!file_.is_intact() && !file_.open()) {
    if (!is_failure_told_) warn(std::strerror(errno));
    is_failure_told_ = true;
    return false;
  }
  file_.begin();
  live_ = {};
  HandleTable::instance().for_each_live([this](Object& object, const void*) { add(object); });
  add_process();
  file_.publish(ns_of(base::Clock::now().time_since_epoch()), ns_of(kPublishPeriod));
  return true;
} catch (const std::bad_alloc&) {
  return true;  // the next one may have memory
}

void Publisher::add(Object& object) {
  switch (object.kind()) {
    case Kind::kIa:
      return file_.add(base::RecordKind::kIa, static_cast<InterfaceAdapter&>(object).counters_now());
    case Kind::kEp:
      return add_endpoint(static_cast<Endpoint&>(object));
    case Kind::kEvd:
      return file_.add(base::RecordKind::kEvd, static_cast<EventDispatcher&>(object).counters_now());
    case Kind::kSrq:
      return file_.add(base::RecordKind::kSrq, static_cast<SharedReceiveQueue&>(object).counters_now());
    case Kind::kLmr: {
      const MemoryRegionParameters& region = static_cast<MemoryRegion&>(object).query();
      return file_.add(base::RecordKind::kLmr, base::LmrRecord{.id = reinterpret_cast<std::uintptr_t>(object.handle()),
                                                               .ia = reinterpret_cast<std::uintptr_t>(region.ia),
                                                               .bytes = region.registered_size,
                                                               .privileges = region.privileges,
                                                               .unused = 0});
    }
    default:
      return;
  }
}

void Publisher::add_endpoint(Endpoint& ep) {
  const base::EpRecord record = ep.counters().record(ep.query());
  live_ = combine(live_, record.sums, std::plus<>());
  file_.add(base::RecordKind::kEp, record);
  for (const EndpointWords::KeptFailure& failure : ep.words().last_failures()) {
    base::FailureRecord kept{.ep = record.id, .when_ns = ns_of(failure.when.time_since_epoch()), .text = {}};
    base::set_text(kept.text, failure.sentence);
    file_.add(base::RecordKind::kFailure, kept);
  }
}

// An endpoint that is just being freed is in neither sum. What was shown stays, because counters never go back.
void Publisher::add_process() {
  const auto greater = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
  {
    const std::lock_guard lock(mutex_);
    shown_ = combine(shown_, combine(live_, freed_, std::plus<>()), greater);
  }
  file_.add(base::RecordKind::kProcess, base::ProcessRecord{.sums = shown_});
}

}  // namespace

bool are_counters_shown() {
  static constinit base::FoundOnce<bool> is_on;
  return is_on.get([] { return base::environment(base::Variable::kCounters) == "on"; });
}

// Called when an endpoint ends. A publisher that does not exist has shown nothing of it.
void keep_sums(const base::EndpointSums& sums) {
  if (Publisher* const known = g_publisher.load(std::memory_order_acquire)) known->keep(sums);
}

ShownAdapter::ShownAdapter() try {
  publisher().enter();
  is_entered_ = true;
} catch (const std::system_error& error) {
  warn(error.what());
} catch (const std::bad_alloc&) {
  warn("there is no memory");
}

// In a child made by fork() there is no publisher: the adapter was the parent's.
ShownAdapter::~ShownAdapter() {
  Publisher* const known = g_publisher.load(std::memory_order_acquire);
  if (is_entered_ && known != nullptr) known->leave();
}

}  // namespace softdat::object
