// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/floor/memory.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tools/softdat/perf/ticks.h"

namespace softdat::tools::floor {
namespace {

// No turn has this number: of 64 bits, no run is long enough for it, and of 32 none that sleeps between two turns.
template <typename Word>
constexpr Word kEnd = ~Word{0};

void await_word(const std::atomic<std::uint64_t>& word, std::uint64_t expected) {
  while (word.load(std::memory_order_acquire) != expected) {
  }
}

// Spins, so that this processor stays awake, and only the other side's wake-up is in the figure.
void pause_for(unsigned pause_us) {
  const perf::Ticks& ticks = perf::Ticks::instance();
  const auto length = static_cast<std::uint64_t>(pause_us / ticks.unit_us());
  for (const std::uint64_t start = ticks.now(); ticks.now() - start < length;) {
  }
}

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  // Not private: the word lies in memory that two processes map.
  ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

void wake_with(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value, std::memory_order_release);
  futex(word, FUTEX_WAKE, 1);
}

std::uint32_t sleep_until_changed(std::atomic<std::uint32_t>& word, std::uint32_t old) {
  for (;;) {
    const std::uint32_t now = word.load(std::memory_order_acquire);
    // FUTEX_WAIT sleeps only while the word is still `old`, so a change between the load and the call is not missed.
    if (now != old) return now;
    futex(word, FUTEX_WAIT, old);
  }
}

}  // namespace

double cache_line_us(const Processors& processors, double seconds) {
  const SharedMemory memory(sizeof(Turns<std::uint64_t>));
  auto& turns = memory.as<Turns<std::uint64_t>>();
  double one_way = 0;
  const auto here = [&] {
    constexpr std::uint32_t kBatch = 10'000;
    std::uint64_t turn = 0;
    const auto start = Clock::now();
    do {
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        turns.here.store(++turn, std::memory_order_release);
        await_word(turns.there, turn);
      }
    } while (seconds_since(start) < seconds);
    one_way = seconds_since(start) * 1e6 / static_cast<double>(turn) / 2;
    turns.here.store(kEnd<std::uint64_t>, std::memory_order_release);
  };
  const auto there = [&] {
    for (std::uint64_t turn = 0;;) {
      std::uint64_t seen = turn;
      while ((seen = turns.here.load(std::memory_order_acquire)) == turn) {
      }
      if (seen == kEnd<std::uint64_t>) return;
      turns.there.store(turn = seen, std::memory_order_release);
    }
  };
  run_together(processors, here, there);
  return one_way;
}

double memcpy_mb_s(const Processors& processors, std::size_t size, double seconds) {
  double rate = 0;
  const auto here = [&] {
    // Whole pages, so that neither begins where some processors' string instructions take fifty times as long.
    constexpr std::size_t kPage = 4096;
    const std::size_t pages = (size + kPage - 1) / kPage * kPage;
    const std::unique_ptr<void, void (*)(void*)> from(std::aligned_alloc(kPage, pages), std::free);
    const std::unique_ptr<void, void (*)(void*)> to(std::aligned_alloc(kPage, pages), std::free);
    std::memset(from.get(), 1, size);
    std::memset(to.get(), 2, size);
    std::uint64_t copies = 0;
    const auto start = Clock::now();
    do {
      for (int i = 0; i < 16; ++i, ++copies) {
        std::memcpy(to.get(), from.get(), size);
        // The copy has a reader, so that it is done.
        asm volatile("" : : "r"(to.get()) : "memory");
      }
    } while (seconds_since(start) < seconds);
    rate = static_cast<double>(copies) * static_cast<double>(size) / seconds_since(start) * 1e-6;
  };
  run_together(processors, here, [] {});
  return rate;
}

double futex_us(const Processors& processors, unsigned pause_us, double seconds) {
  const SharedMemory memory(sizeof(Turns<std::uint32_t>));
  auto& turns = memory.as<Turns<std::uint32_t>>();
  double one_way = 0;
  const auto here = [&] {
    double waited = 0;
    std::uint32_t turn = 0;
    const auto begin = Clock::now();
    do {
      pause_for(pause_us);
      const auto start = Clock::now();
      wake_with(turns.here, ++turn);
      sleep_until_changed(turns.there, turn - 1);
      // The other side's pause lies within the time, so it is taken off.
      waited += seconds_since(start) * 1e6 - pause_us;
    } while (seconds_since(begin) < seconds);
    one_way = waited / turn / 2;
    wake_with(turns.here, kEnd<std::uint32_t>);
  };
  const auto there = [&] {
    for (std::uint32_t turn = 0;;) {
      const std::uint32_t seen = sleep_until_changed(turns.here, turn);
      if (seen == kEnd<std::uint32_t>) return;
      pause_for(pause_us);
      wake_with(turns.there, turn = seen);
    }
  };
  (void)perf::Ticks::instance();  // before there are two of us
  run_together(processors, here, there);
  return one_way;
}

}  // namespace softdat::tools::floor
