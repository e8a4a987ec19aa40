// SPDX-License-Identifier: BSD-2-Clause
// What every operation pays in the rooms below the API: handles, keys, copies, checksums.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/ordered_copy.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/protection_zone.h"
#include "simnic/memory_table.h"
#include "tests/libdat/object/world.h"
#include "transport/tcp/crc32c.h"

namespace softdat::bench {
namespace {

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

BENCHMARK(handle_lookup)->Arg(1)->Arg(10'000);
BENCHMARK(stale_handle);
BENCHMARK(key_check)->Arg(1)->Arg(10'000);
BENCHMARK(ordered_copy)->Arg(8)->Arg(4096)->Arg(65'536)->Arg(1 << 20);
BENCHMARK(crc32c_as_chosen)->Arg(64)->Arg(1460)->Arg(65'536);
BENCHMARK(crc32c_portable)->Arg(64)->Arg(1460)->Arg(65'536);

}  // namespace
}  // namespace softdat::bench

BENCHMARK_MAIN();
