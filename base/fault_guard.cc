// SPDX-License-Identifier: BSD-2-Clause
#include "base/fault_guard.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "base/fault_notice.h"
#include "base/forks.h"
#include "base/lock_places.h"
#include "base/made_once.h"

#if defined(__x86_64__)
namespace {

// An entry that SOFTDAT_GUARDED writes: each member counts from its own address.
struct GuardedCode {
  std::int32_t begin;
  std::int32_t end;
  std::int32_t landing;
};

}  // namespace

// The linker's names of the table's ends. Weak: a program without guarded instructions has no table.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const GuardedCode __start_softdat_guarded[];
[[gnu::weak, gnu::visibility("hidden")]] extern const GuardedCode __stop_softdat_guarded[];
}
#endif

namespace softdat::base {

thread_local constinit FaultMode fault_mode = FaultMode::kUnknown;

namespace {

#if defined(__x86_64__)

std::uintptr_t address_of(const std::int32_t& member) {
  return reinterpret_cast<std::uintptr_t>(&member) + static_cast<std::uintptr_t>(std::intptr_t{member});
}

// Goes on at the landing of a guarded instruction. False: the fault is not ours.
// Async-signal-safe: reads a constant table, and takes no lock.
bool land(ucontext_t& context) {
  greg_t& instruction = context.uc_mcontext.gregs[REG_RIP];
  const auto at = static_cast<std::uintptr_t>(instruction);
  for (const GuardedCode* code = __start_softdat_guarded; code != __stop_softdat_guarded; ++code) {
    if (at < address_of(code->begin) || at >= address_of(code->end)) continue;
    instruction = static_cast<greg_t>(address_of(code->landing));
    return true;
  }
  return false;
}

constinit std::atomic<FaultWatcher> fault_watcher{nullptr};

bool is_write(const ucontext_t& context) {
  constexpr greg_t kIsWrite = 2;  // of the processor's error code
  return (context.uc_mcontext.gregs[REG_ERR] & kIsWrite) != 0;
}

// Whether the watcher knows the page.
// Only faults of protection are asked about (SEGV_ACCERR): the sanitizer closes pages, it never unmaps them.
bool is_watched(const siginfo_t& info, const ucontext_t& context) {
  const FaultWatcher watcher = fault_watcher.load(std::memory_order_acquire);
  if (watcher == nullptr || info.si_signo != SIGSEGV || info.si_code != SEGV_ACCERR) return false;
  const auto at = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  const auto is_it = [&](const GuardedCode& code) { return at >= address_of(code.begin) && at < address_of(code.end); };
  const bool is_library = std::any_of(__start_softdat_guarded, __stop_softdat_guarded, is_it);
  return watcher(reinterpret_cast<std::uintptr_t>(info.si_addr), at, is_write(context), is_library);
}

using Handler = void (*)(int, siginfo_t*, void*);
constexpr int kResetHandler = static_cast<int>(SA_RESETHAND);

// A program may put its handler on top of ours, and that one may call ours for what it does not know. Were we then put
// on top again with the same function, the two would call each other for ever. So each time we are put on top it is
// with another function, whose successor never changes.
constexpr std::size_t kMostLevels = 32;

// The handler that a level goes on to. Written before the level's function is installed.
struct Successor {
  std::atomic<Handler> handler{nullptr};  // null: the default action
  std::atomic<bool> is_ignored{false};
  std::atomic<bool> is_spent{false};  // SA_RESETHAND, and it has run
  std::atomic<bool> is_once{false};
};

struct Chain {
  std::array<Successor, kMostLevels> successors;
  std::size_t levels = 0;  // guarded by the mutex
};

Mutex<locks::kChains> chains_mutex;
Chain segmentation_chain;
Chain bus_chain;

// REQUIRES: taken last before a fork, because this lock has the greatest place in the order. So it is registered first.
[[gnu::constructor(101)]] void hold_chains_in_forks() {
  on_fork({.prepare = [] { take_before_fork(chains_mutex); }});
}

// REQUIRES: runs after the handler of memory (memory/fork_handlers.cc). So it is registered later.
[[gnu::constructor]] void release_chains_after_forks() {
  on_fork({.in_parent = [] { chains_mutex.unlock(); }, .in_child = [] { chains_mutex.unlock(); }});
}

Chain& chain_of(int signal) {
  return signal == SIGBUS ? bus_chain : segmentation_chain;
}

// Runs in the signal handler of a thread whose fault will end the process. Leaves errno as it was.
void tell_of_end(int signal, const siginfo_t& info, const ucontext_t& context) {
  const int error = errno;
  tell_of_fatal_fault({.signal = signal,
                       .is_write = is_write(context),
                       .has_address = info.si_code != SI_KERNEL,
                       .address = reinterpret_cast<std::uintptr_t>(info.si_addr),
                       .instruction = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP])});
  errno = error;
}

