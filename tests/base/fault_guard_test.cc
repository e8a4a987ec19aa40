// SPDX-License-Identifier: BSD-2-Clause
// What faults inside a guarded access, and what happens to every other fault. Handlers are of the whole process, so
// they are tried in children.
#include "base/fault_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/guarded_atomic.h"
#include "base/ordered_copy.h"
#include "tests/base/holds_in_child.h"

namespace softdat::base {
namespace {

constexpr std::size_t kPage = 4096;

enum class Damage { kUnmapped, kTruncated, kNoAccess, kReadOnly };

// A page that is there, and one behind it that is damaged. The place of what is unmapped is kept free of others.
class Pages {
 public:
  explicit Pages(Damage damage) : file_(::memfd_create("pages", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(file_, 2 * kPage), 0);
    void* const wanted = reinterpret_cast<void*>(std::uintptr_t{1} << 36);
    void* const got = ::mmap(wanted, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    EXPECT_NE(got, MAP_FAILED);
    data_ = static_cast<std::byte*>(got);
    std::memset(data_, 1, 2 * kPage);
    switch (damage) {
      case Damage::kUnmapped:
        EXPECT_EQ(::munmap(end(), kPage), 0);
        break;
      case Damage::kTruncated:
        EXPECT_EQ(::ftruncate(file_, kPage), 0);
        break;
      case Damage::kNoAccess:
        EXPECT_EQ(::mprotect(end(), kPage, PROT_NONE), 0);
        break;
      case Damage::kReadOnly:
        EXPECT_EQ(::mprotect(end(), kPage, PROT_READ), 0);
        break;
    }
  }
  ~Pages() {
    ::munmap(data_, 2 * kPage);
    ::close(file_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // End of the intact page; the damaged page begins here.
  std::byte* end() const { return data_ + kPage; }

 private:
  const int file_;
  std::byte* data_;
};

class FaultGuard : public ::testing::TestWithParam<Damage> {
 protected:
  void SetUp() override { ASSERT_TRUE(install_fault_guard()); }
  bool can_read() const { return GetParam() == Damage::kReadOnly; }
};
INSTANTIATE_TEST_SUITE_P(Every, FaultGuard,
                         ::testing::Values(Damage::kUnmapped, Damage::kTruncated, Damage::kNoAccess,
                                           Damage::kReadOnly));

constexpr std::size_t kLengths[] = {1, 2, 3, 7, 8, 15, 16, 31, 64, 100, 256, 300, 1000, 3000};

TEST_P(FaultGuard, ACopyOutOfDamagedMemoryFails) {
  const Pages pages(GetParam());
  for (const std::size_t length : kLengths) {
    for (std::size_t before = 0; before < std::min<std::size_t>(length, 70); ++before) {
      std::vector<std::byte> to(length);
      EXPECT_EQ(copy_ordered(to.data(), pages.end() - before, length), can_read()) << length << " bytes, " << before;
      EXPECT_EQ(copy_in(to.data(), pages.end() - before, length), can_read()) << length << " bytes, " << before;
    }
  }
}

// What lies before the damage has arrived, since bytes are stored in ascending order, but for less than what is moved
// at once.
TEST_P(FaultGuard, ACopyIntoDamagedMemoryFailsWhereTheDamageBegins) {
  const Pages pages(GetParam());
  const std::vector<std::byte> from(3000, std::byte{7});
  for (const std::size_t length : kLengths) {
    for (std::size_t before = 0; before < std::min<std::size_t>(length, 70); ++before) {
      std::memset(pages.end() - 100, 1, 100);
      EXPECT_FALSE(copy_ordered(pages.end() - before, from.data(), length)) << length << " bytes, " << before;
      const std::size_t whole = before < 32 ? 0 : before - 32;
      EXPECT_TRUE(std::all_of(pages.end() - before, pages.end() - before + whole,
                              [](std::byte byte) { return byte == std::byte{7}; }));
    }
  }
}

TEST_P(FaultGuard, TouchesAndAtomicsTell) {
  const Pages pages(GetParam());
  EXPECT_TRUE(is_readable(pages.end() - 10, 10));
  EXPECT_TRUE(is_writable(pages.end() - 10, 10));
  EXPECT_EQ(is_readable(pages.end() - 10, 11), can_read());
  EXPECT_FALSE(is_writable(pages.end() - 10, 11));
  std::uint64_t value = 5;
  EXPECT_FALSE(fetch_add(pages.end(), value));
  EXPECT_FALSE(compare_exchange(pages.end(), value, 6));
  EXPECT_TRUE(fetch_add(pages.end() - 8, value));
  EXPECT_EQ(value, 0x0101010101010101u);
  value += 5;
  EXPECT_TRUE(compare_exchange(pages.end() - 8, value, 6));
  EXPECT_EQ(value, 0x0101010101010106u);
  std::uint64_t now = 0;
  std::memcpy(&now, pages.end() - 8, sizeof now);
  EXPECT_EQ(now, 6u);
}

// As programs block all signals in threads that poll. The kernel would end the process at the fault.
TEST_P(FaultGuard, AThreadThatBlocksTheSignalsIsAnsweredToo) {
  const Pages pages(GetParam());
  std::thread thread([&] {
    sigset_t all;
    sigfillset(&all);
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &all, nullptr), 0);
    std::array<std::byte, 64> bytes{};
    for (const std::size_t length : {std::size_t{8}, std::size_t{64}}) {
      EXPECT_EQ(copy_ordered(bytes.data(), pages.end(), length), can_read());
      EXPECT_FALSE(copy_ordered(pages.end(), bytes.data(), length));
      EXPECT_TRUE(copy_ordered(pages.end() - 64, bytes.data(), length));
    }
    std::uint64_t value = 5;
    EXPECT_FALSE(fetch_add(pages.end(), value));
    EXPECT_TRUE(fetch_add(pages.end() - 8, value));
    EXPECT_FALSE(is_writable(pages.end(), 1));
  });
  thread.join();
}

// Faults of the program itself.

int signal_that_ends(const std::function<void()>& body) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void set_default(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
}

// A guard above the default actions, whatever a sanitizer has installed.
void guard_defaults() {
  set_default(SIGSEGV);
  set_default(SIGBUS);
  if (!install_fault_guard()) ::_exit(9);
}

void fault() {
  *static_cast<volatile int*>(::mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) = 1;
}

bool does_guard() {
  const Pages pages(Damage::kNoAccess);
  std::byte to;
  return !copy_ordered(&to, pages.end(), 1);
}

sigjmp_buf back;
volatile sig_atomic_t seen_signal = 0;
void* volatile seen_address = nullptr;
struct sigaction chained;

void jump_back(int signal, siginfo_t* info, void*) {
  seen_signal = signal;
  seen_address = info->si_addr;
  siglongjmp(back, 1);
}
void pass_on(int signal, siginfo_t* info, void* context) {
  seen_signal = signal;
  if ((chained.sa_flags & SA_SIGINFO) != 0) return chained.sa_sigaction(signal, info, context);
  ::sigaction(signal, &chained, nullptr);
}
void old_kind(int signal) {
  seen_signal = signal;
  siglongjmp(back, 1);
}

struct sigaction action_of(void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  return action;
}

TEST(FaultsOfTheProgram, EndItAsEver) {
  EXPECT_EQ(signal_that_ends([] {
              guard_defaults();
              fault();
            }),
            SIGSEGV);
  EXPECT_EQ(signal_that_ends([] {
              guard_defaults();
              const Pages pages(Damage::kTruncated);
              *reinterpret_cast<volatile char*>(pages.end()) = 1;
            }),
            SIGBUS);
}

// Returns what a process that runs `body` writes to standard error.
std::string last_words(const std::function<void()>& body) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  signal_that_ends([&] {
    ::dup2(ends[1], STDERR_FILENO);
    body();
  });
  ::close(ends[1]);
  std::string said(4096, '\0');
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], said.data(), said.size()), 0)));
  ::close(ends[0]);
  return said;
}

