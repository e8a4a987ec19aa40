// SPDX-License-Identifier: BSD-2-Clause
#include "memory/other_threads.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/backoff.h"
#include "base/made_once.h"
#include "base/ordered_copy.h"
#include "base/unique_fd.h"
#include "memory/thread_memory.h"

namespace softdat::memory {
namespace {

constexpr std::uint64_t kPage = 4096;
// Known to newer headers only.
constexpr long kFutexWaitVector = 449;
constexpr long kFutexWait = 455;
constexpr int kLockPi2 = 13;

enum class Text : std::uint8_t { kRead, kGone, kRefused };

// Reads a file of /proc about one of our threads, as far as it fits.
Text read_of_thread(int thread, const char* name, std::array<char, 512>& buffer, std::string_view& text) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/%s", thread, name);
  const base::UniqueFd file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno == ENOENT ? Text::kGone : Text::kRefused;
  const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
  if (got <= 0) return errno == ESRCH ? Text::kGone : Text::kRefused;
  text = {buffer.data(), static_cast<std::size_t>(got)};
  return Text::kRead;
}

// A field of the thread's "stat" behind its name, which counts as field 2: proc_pid_stat(5).
std::optional<std::uint64_t> field_of_stat(std::string_view stat, int field) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(name_end);
  for (int at = 2; at < field; ++at) {
    const std::size_t space = stat.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    stat.remove_prefix(space + 1);
  }
  std::uint64_t value = 0;
  if (std::from_chars(stat.data(), stat.data() + stat.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

enum class Age : std::uint8_t { kAlive, kEnding, kEnded };

// A thread that ends gives its address space up, and the size of it is 0 then, before it becomes a zombie, which may
// take it long where it has no processor. Until then the kernel may still store into its control block.
Age age_of(int thread) {
  constexpr int kFlags = 9;
  constexpr int kSize = 23;
  constexpr std::uint64_t kExiting = 4;  // PF_EXITING
  std::array<char, 512> buffer;
  std::string_view text;
  const Text answer = read_of_thread(thread, "stat", buffer, text);
  if (answer != Text::kRead) return answer == Text::kGone ? Age::kEnded : Age::kAlive;
  if (field_of_stat(text, kSize) == std::uint64_t{0}) return Age::kEnded;
  return (field_of_stat(text, kFlags).value_or(0) & kExiting) != 0 ? Age::kEnding : Age::kAlive;
}

// Where the kernel is to look for the thread's robust mutexes: a part of its control block. 0: nothing known.
std::uint64_t robust_list_of(int thread) {
  std::uint64_t head = 0;
  std::size_t length = 0;
  return ::syscall(SYS_get_robust_list, thread, &head, &length) == 0 ? head : 0;
}

// From a control block to that part of it; the same in every thread.
std::uint64_t robust_list_distance() {
  return robust_list_of(0) - static_cast<std::uint64_t>(::pthread_self());
}

// How often a processor has taken the thread up: the third number of its "schedstat". Nothing: unknown.
std::optional<std::uint64_t> runs_of(int thread) {
  std::array<char, 512> buffer;
  std::string_view text;
  if (read_of_thread(thread, "schedstat", buffer, text) != Text::kRead) return std::nullopt;
  const std::size_t before = text.rfind(' ');
  std::uint64_t runs = 0;
  if (before == std::string_view::npos) return std::nullopt;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data() + before + 1, end, runs).ec != std::errc()) return std::nullopt;
  return runs;
}

// A kernel that does not count says 0 of every thread, of the calling one too.
bool is_new(int thread) {
  const auto own = static_cast<int>(::syscall(SYS_gettid));
  return runs_of(thread).value_or(1) == 0 && runs_of(own).value_or(0) > 0;
}

// A thread of the C library's tells of it in its first instructions.
std::uint64_t await_robust_list(int thread) {
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    if (const std::uint64_t head = robust_list_of(thread)) return head;
    if (is_new(thread) || age_of(thread) != Age::kAlive) return 0;
    base::nap();
  }
  return 0;
}

