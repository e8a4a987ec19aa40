// SPDX-License-Identifier: BSD-2-Clause
#include "transport/reactor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <ctime>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/event_count.h"
#include "base/guarded.h"
#include "base/handler_room.h"
#include "base/lock_order.h"
#include "base/standard_numbers.h"
#include "base/uncancelled.h"
#include "base/unique_fd.h"
#include "transport/epoll_descriptors.h"
#include "transport/lock_places.h"

namespace softdat::transport {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

// Between two looks at whether our descriptors are still ours.
constexpr base::Duration kLongestSleep = std::chrono::seconds(2);
constexpr std::uint32_t kLooksPerCheck = 1024;

// A descriptor whose only use is that its file has an inode of its own. Asio's own descriptors (epoll, eventfd,
// timerfd) have none, so they cannot be told from files of the consumer that got their numbers.
class Canary {
 public:
  bool is_alive() const { return !fd_ || fd_.is_intact(); }
  const base::UniqueFd& fd() const { return fd_; }

 private:
  base::UniqueFd fd_ = base::open_witness("softdat-reactor");
};

// The part of a watch that handlers refer to. Outlives the watch while one of its handlers is queued.
struct Record {
  explicit Record(ReadinessSink& told) : sink(&told) {}
  ReadinessSink* sink;            // owned by the baton; null once the watch has gone
  std::uint32_t outstanding = 0;  // owned by the baton: asked for and not yet told
  base::HandlerRoom read_room;
  base::HandlerRoom write_room;
};
using SharedRecord = std::shared_ptr<Record>;

struct Mark {
  SharedRecord record;
  std::uint32_t readiness;
};

struct Inbox {
  std::vector<Mark> marks;  // has room for all that can come
  bool is_interrupted = false;
  bool is_waiting = false;  // a thread is inside wait() or wait_cancellably(), or has announced it
  bool is_polling = false;  // it is inside the latter
};

// An object of Asio's whose descriptor numbers now belong to the program. It is never destroyed, because Asio closes by
// number.
struct Abandonable {
  virtual ~Abandonable() = default;
  Abandonable* next = nullptr;
};

// Keeps the object reachable for good, so that leak checkers take it for intended.
void abandon(std::unique_ptr<Abandonable> object) {
  static constinit std::atomic<Abandonable*> first{nullptr};
  object->next = first.load(std::memory_order_relaxed);
  while (!first.compare_exchange_weak(object->next, object.get(), std::memory_order_release)) continue;
  static_cast<void>(object.release());
}

// Handlers run in whichever thread looks at the kernel, with or without the baton; so they only
// leave a mark. dispatch(), which has the baton, tells the sinks.
class AsioReactor final : public Reactor {
 public:
  AsioReactor() = default;
  // Asio closes its descriptors by number, so it is left as it is once these numbers are the consumer's.
  ~AsioReactor() override {
    closed_in_child_.forget();
    base::check(watches_ == 0, "a watch ends before its reactor", watches_);
    if (!is_failing()) return;
    abandon(std::move(asio_));
    static_cast<void>(nudge_.release());
  }
  std::unique_ptr<Watch> watch(int fd, ReadinessSink& sink) override;
  std::size_t dispatch(bool look) override;
  void prepare_wait() override { inbox_.lock()->is_waiting = true; }
  void wait(base::Time deadline) override;
  base::WakeReason wait_cancellably(base::Time deadline) override;
  bool can_wait_cancellably() const override { return epoll_set_ >= 0 && nudge_ && !has_failed(); }
  void interrupt() override;
  bool has_failed() const override { return has_failed_.load(std::memory_order_acquire); }

 private:
  friend class AsioWatch;
  void make_room_for_marks(std::size_t watches);
  bool is_failing();
  class PollingWait;
  void rest(base::Time deadline);
  base::WakeReason poll_once(base::Time deadline);
  void run_handlers();
  void end_wait();
  bool take_marks();
  void interrupt_waiter();
  bool is_told();
  void wake_waiter();
  void nudge();
  void take_nudge();