TEST(FaultsOfTheProgram, AreToldWithTheFileWhoseInstructionItWas) {
  const std::string write = last_words([] {
    guard_defaults();
    *reinterpret_cast<volatile char*>(std::uintptr_t{0x30}) = 1;
  });
  EXPECT_THAT(write, ::testing::MatchesRegex(
                         "softdat\\[[0-9]+\\]: SIGSEGV ends the process: base_tests\\+0x[0-9a-f]+ writes at "
                         "address 0x30\n"));
  const std::string read = last_words([] {
    guard_defaults();
    *reinterpret_cast<volatile char*>(std::uintptr_t{0x40});
  });
  EXPECT_THAT(read, ::testing::ContainsRegex(" base_tests\\+0x[0-9a-f]+ reads at address 0x40\n"));
}

// The processor reports no address for an access to a non-canonical one.
TEST(FaultsOfTheProgram, AreToldWithoutAnAddressWhereThereIsNone) {
  EXPECT_THAT(last_words([] {
                guard_defaults();
                *reinterpret_cast<volatile char*>(std::uintptr_t{0x7777'0000'0000'0000}) = 1;
              }),
              ::testing::HasSubstr("uses an impossible address\n"));
}

TEST(FaultsOfTheProgram, AreNotToldWhenSomebodySentTheSignal) {
  EXPECT_EQ(last_words([] {
              guard_defaults();
              ::kill(::getpid(), SIGSEGV);
            }),
            "");
}

TEST(FaultsOfTheProgram, EndItThoughIgnored) {
  EXPECT_EQ(signal_that_ends([] {
              ::signal(SIGSEGV, SIG_IGN);
              if (!install_fault_guard()) ::_exit(9);
              if (::raise(SIGSEGV) != 0 || !does_guard()) ::_exit(8);
              fault();
            }),
            SIGSEGV);
}

TEST(FaultsOfTheProgram, SentOnesEndItToo) {
  EXPECT_EQ(signal_that_ends([] {
              guard_defaults();
              ::kill(::getpid(), SIGSEGV);
            }),
            SIGSEGV);
}

TEST(FaultsOfTheProgram, ReachTheHandlerThatWasThere) {
  EXPECT_TRUE(testing::holds_in_child([] {
    const struct sigaction action = action_of(jump_back, SA_NODEFER);
    ::sigaction(SIGSEGV, &action, nullptr);
    if (!install_fault_guard()) return false;
    void* const at = ::mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; ++i) {
      if (sigsetjmp(back, 1) == 0) *static_cast<volatile int*>(at) = 1;
      if (seen_signal != SIGSEGV || seen_address != at || !does_guard()) return false;
      seen_signal = 0;
    }
    return true;
  }));
}

TEST(FaultsOfTheProgram, LeaveErrnoAsItIsWhenTheWatcherOpensThePage) {
  EXPECT_TRUE(testing::holds_in_child([] {
    if (!install_fault_guard()) return false;
    if (!can_watch_faults()) return true;
    set_fault_watcher([](std::uint64_t address, std::uint64_t, bool, bool) {
      errno = EAGAIN;
      return ::mprotect(reinterpret_cast<void*>(address & ~(kPage - 1)), kPage, PROT_READ | PROT_WRITE) == 0;
    });
    const Pages pages(Damage::kNoAccess);
    errno = EDOM;
    *reinterpret_cast<volatile char*>(pages.end()) = 1;
    return errno == EDOM;
  }));
}

TEST(FaultsOfTheProgram, ReachAHandlerOfTheOldKind) {
  EXPECT_TRUE(testing::holds_in_child([] {
    ::signal(SIGSEGV, old_kind);
    if (!install_fault_guard()) return false;
    if (sigsetjmp(back, 1) == 0) fault();
    return seen_signal == SIGSEGV && does_guard();
  }));
}

// A handler that keeps ours to call it, with ours put on top again.
TEST(FaultsOfTheProgram, DoNotGoRoundInCircles) {
  EXPECT_EQ(signal_that_ends([] {
              guard_defaults();
              const struct sigaction action = action_of(pass_on);
              ::sigaction(SIGSEGV, &action, &chained);
              if (!does_guard()) ::_exit(7);  // by way of the program's handler
              if (seen_signal != SIGSEGV) ::_exit(6);
              seen_signal = 0;
              if (!install_fault_guard() || !does_guard() || seen_signal != 0) ::_exit(5);
              fault();
            }),
            SIGSEGV);
}

// A handler that puts back what was there before it and returns: ours, which has been put on top of it meanwhile.
TEST(FaultsOfTheProgram, EndItThoughAHandlerPutsOursBack) {
  EXPECT_EQ(signal_that_ends([] {
              guard_defaults();
              const struct sigaction action =
                  action_of([](int signal, siginfo_t*, void*) { ::sigaction(signal, &chained, nullptr); });
              ::sigaction(SIGSEGV, &action, &chained);
              if (!install_fault_guard()) ::_exit(9);
              fault();
            }),
            SIGSEGV);
}

TEST(FaultsOfTheProgram, AHandlerForOnceRunsOnce) {
  EXPECT_EQ(signal_that_ends([] {
              const struct sigaction action = action_of(jump_back, SA_RESETHAND);
              ::sigaction(SIGSEGV, &action, nullptr);
              if (!install_fault_guard()) ::_exit(9);
              if (sigsetjmp(back, 1) == 0) fault();
              if (seen_signal != SIGSEGV || !does_guard()) ::_exit(8);
              fault();
            }),
            SIGSEGV);
}

TEST(FaultsOfTheProgram, HandlersMayComeAndGo) {
  EXPECT_TRUE(testing::holds_in_child([] {
    guard_defaults();
    for (int i = 0; i < 100; ++i) {
      const struct sigaction action = action_of(pass_on);
      ::sigaction(SIGSEGV, &action, &chained);
      if (!install_fault_guard() || !does_guard()) return false;
      ::sigaction(SIGSEGV, &chained, nullptr);
      if (!install_fault_guard() || !does_guard()) return false;
    }
    return true;
  }));
}

TEST(FaultsOfTheProgram, TheDefaultActionMayComeAndGo) {
  EXPECT_EQ(signal_that_ends([] {
              for (int i = 0; i < 100; ++i) {
                set_default(SIGSEGV);
                if (!install_fault_guard() || !does_guard()) ::_exit(9);
                ::signal(SIGSEGV, SIG_IGN);
                if (!install_fault_guard() || !does_guard()) ::_exit(8);
              }
              set_default(SIGSEGV);
              if (!install_fault_guard()) ::_exit(7);
              fault();
            }),
            SIGSEGV);
}

// The engine looks at the handlers at any time, so also between two changes of the program.
TEST(FaultsOfTheProgram, AHandlerIsNotLostWhenItComesWhileAnotherThreadLooks) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer's sigaction() is not atomic: of two threads that call it one loses its handler";
#endif
  EXPECT_TRUE(testing::holds_in_child([] {
    guard_defaults();
    std::atomic<bool> is_over{false};
    std::thread looker([&] {
      while (!is_over) install_fault_guard();
    });
    const auto run = [] {
      const struct sigaction action = action_of([](int signal, siginfo_t*, void*) { seen_signal = signal; });
      for (int i = 0; i < 2000; ++i) {
        ::signal(SIGSEGV, SIG_IGN);
        ::sigaction(SIGSEGV, &action, nullptr);
        seen_signal = 0;
        // The looker may be about to put right what it has replaced.
        for (int tries = 0; seen_signal != SIGSEGV; ++tries) {
          if (tries == 1000 || ::raise(SIGSEGV) != 0) return false;
          std::this_thread::yield();
        }
      }
      return true;
    };
    const bool is_kept = run();
    is_over = true;
    looker.join();
    return is_kept;
  }));
}

}  // namespace
}  // namespace softdat::base