// From a control block to where the kernel notes the processor; may lie before it. 0: within, or not known.
std::int64_t processor_note_distance() {
  static constinit base::FoundOnce<std::int64_t> distance;
  return distance.get([] {
    const void* const found = ::dlsym(RTLD_DEFAULT, "__rseq_offset");
    return found == nullptr ? std::int64_t{0} : std::int64_t{*static_cast<const std::ptrdiff_t*>(found)};
  });
}

bool is_private(std::uint64_t operation) {
  return (operation & FUTEX_PRIVATE_FLAG) != 0;
}

struct Waiter {
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};

// `note` is called with the futexes of a vector of waits.
template <typename Note>
void note_vector(std::uint64_t waiters, std::uint64_t count, const Note& note) {
  constexpr std::uint64_t kMost = 128;
  for (std::uint64_t i = 0; i < std::min(count, kMost); ++i) {
    Waiter waiter;
    const auto* const from = reinterpret_cast<const std::byte*>(waiters + i * sizeof waiter);
    // The list is the other thread's memory, which it may unmap meanwhile.
    if (!base::copy_in(reinterpret_cast<std::byte*>(&waiter), from, sizeof waiter)) return;
    if (!is_private(waiter.flags)) note(waiter.address);
  }
}

// A wait that a signal interrupted goes on as restart_syscall, with the arguments that it had.
template <typename Note>
void note_call(const std::uint64_t (&call)[7], const Note& note) {
  const auto number = static_cast<long>(call[0]);
  if (number == kFutexWaitVector) return note_vector(call[1], call[2], note);
  if (number == kFutexWait && !is_private(call[4])) return note(call[1]);
  if ((number != SYS_futex && number != SYS_restart_syscall) || is_private(call[2])) return;
  const int operation = static_cast<int>(call[2]) & FUTEX_CMD_MASK;
  constexpr int kWaits[] = {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, kLockPi2, FUTEX_WAIT_REQUEUE_PI};
  if (std::ranges::find(kWaits, operation) == std::end(kWaits)) return;
  note(call[1]);
  // Its sleeper may have been requeued to the second futex.
  if (operation == FUTEX_WAIT_REQUEUE_PI) note(call[5]);
}

// "running", or the number of the system call, its six arguments, the stack pointer and the place. `note` is called
// with each futex that is not private and that the thread sleeps on. False if the thread cannot be read.
template <typename Note>
bool read_sleep(int thread, std::uint64_t& stack, const Note& note) {
  std::array<char, 512> buffer;
  std::string_view text;
  if (read_of_thread(thread, "syscall", buffer, text) != Text::kRead) return false;
  if (text.starts_with("running")) return true;
  long number = 0;
  std::array<std::uint64_t, 8> values{};
  std::size_t count = 0;
  const char* const end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, number).ptr;
  while (count < values.size() && end - at > 3 && std::string_view(at, 3) == " 0x") {
    at = std::from_chars(at + 3, end, values[count++], 16).ptr;
  }
  if (count < 2) return false;
  stack = values[count - 2];
  if (number >= 0 && count == values.size()) {
    note_call({static_cast<std::uint64_t>(number), values[0], values[1], values[2], values[3], values[4], values[5]},
              note);
  }
  return true;
}