// The faulting instruction is executed again, and ends the process where it stands. A signal that somebody sent comes
// again likewise, as he sent it.
void take_default_action(int signal, siginfo_t* info, const ucontext_t& context) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  // BUS_MCEERR_AO reports a memory error that no instruction has hit, so executing again would not raise it.
  const bool comes_by_itself = info->si_code > 0 && !(signal == SIGBUS && info->si_code == BUS_MCEERR_AO);
  if (comes_by_itself) return tell_of_end(signal, *info, context);
  ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), signal, info);
}

// The kernel hands all three arguments to handlers of the old kind too.
void go_on(Successor& next, int signal, siginfo_t* info, void* context) {
  const Handler handler = next.handler.load(std::memory_order_acquire);
  const bool is_fault = info->si_code > 0;
  // The kernel never lets a fault be ignored; it takes the default action instead.
  if (next.is_ignored.load(std::memory_order_relaxed) && !is_fault) return;
  // SA_RESETHAND: exchange() lets one of several faulting threads call the handler; the others take the default action.
  if (handler == nullptr || (next.is_once.load(std::memory_order_relaxed) && next.is_spent.exchange(true)))
    return take_default_action(signal, info, *static_cast<const ucontext_t*>(context));
  handler(signal, info, context);
}

template <std::size_t kLevel>
void on_signal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  // Positive codes are the kernel's own: the signal is of the instruction that stands here.
  auto& state = *static_cast<ucontext_t*>(context);
  const bool is_settled = info->si_code > 0 && (is_watched(*info, state) || land(state));
  errno = error;
  if (!is_settled) go_on(chain_of(signal).successors[kLevel], signal, info, context);
}

template <std::size_t... kLevels>
constexpr std::array<Handler, sizeof...(kLevels)> list_handlers(std::index_sequence<kLevels...>) {
  return {&on_signal<kLevels>...};
}
constexpr auto kHandlers = list_handlers(std::make_index_sequence<kMostLevels>());

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && std::ranges::find(kHandlers, action.sa_sigaction) != kHandlers.end();
}

void set_successor(Successor& next, const struct sigaction& before) {
  const bool is_function = before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN;
  next.is_ignored.store(before.sa_handler == SIG_IGN, std::memory_order_relaxed);
  next.is_once.store((before.sa_flags & kResetHandler) != 0, std::memory_order_relaxed);
  next.is_spent.store(false, std::memory_order_relaxed);
  next.handler.store(is_function ? before.sa_sigaction : nullptr, std::memory_order_release);
}

// A program that puts the same handler on top again, or takes the default action again, finds the same level above it.
std::size_t find_level(const Chain& chain, const struct sigaction& before) {
  const bool is_ignored = before.sa_handler == SIG_IGN;
  const Handler wanted = is_ignored || before.sa_handler == SIG_DFL ? nullptr : before.sa_sigaction;
  for (std::size_t level = 0; level < chain.levels; ++level) {
    const Successor& next = chain.successors[level];
    if (next.handler.load(std::memory_order_relaxed) == wanted &&
        next.is_ignored.load(std::memory_order_relaxed) == is_ignored)
      return level;
  }
  return chain.levels;
}

// The successor's flags and mask become ours, so that the kernel prepares the call as it would have prepared its.
struct sigaction action_above(const struct sigaction& before, std::size_t level) {
  struct sigaction action = before;
  const bool is_function = before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN;
  action.sa_sigaction = kHandlers[level];
  action.sa_flags = SA_SIGINFO | (is_function ? before.sa_flags & ~kResetHandler : SA_ONSTACK);
  return action;
}

// The flags tell nothing: the C library adds one of its own.
bool is_same(const struct sigaction& one, const struct sigaction& other) {
  return one.sa_sigaction == other.sa_sigaction;
}

