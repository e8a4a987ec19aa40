// SPDX-License-Identifier: BSD-2-Clause
// Memory into which the kernel stores by itself: by a ring of io_uring, and as frames of signals on an alternate stack.
// Registering it loses nothing and ends nobody.
#include <linux/io_uring.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "memory/arena.h"
#include "tests/base/holds_in_child.h"
#include "tests/memory/humble_arena.h"
#include "tests/memory/pages.h"

namespace softdat::memory::testing {
namespace {

using base::testing::holds_in_child;

// A ring of io_uring, one operation at a time.
class Ring {
 public:
  Ring() : fd_(static_cast<int>(::syscall(SYS_io_uring_setup, 4, &parameters_))) {
    if (!fd_) return;
    rings_ = map(parameters_.cq_off.cqes + parameters_.cq_entries * sizeof(io_uring_cqe), IORING_OFF_SQ_RING);
    entries_ = map(parameters_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
  }
  ~Ring() {
    if (is_open()) ::munmap(rings_, parameters_.cq_off.cqes + parameters_.cq_entries * sizeof(io_uring_cqe));
    if (is_open()) ::munmap(entries_, parameters_.sq_entries * sizeof(io_uring_sqe));
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  bool is_open() const { return fd_ && rings_ != MAP_FAILED && entries_ != MAP_FAILED; }
  // The kernel pins these pages.
  bool pin(std::byte* data, std::size_t length) {
    const iovec buffer{data, length};
    return ::syscall(SYS_io_uring_register, fd_.get(), IORING_REGISTER_BUFFERS, &buffer, 1) == 0;
  }
  void start_read(int file, std::byte* into, std::size_t length, std::uint8_t opcode = IORING_OP_READ) {
    auto& entry = *static_cast<io_uring_sqe*>(entries_);
    entry = {};
    entry.opcode = opcode;
    entry.fd = file;
    entry.addr = reinterpret_cast<std::uint64_t>(into);
    entry.len = static_cast<std::uint32_t>(length);
    *word(parameters_.sq_off.array) = 0;
    std::atomic_ref(*word(parameters_.sq_off.tail)).fetch_add(1, std::memory_order_release);
    submitted_ = ::syscall(SYS_io_uring_enter, fd_.get(), 1, 0, 0, nullptr, 0);
  }
  // What the operation answered.
  int await() {
    if (submitted_ != 1) return -1;
    const std::uint32_t head = *word(parameters_.cq_off.head);
    while (std::atomic_ref(*word(parameters_.cq_off.tail)).load(std::memory_order_acquire) == head) {
      ::syscall(SYS_io_uring_enter, fd_.get(), 0, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
    }
    auto* const answers = reinterpret_cast<io_uring_cqe*>(static_cast<std::byte*>(rings_) + parameters_.cq_off.cqes);
    const int answer = answers[head % parameters_.cq_entries].res;
    std::atomic_ref(*word(parameters_.cq_off.head)).store(head + 1, std::memory_order_release);
    return answer;
  }

 private:
  void* map(std::size_t length, std::uint64_t offset) const {
    return ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_.get(),
                  static_cast<off_t>(offset));
  }
  std::uint32_t* word(std::size_t offset) const {
    return reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(rings_) + offset);
  }

  io_uring_params parameters_{};
  base::UniqueFd fd_;
  void* rings_ = MAP_FAILED;
  void* entries_ = MAP_FAILED;
  long submitted_ = 0;
};

// Bytes that wait to be read.
class Source {
 public:
  Source() {
    if (::pipe(ends_) != 0) std::abort();
  }
  ~Source() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  int file() const { return ends_[0]; }
  void put(char byte, std::size_t count) const {
    const std::string bytes(count, byte);
    ASSERT_EQ(::write(ends_[1], bytes.data(), count), static_cast<ssize_t>(count));
  }

 private:
  int ends_[2];
};

class KernelStores : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_supported()) GTEST_SKIP() << "no userfaultfd here";
    arena_ = Arena::create();
    ASSERT_NE(arena_, nullptr);
  }
  static bool is_all(const std::byte* data, std::size_t length, char value) {
    return std::all_of(data, data + length, [value](std::byte byte) { return byte == static_cast<std::byte>(value); });
  }

  std::unique_ptr<Arena> arena_;
};

TEST_F(KernelStores, ByARingThatIsUnderWayAreNotLost) {
  const Pages pages(4);
  Ring ring;
  if (!ring.is_open()) GTEST_SKIP() << "no io_uring here";
  const Source source;
  ring.start_read(source.file(), pages.data(), 1000);
  Refusal refusal = Refusal::kNotMovable;
  EXPECT_FALSE(arena_->share(pages.address(), pages.size(), MoveWhen::kHarmless, &refusal).has_value());
  EXPECT_EQ(refusal, Refusal::kOthersAtWork);
  source.put('a', 1000);
  EXPECT_EQ(ring.await(), 1000);
  EXPECT_TRUE(is_all(pages.data(), 1000, 'a'));
}