// Calls `visit` with the number of each other thread. False if the calling thread is not listed: a process that sees
// itself under other numbers than /proc does learns nothing here.
template <typename Visit>
bool visit_threads(const Visit& visit) {
  const auto own = static_cast<int>(::syscall(SYS_gettid));
  const base::UniqueFd directory(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(8) std::array<char, 2048> buffer;
  bool is_own_there = false;
  while (directory) {
    const long got = ::syscall(SYS_getdents64, directory.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const char* const entry = buffer.data() + at;
      std::uint16_t size = 0;
      // linux_dirent64: d_reclen at offset 16, d_name at 19.
      std::memcpy(&size, entry + 16, sizeof size);
      const std::string_view name(entry + 19);
      int id = 0;
      std::from_chars(name.data(), name.data() + name.size(), id);
      is_own_there = is_own_there || id == own;
      if (id > 0 && id != own) visit(id);
      at += size;
    }
  }
  return is_own_there;
}

// By the private page, and by the file's.
void wake(std::uint64_t futex, int file, std::uint64_t page) {
  ::syscall(SYS_futex, futex, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  // A shared futex in a file is found by file and page, so a wake at any view of that page reaches sleepers that fell
  // asleep while the file was mapped at `futex`.
  const long view = ::syscall(SYS_mmap, nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, page);
  if (view == -1) return;
  const std::uint64_t twin = static_cast<std::uint64_t>(view) + futex % kPage;
  ::syscall(SYS_futex, twin, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  ::syscall(SYS_munmap, view, kPage);
}

}  // namespace

OtherThreads::OtherThreads(Look look) : look_(look) {
  is_complete_ = visit_threads([this](int thread) { ids_.push_back(thread); });
  for (const int thread : ids_) {
    if (is_complete_) look_at(thread);
  }
}

void OtherThreads::look_at(int thread) {
  std::uint64_t stack = 0;
  // A thread that cannot be read and has not ended makes the answer incomplete, and then nothing moves.
  if (!read_sleep(thread, stack, [this](std::uint64_t futex) { futexes_.push_back(futex); })) {
    if (age_of(thread) != Age::kEnded) is_complete_ = false;
    return;
  }
  if (look_ == Look::kWhole) look_for_control_block(thread, stack);
}

void OtherThreads::look_for_control_block(int thread, std::uint64_t stack) {
  if (const std::uint64_t head = await_robust_list(thread)) {
    return threads_.push_back({head - robust_list_distance(), stack, thread == ::getpid()});
  }
  const Age age = age_of(thread);
  if (age == Age::kEnded) return;
  is_complete_ = false;
  // One that has begun since counts too: the next look finds its control block.
  if (age == Age::kEnding || is_new(thread) || robust_list_of(thread) != 0) unsettled_ = thread;
}

// The main thread's stack is never moved, and its control block lies where the loader put it, among anything.
bool OtherThreads::stand_in(std::uint64_t begin, std::uint64_t end, std::uint64_t mapping_end) const {
  const auto lies = [](std::uint64_t address, std::uint64_t from, std::uint64_t until) {
    return address >= from && address < until;
  };
  return std::ranges::any_of(threads_, [&](const Thread& thread) {
    const std::uint64_t note = thread.control + static_cast<std::uint64_t>(processor_note_distance());
    const std::uint64_t first = std::min(thread.control, note) / kPage * kPage;
    const bool holds_control = begin < thread.control + control_block_bytes() && first < end;
    // Stacks grow down from the control block, and their lower end is unknown: refuse all below it in the same mapping.
    const bool is_below = !thread.is_main && lies(thread.control, begin, mapping_end);
    return holds_control || is_below || lies(thread.stack, begin, mapping_end);
  });
}

bool OtherThreads::sleep_in(std::uint64_t begin, std::uint64_t end) const {
  return std::ranges::any_of(futexes_, [=](std::uint64_t futex) { return futex >= begin && futex < end; });
}

bool await_settled(int thread, base::Time deadline) {
  while (is_new(thread) || age_of(thread) == Age::kEnding) {
    if (base::Clock::now() >= deadline) return false;
    base::nap();
  }
  return true;
}

bool may_use_alternate_stacks() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action = {};
    if (signal == SIGSEGV || signal == SIGBUS || ::sigaction(signal, nullptr, &action) != 0) continue;
    const bool is_handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (is_handled && (action.sa_flags & SA_ONSTACK) != 0) return true;
  }
  return false;
}

void wake_sleepers(const OtherThreads& threads, std::uint64_t begin, std::uint64_t end, int file,
                   std::uint64_t offset) {
  for (const std::uint64_t futex : threads.futexes())
    if (futex >= begin && futex < end) wake(futex, file, offset + (futex - begin) / kPage * kPage);
}

void wake_sleepers(std::uint64_t begin, std::uint64_t end, int file, std::uint64_t offset) {
  static_cast<void>(visit_threads([&](int thread) {
    std::uint64_t stack = 0;
    static_cast<void>(read_sleep(thread, stack, [&](std::uint64_t futex) {
      if (futex >= begin && futex < end) wake(futex, file, offset + (futex - begin) / kPage * kPage);
    }));
  }));
}

}  // namespace softdat::memory