  // Fixed after construction; Asio's own locks make them safe for several threads. `first` has Asio open its
  // descriptors now, where their lack can be answered, and not at the first watch.
  base::HandlerRoom nudge_room_;
  struct Asio final : Abandonable {
    asio::io_context context{};
    const Descriptor first{context};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  };
  static std::unique_ptr<Asio> open_asio() {
    const base::StandardNumbersTaken taken;
    return std::make_unique<Asio>();
  }
  static std::vector<int> find_descriptors(asio::io_context& context);
  std::unique_ptr<Asio> asio_ = open_asio();
  asio::io_context& context_ = asio_->context;
  const Canary canary_{};
  const std::vector<int> descriptors_ = find_descriptors(context_);
  const int epoll_set_ = descriptors_.empty() ? -1 : descriptors_.back();
  // A child of fork() needs them as little as our own, and does not harm the parent by closing them: the epoll set and
  // what it watches go with their last descriptor only.
  base::ClosedInChild closed_in_child_{canary_.fd(), descriptors_};
  base::UniqueFd nudge_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // ends wait_cancellably()
  base::Guarded<Inbox, locks::kInbox> inbox_;
  // Set for good by the thread that finds out.
  std::atomic<bool> has_failed_{false};
  // A wait has left news of the kernel, or handlers, to the next dispatch(). Another dispatch() may have seen to them.
  std::atomic<bool> is_kernel_unheard_{false};
  base::EventCount rest_;  // where wait() sleeps when Asio cannot

  // Owned by the baton: the marks being told; kept for its memory.
  std::vector<Mark> marks_;
  std::uint32_t looks_ = 0;
  std::size_t watches_ = 0;
};

// Asio has no call that names its descriptors. The epoll set that watches a descriptor of ours leads to them.
std::vector<int> AsioReactor::find_descriptors(asio::io_context& context) {
  const base::Uncancelled guard;
  const base::StandardNumbersTaken taken;
  const base::UniqueFd own(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!own) return {};
  Descriptor watched(context);
  boost::system::error_code error;
  watched.assign(own.get(), error);
  if (error) return {};
  std::vector<int> numbers = find_epoll_descriptors(own.get());
  watched.release();
  return numbers;
}

class AsioWatch final : public Reactor::Watch {
  struct Watched final : Abandonable {
    explicit Watched(asio::io_context& context) : descriptor(context) {}
    Descriptor descriptor;
  };

 public:
  AsioWatch(AsioReactor& reactor, ReadinessSink& sink)
      : reactor_(reactor),
        watched_(std::make_unique<Watched>(reactor.context_)),
        record_(std::make_shared<Record>(sink)) {
    reactor_.make_room_for_marks(reactor_.watches_ + 1);
    ++reactor_.watches_;
  }
  ~AsioWatch() override {
    --reactor_.watches_;
    record_->sink = nullptr;
    if (reactor_.is_failing()) {
      abandon(std::move(watched_));
    } else if (watched_->descriptor.is_open()) {
      watched_->descriptor.release();
    }
  }

  bool assign(int fd) {
    boost::system::error_code error;
    watched_->descriptor.assign(fd, error);
    return !error;
  }

  void want(std::uint32_t readiness) override {
    // One wait of each kind at a time: its handler has one room, and its mark one place (make_room_for_marks).
    const std::uint32_t fresh = readiness & ~record_->outstanding;
    record_->outstanding |= fresh;
    if ((fresh & kReadable) != 0) start(Descriptor::wait_read, kReadable, record_->read_room);
    if ((fresh & kWritable) != 0) start(Descriptor::wait_write, kWritable, record_->write_room);
  }

 private:
  void start(Descriptor::wait_type what, std::uint32_t readiness, base::HandlerRoom& room) {
    auto leave_mark = [&reactor = reactor_, record = record_, readiness](boost::system::error_code error) mutable {
      // Never allocates: make_room_for_marks() has reserved the place.
      if (!error) reactor.inbox_.lock()->marks.push_back({std::move(record), readiness});
    };
    watched_->descriptor.async_wait(what, base::InRoom(room, std::move(leave_mark)));
  }