TEST_F(KernelStores, ByARingIntoPinnedPagesAreNotLost) {
  const Pages pages(4);
  Ring ring;
  if (!ring.is_open()) GTEST_SKIP() << "no io_uring here";
  if (!ring.pin(pages.data(), pages.size())) GTEST_SKIP() << "no pages may be pinned here";
  EXPECT_FALSE(arena_->share(pages.address(), pages.size(), MoveWhen::kHarmless).has_value());
  const Source source;
  source.put('b', 1000);
  ring.start_read(source.file(), pages.data(), 1000, IORING_OP_READ_FIXED);
  EXPECT_EQ(ring.await(), 1000);
  EXPECT_TRUE(is_all(pages.data(), 1000, 'b'));
}

// A ring that is made after the registration pins the file's pages, which peers see too.
TEST_F(KernelStores, ByARingThatCameLaterAreSeenHereAndByPeers) {
  const Pages pages(4);
  const auto offset = arena_->share(pages.address(), pages.size(), MoveWhen::kAlways);
  ASSERT_TRUE(offset.has_value());
  Ring ring;
  if (!ring.is_open()) GTEST_SKIP() << "no io_uring here";
  const Source source;
  std::byte there[1000];
  const auto expect_read = [&](char value, std::uint8_t opcode) {
    source.put(value, sizeof there);
    ring.start_read(source.file(), pages.data(), sizeof there, opcode);
    EXPECT_EQ(ring.await(), static_cast<int>(sizeof there));
    EXPECT_TRUE(is_all(pages.data(), sizeof there, value));
    EXPECT_EQ(::pread(arena_->file(), there, sizeof there, static_cast<off_t>(*offset)),
              static_cast<ssize_t>(sizeof there));
    EXPECT_TRUE(is_all(there, sizeof there, value));
  };
  expect_read('c', IORING_OP_READ);
  if (ring.pin(pages.data(), pages.size())) expect_read('d', IORING_OP_READ_FIXED);
}

std::atomic<std::uint64_t> signals_handled{0};

void count_signal(int) {
  signals_handled.fetch_add(1);
}

// A handler of SIGUSR1 while it lives.
class Handler {
 public:
  explicit Handler(int flags) {
    struct sigaction action = {};
    action.sa_handler = count_signal;
    action.sa_flags = flags | SA_RESTART;
    ::sigaction(SIGUSR1, &action, &before_);
  }
  ~Handler() { ::sigaction(SIGUSR1, &before_, nullptr); }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  struct sigaction before_ = {};
};

// A thread with an alternate stack in those pages, which sends itself signals all the time, or sleeps.
class Signalled {
 public:
  enum class Life { kSignals, kSleep };
  explicit Signalled(const Pages& pages, Life life) {
    thread_ = std::thread([this, &pages, life] {
      const stack_t stack{.ss_sp = pages.data(), .ss_flags = 0, .ss_size = pages.size()};
      ::sigaltstack(&stack, nullptr);
      has_begun_.store(true);
      if (life == Life::kSleep) may_end_.wait(false);
      while (!may_end_.load()) ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), SIGUSR1);
      const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
      ::sigaltstack(&none, nullptr);
    });
    while (!has_begun_.load()) std::this_thread::yield();
  }
  ~Signalled() {
    may_end_.store(true);
    may_end_.notify_all();
    thread_.join();
  }
  Signalled(const Signalled&) = delete;
  Signalled& operator=(const Signalled&) = delete;

  void await_more() const {
    for (const std::uint64_t before = signals_handled.load(); signals_handled.load() == before;) {
      std::this_thread::yield();
    }
  }

 private:
  std::atomic<bool> has_begun_{false};
  std::atomic<bool> may_end_{false};
  std::thread thread_;
};

constexpr std::size_t kStackPages = 16;
constexpr int kRounds = 30;

TEST_F(KernelStores, OfSignalsOnAnAlternateStackWaitWhereSystemCallsDo) {
  PageMover mover;
  if (!mover.is_able() || !mover.holds_system_calls()) GTEST_SKIP() << "system calls do not wait here";
  const Handler handler(SA_ONSTACK);
  const Pages pages(kStackPages);
  const Signalled thread(pages, Signalled::Life::kSignals);
  for (int round = 0; round < kRounds; ++round) {
    thread.await_more();
    // Refused when the thread is seen on that stack.
    static_cast<void>(arena_->share(pages.address(), pages.size(), MoveWhen::kHarmless));
    thread.await_more();
  }
}

// Where they do not wait, a frame that met a page which stands still would end the process.
TEST_F(KernelStores, OfSignalsOnAlternateStacksKeepMemoryWhereItIsWhereSystemCallsDoNotWait) {
  EXPECT_TRUE(holds_in_child([] {
    const auto arena = make_humble_arena();
    const Pages pages(kStackPages);
    const Signalled thread(pages, Signalled::Life::kSleep);
    {
      const Handler handler(SA_ONSTACK);
      Refusal refusal = Refusal::kNotMovable;
      if (arena->share(pages.address(), pages.size(), MoveWhen::kAlways, &refusal)) return false;
      if (refusal != Refusal::kThreadMemory) return false;
    }
    const Handler handler(0);  // its frames lie on the thread's own stack
    return arena->share(pages.address(), pages.size(), MoveWhen::kAlways).has_value();
  }));
}

}  // namespace
}  // namespace softdat::memory::testing
