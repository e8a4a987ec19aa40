// SPDX-License-Identifier: BSD-2-Clause
// What every operation pays in the rooms below the API: handles, keys, copies, checksums.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "base/ordered_copy.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/protection_zone.h"
#include "simnic/direct/direct_context.h"
#include "simnic/memory_table.h"
#include "tests/libdat/object/world.h"
#include "transport/tcp/crc32c.h"

namespace softdat::bench {
namespace {

namespace direct = simnic::direct;

void handle_lookup(benchmark::State& state) {
  object::World world;
  std::vector<object::Handle> handles;
  for (int i = 0; i < state.range(0); ++i) handles.push_back(world.make_pz());
  std::size_t next = 0;
  for (auto _ : state) {
    const auto pin = object::pin_handle<object::ProtectionZone>(handles[next]);
    benchmark::DoNotOptimize(pin.get());
    next = next + 1 == handles.size() ? 0 : next + 1;
  }
}

void stale_handle(benchmark::State& state) {
  object::World world;
  const object::Handle handle = world.make_pz();
  (void)object::ProtectionZone::free(object::pin_handle<object::ProtectionZone>(handle));
  for (auto _ : state) {
    const auto pin = object::pin_handle<object::ProtectionZone>(handle);
    benchmark::DoNotOptimize(pin.get());
  }
}

// As many regions as range(0), looked at in turns.
void key_check(benchmark::State& state) {
  simnic::MemoryTable table(7);
  constexpr std::uint64_t kLength = 4096;
  std::vector<std::uint32_t> keys;
  for (int i = 0; i < state.range(0); ++i) {
    keys.push_back(table.insert({static_cast<std::uint64_t>(i) * kLength, kLength, hca::kRemoteWrite, 1}).value());
  }
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(table.check(keys[next], next * kLength + 8, 64, hca::kRemoteWrite, {1}));
    next = next + 1 == keys.size() ? 0 : next + 1;
  }
}

void ordered_copy(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> from(size);
  std::vector<std::byte> to(size);
  for (auto _ : state) {
    benchmark::DoNotOptimize(base::copy_ordered(to.data(), from.data(), size));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

template <typename Checksum>
void checksum(benchmark::State& state, Checksum compute) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)), std::byte{0x5a});
  for (auto _ : state) benchmark::DoNotOptimize(compute(0, std::span<const std::byte>(bytes)));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void crc32c_as_chosen(benchmark::State& state) {
  checksum(state, transport::tcp::crc32c);
}
void crc32c_portable(benchmark::State& state) {
  checksum(state, transport::tcp::crc32c_portable);
}

// What an initiator does to a peer's memory: copies of range(0) bytes, a pin after the other. The counters say how long
// the pins are held, which is what an owner that deregisters has to wait for. range(1): both buffers are used for the
// first time, so that every page faults.
class PinHold {
 public:
  PinHold() : owner_(direct::DirectContext::create()), user_(direct::DirectContext::create()) {
    if (owner_ == nullptr || user_ == nullptr) return;
    peer_ = user_->peers().attach(copy_of(owner_->key_directory_file()), copy_of(owner_->arena_file()), {});
    door_ = peer_->find_door(*owner_->key_directory().take_qp_entry(kDomain), owner_->next_connection()).value();
    owner_->key_directory().open_qp_entry(door_.index, door_.connection);
  }
  bool is_able() const { return peer_ != nullptr; }
  bool offer(std::byte* to, std::size_t size) {
    address_ = reinterpret_cast<std::uint64_t>(to);
    return owner_->publish(kKey, {address_, size, hca::kRemoteWrite, kDomain}, address_);
  }
  void withdraw() { owner_->await(owner_->withdraw(kKey)); }
  bool copy(const std::byte* from, std::size_t size) {
    const direct::Target target{kKey, address_, size, hca::kRemoteWrite};
    for (std::size_t done = 0; done < size; done += direct::kMostPinned) {
      const std::size_t piece = std::min<std::size_t>(size - done, direct::kMostPinned);
      const auto begin = std::chrono::steady_clock::now();
      {
        const direct::Grip grip(*peer_, user_->key_directory(), target, done, piece, door_);
        if (!grip || !base::copy_ordered(grip.data(), from + done, piece)) return false;
      }
      held_.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    return true;
  }
  void report(benchmark::State& state) {
    if (held_.empty()) return;
    std::ranges::sort(held_);
    state.counters["held_median_us"] = held_[held_.size() / 2];
    state.counters["held_p999_us"] = held_[held_.size() * 999 / 1000];
    state.counters["held_max_us"] = held_.back();
  }

 private:
  static constexpr std::uint32_t kKey = 0x100;
  static constexpr std::uint32_t kDomain = 1;
  static base::UniqueFd copy_of(int file) { return base::UniqueFd(::dup(file)); }

  std::shared_ptr<direct::DirectContext> owner_;
  std::shared_ptr<direct::DirectContext> user_;
  std::shared_ptr<direct::Peer> peer_;
  direct::Door door_;
  std::uint64_t address_ = 0;
  std::vector<double> held_;
};

// Pages that have not been used yet. Behind a page that can be read: memory right behind a guard, where chance may put
// it, could be a thread's stack and is never shared.
class FreshPages {
 public:
  explicit FreshPages(std::size_t size) : size_(size), mapping_(map(kPage + size, nullptr)) {
    ::mprotect(mapping_, kPage, PROT_READ);
  }
  ~FreshPages() { ::munmap(mapping_, kPage + size_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;

  std::byte* data() const { return mapping_ + kPage; }
  void renew() const { map(size_, data()); }

 private:
  static constexpr std::size_t kPage = 4096;
  static std::byte* map(std::size_t size, std::byte* place) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (place == nullptr ? 0 : MAP_FIXED);
    return static_cast<std::byte*>(::mmap(place, size, PROT_READ | PROT_WRITE, flags, -1, 0));
  }

  std::size_t size_;
  std::byte* mapping_;
};

void pin_hold(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const bool is_first_use = state.range(1) != 0;
  PinHold hold;
  if (!hold.is_able()) {
    for (auto _ : state) continue;
    return state.SetLabel("no direct access here");
  }
  const FreshPages from(size);
  const FreshPages to(size);
  bool is_good = hold.offer(to.data(), size);
  for (auto _ : state) {
    is_good = is_good && hold.copy(from.data(), size);
    if (!is_first_use) continue;
    state.PauseTiming();
    hold.withdraw();
    from.renew();
    to.renew();
    is_good = is_good && hold.offer(to.data(), size);
    state.ResumeTiming();
  }
  hold.withdraw();
  if (!is_good) return state.SkipWithError("a copy could not be made");
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
  hold.report(state);
}

BENCHMARK(handle_lookup)->Arg(1)->Arg(10'000);
BENCHMARK(stale_handle);
BENCHMARK(key_check)->Arg(1)->Arg(10'000);
BENCHMARK(ordered_copy)->Arg(8)->Arg(4096)->Arg(65'536)->Arg(1 << 20);
BENCHMARK(pin_hold)->ArgsProduct({{64 << 10, 1 << 20, 8 << 20}, {0, 1}});
BENCHMARK(crc32c_as_chosen)->Arg(64)->Arg(1460)->Arg(65'536);
BENCHMARK(crc32c_portable)->Arg(64)->Arg(1460)->Arg(65'536);

}  // namespace
}  // namespace softdat::bench

BENCHMARK_MAIN();