  AsioReactor& reactor_;
  std::unique_ptr<Watched> watched_;
  const SharedRecord record_;
};

// Each watch can have a mark of each kind, and one that has been told of since.
void AsioReactor::make_room_for_marks(std::size_t watches) {
  const std::size_t most = 4 * watches;
  if (marks_.capacity() < most) marks_.reserve(2 * most);  // dispatch() looks them up by number
  auto inbox = inbox_.lock();
  if (inbox->marks.capacity() < most) inbox->marks.reserve(2 * most);
}

std::unique_ptr<Reactor::Watch> AsioReactor::watch(int fd, ReadinessSink& sink) {
  if (has_failed()) return nullptr;
  auto watch = std::make_unique<AsioWatch>(*this, sink);
  // epoll refuses the descriptor for want of kernel memory or watches (fs.epoll.max_user_watches).
  if (!watch->assign(fd)) return nullptr;
  return watch;
}

// True if a waiter has been interrupted and has not returned yet.
bool AsioReactor::take_marks() {
  marks_.clear();
  auto inbox = inbox_.lock();
  marks_.swap(inbox->marks);
  return inbox->is_waiting && inbox->is_interrupted;
}

// REQUIRES: all sinks have been told. The waiter would have woken for what they were told, and must arm its links
// again: a peer rings once for a sleeper, and a sink may have made a link (tests/models/taken_bell.pml).
void AsioReactor::interrupt_waiter() {
  const bool is_there = inbox_.lock()->is_waiting;
  if (is_there) interrupt();
}

std::size_t AsioReactor::dispatch(bool look) {
  const base::Uncancelled guard;
  if (is_kernel_unheard_.load(std::memory_order_relaxed))
    look |= is_kernel_unheard_.exchange(false, std::memory_order_relaxed);
  // A program that closes all descriptors, as daemons do, closes Asio's too, and no event tells of it. So look now and
  // then.
  if (look && ++looks_ % kLooksPerCheck == 0) static_cast<void>(is_failing());
  if (look) context_.poll();
  // poll() may just have run the handler that was to wake the waiter.
  if (take_marks() && look) wake_waiter();
  std::size_t told = 0;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    // By number, because a sink may begin a watch, which can make marks_ grow.
    const Mark mark = std::move(marks_[i]);
    SOFTDAT_DEBUG_CHECK((mark.record->outstanding & mark.readiness) == mark.readiness,
                        "a sink is told what it asked for", mark.record->outstanding, mark.readiness);
    mark.record->outstanding &= ~mark.readiness;
    // An earlier sink of this very loop may have ended the watch.
    if (mark.record->sink == nullptr) continue;
    mark.record->sink->on_ready(mark.readiness);
    ++told;
  }
  if (told > 0) interrupt_waiter();
  return told;
}

bool AsioReactor::is_told() {
  auto inbox = inbox_.lock();
  return inbox->is_interrupted || !inbox->marks.empty();
}

bool AsioReactor::is_failing() {
  if (has_failed()) return true;
  if (canary_.is_alive()) return false;
  has_failed_.store(true, std::memory_order_release);
  return true;
}

void AsioReactor::rest(base::Time deadline) {
  const auto ticket = rest_.prepare();
  if (is_told()) {
    rest_.cancel();
  } else {
    rest_.wait(ticket, deadline);
  }
}

// Asio spins on a descriptor that is not its own any more, so it is not called then.
void AsioReactor::wait(base::Time deadline) {
  prepare_wait();
  const bool had_failed = has_failed();
  while (!is_told()) {
    const base::Time now = base::Clock::now();
    if (now >= deadline) break;
    if (is_failing()) {
      // First return to the caller, so that it learns of the failure and ends its connections; sleep only at later
      // calls.
      if (had_failed) rest(deadline);
      break;
    }
    context_.run_one_until(std::min(deadline, now + kLongestSleep));
  }
  // The wait has run at most one of the handlers that were due, and none if it did not sleep.
  is_kernel_unheard_.store(true, std::memory_order_relaxed);
  end_wait();
}

void AsioReactor::end_wait() {
  auto inbox = inbox_.lock();
  inbox->is_waiting = inbox->is_polling = inbox->is_interrupted = false;
}