// REQUIRES: `before` is not ours. The program may install another handler between our look at `before` and our change.
// So what the change has replaced is compared with what was expected there.
bool put_on_top(int signal, struct sigaction before) {
  Chain& chain = chain_of(signal);
  struct sigaction expected = before;
  for (bool has_replaced = false;; has_replaced = true) {
    const std::size_t level = find_level(chain, before);
    // No level is left. Put the program's handler back, and do without the guard.
    if (level == kMostLevels) {
      if (has_replaced) ::sigaction(signal, &before, nullptr);
      return false;
    }
    set_successor(chain.successors[level], before);
    chain.levels = std::max(chain.levels, level + 1);
    const struct sigaction action = action_above(before, level);
    struct sigaction replaced = {};
    if (::sigaction(signal, &action, &replaced) != 0) return false;
    if (is_same(replaced, expected)) return true;
    // The program has put one of ours back, as what it had found there.
    if (is_ours(replaced)) return ::sigaction(signal, &replaced, nullptr) == 0;
    before = replaced;
    expected = action;
  }
}

// Without the mutex, which a thread that forks would leave locked for its child.
bool is_guarded(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && is_ours(action);
}

// With the mutex.
bool guard(int signal) {
  struct sigaction before = {};
  if (::sigaction(signal, nullptr, &before) != 0) return false;
  return is_ours(before) || put_on_top(signal, before);
}

#endif

bool blocks_fault_signals() {
  sigset_t blocked;
  if (::pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0) return true;
  return sigismember(&blocked, SIGSEGV) != 0 || sigismember(&blocked, SIGBUS) != 0;
}

enum class KernelCopy : std::uint8_t { kDone, kFault, kRefused };

KernelCopy move_by_kernel(std::byte* to, const std::byte* from, std::size_t length) {
  while (length > 0) {
    const iovec local{to, length};
    const iovec remote{const_cast<std::byte*>(from), length};
    // syscall() takes words, and the last of six lies on the stack: the upper half of an int there would be undefined.
    const long got = ::syscall(SYS_process_vm_readv, ::getpid(), &local, 1, &remote, 1, 0UL);
    if (got < 0) return errno == EFAULT ? KernelCopy::kFault : KernelCopy::kRefused;
    // A partial copy stops at the first page that is not there; the next call then copies nothing of it and fails.
    if (got == 0) return KernelCopy::kFault;
    to += got;
    from += got;
    length -= static_cast<std::size_t>(got);
  }
  return KernelCopy::kDone;
}

// Whether the kernel copies at all; a sandbox may forbid it, and some simulated processors do not know it.
bool does_kernel_copy() {
  static constinit FoundOnce<bool> does;
  return does.get([] {
    const std::byte from{1};
    std::byte to{0};
    return move_by_kernel(&to, &from, 1) == KernelCopy::kDone;
  });
}

}  // namespace

#if defined(__x86_64__)

bool install_fault_guard() {
  if (is_guarded(SIGSEGV) && is_guarded(SIGBUS)) return true;
  // Before the first fault: the log level is read from the environment once, which a signal handler could not do.
  prepare_fault_notice();
  const std::lock_guard lock(chains_mutex);
  const bool is_for_segmentation = guard(SIGSEGV);
  return guard(SIGBUS) && is_for_segmentation;
}

void set_fault_watcher(FaultWatcher watcher) {
  fault_watcher.store(watcher, std::memory_order_release);
}

bool can_watch_faults() {
  return true;
}

// Where the kernel does not copy, guarded instructions are the better half of a protection.
FaultMode look_up_fault_mode() {
  return fault_mode = blocks_fault_signals() && does_kernel_copy() ? FaultMode::kKernel : FaultMode::kHandler;
}

#else

bool install_fault_guard() {
  return does_kernel_copy();
}

void set_fault_watcher(FaultWatcher) {}

bool can_watch_faults() {
  return false;
}

FaultMode look_up_fault_mode() {
  return fault_mode = FaultMode::kKernel;
}

#endif

bool copy_by_kernel(std::byte* to, const std::byte* from, std::size_t length) {
  constexpr std::size_t kWord = 8;
  // Two calls, so that the last word is copied after all others: programs poll on the last bytes of a write.
  const std::size_t before = length > kWord ? (length - 1) / kWord * kWord : 0;
  return move_by_kernel(to, from, before) == KernelCopy::kDone &&
         move_by_kernel(to + before, from + before, length - before) == KernelCopy::kDone;
}

}  // namespace softdat::base
