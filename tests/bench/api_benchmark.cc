// SPDX-License-Identifier: BSD-2-Clause
// The calls of a data path through the public API, in one process that is connected with itself.
#include <benchmark/benchmark.h>

#include <deque>

#include "tests/bench/self_pair.h"

namespace softdat::bench {
namespace {

constexpr int kBatch = 32;

SelfPair& pair() {
  static SelfPair one;
  return one;
}

// A batch of posts, then their completions; per operation.
template <typename Post>
void run(benchmark::State& state, Post post) {
  const auto size = static_cast<std::uint32_t>(state.range(0));
  SelfPair& here = pair();
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) {
      if (post(here, size) != DAT_SUCCESS) return state.SkipWithError("a post was refused");
    }
    here.take_requests(kBatch);
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
  state.SetBytesProcessed(state.iterations() * kBatch * state.range(0));
}

void empty_poll(benchmark::State& state) {
  SelfPair& here = pair();
  for (auto _ : state) benchmark::DoNotOptimize(here.poll_requests());
}

void write_and_complete(benchmark::State& state) {
  run(state, [](SelfPair& here, std::uint32_t size) { return here.post_write(size); });
}

void read_and_complete(benchmark::State& state) {
  run(state, [](SelfPair& here, std::uint32_t size) { return here.post_read(size); });
}

void send_and_receive(benchmark::State& state) {
  run(state, [](SelfPair& here, std::uint32_t size) {
    const DAT_RETURN received = here.post_receive(size);
    if (received != DAT_SUCCESS) return received;
    const DAT_RETURN sent = here.post_send(size);
    if (sent == DAT_SUCCESS) here.take_receives(1);
    return sent;
  });
}

// What freeing a region costs grows with the connected endpoints of the adapter (docs/decisions/0019). Last: they stay.
void register_and_free(benchmark::State& state) {
  static std::deque<SelfPair> pairs;
  while (2 * static_cast<std::int64_t>(pairs.size()) < state.range(0)) pairs.emplace_back();
  for (auto _ : state) pair().register_and_free();
}

BENCHMARK(empty_poll);
BENCHMARK(write_and_complete)->Arg(8)->Arg(4096)->Arg(65536);
BENCHMARK(read_and_complete)->Arg(8)->Arg(4096)->Arg(65536);
BENCHMARK(send_and_receive)->Arg(8)->Arg(4096)->Arg(65536);
BENCHMARK(register_and_free)->Arg(2)->Arg(1000);

}  // namespace
}  // namespace softdat::bench

BENCHMARK_MAIN();