// The destructor ends the wait, because a thread that is cancelled in it is unwound.
class AsioReactor::PollingWait {
 public:
  explicit PollingWait(AsioReactor& reactor) : reactor_(reactor) {
    auto inbox = reactor_.inbox_.lock();
    inbox->is_waiting = inbox->is_polling = true;
    reactor_.is_kernel_unheard_.store(false, std::memory_order_relaxed);
  }
  ~PollingWait() { reactor_.end_wait(); }
  PollingWait(const PollingWait&) = delete;
  PollingWait& operator=(const PollingWait&) = delete;

 private:
  AsioReactor& reactor_;
};

// Asio's own wait is no cancellation point, and goes on after a signal. So this thread polls the epoll set. The
// handlers are left to dispatch(): the caller may have more urgent things to do.
base::WakeReason AsioReactor::wait_cancellably(base::Time deadline) {
  const PollingWait wait(*this);
  deadline = std::min(deadline, base::deadline_after(base::Clock::now(), kLongestSleep));
  base::WakeReason reason = base::WakeReason::kNotified;
  // wait() may have left handlers in Asio's queue. The epoll set does not report their descriptors again.
  run_handlers();
  const auto is_over = [this] {
    return is_told() || is_kernel_unheard_.load(std::memory_order_relaxed) || is_failing();
  };
  while (reason == base::WakeReason::kNotified && !is_over()) {
    reason = base::Clock::now() < deadline ? poll_once(deadline) : base::WakeReason::kTimedOut;
  }
  return reason;
}

// kNotified: look again.
base::WakeReason AsioReactor::poll_once(base::Time deadline) {
  const base::Duration left = std::max(deadline - base::Clock::now(), base::Duration::zero());
  const auto nanoseconds = std::chrono::nanoseconds(left).count();
  constexpr auto kSecond = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
  const timespec time_limit = {.tv_sec = nanoseconds / kSecond, .tv_nsec = nanoseconds % kSecond};
  std::array<pollfd, 2> entries{
      {{.fd = epoll_set_, .events = POLLIN, .revents = 0}, {.fd = nudge_.get(), .events = POLLIN, .revents = 0}}};
  base::require_no_lock();
  const int ready = ::ppoll(entries.data(), entries.size(), &time_limit, nullptr);
  if (ready < 0 && errno == EINTR) return base::WakeReason::kInterrupted;
  if (ready <= 0) return base::WakeReason::kNotified;
  if (entries[1].revents != 0) take_nudge();
  if (entries[0].revents != 0) is_kernel_unheard_.store(true, std::memory_order_relaxed);
  return base::WakeReason::kNotified;
}

void AsioReactor::run_handlers() {
  const base::Uncancelled guard;
  context_.poll();
}

// The posted handler wakes the waiter by being run. If its room is taken, another such handler is still to run, and
// wakes the waiter. At worst the waiter returns after kLongestSleep.
void AsioReactor::wake_waiter() try {
  const base::Uncancelled guard;
  asio::post(context_, base::InRoom(nudge_room_, [] {}));
} catch (const std::bad_alloc&) {
  return;
}

void AsioReactor::take_nudge() {
  const base::Uncancelled guard;
  eventfd_t count = 0;
  if (canary_.is_alive()) static_cast<void>(::eventfd_read(nudge_.get(), &count));
}

// The eventfd has no inode of its own. Its number is ours as long as the canary's is.
void AsioReactor::nudge() {
  const base::Uncancelled guard;
  if (canary_.is_alive()) static_cast<void>(::eventfd_write(nudge_.get(), 1));
}

void AsioReactor::interrupt() {
  bool is_new = false;
  bool is_polling = false;
  {
    // Kept until wait() returns, so an interrupt before the wait is not lost.
    auto inbox = inbox_.lock();
    is_new = !std::exchange(inbox->is_interrupted, true);
    is_polling = inbox->is_polling;
  }
  if (is_new) is_polling ? nudge() : wake_waiter();
  if (has_failed()) rest_.notify();
}

}  // namespace

std::unique_ptr<Reactor> Reactor::create() try {
  return std::make_unique<AsioReactor>();
} catch (const boost::system::system_error& error) {
  throw std::system_error(error.code().value(), std::system_category(), "no reactor");
}

}  // namespace softdat::transport
