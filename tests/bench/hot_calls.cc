// SPDX-License-Identifier: BSD-2-Clause
// The calls of a data path, each made many times in a row, for callgrind to count. Each dump bears the name of a call
// and holds one batch of it: only this thread's instructions, only inside the calls. Run by counts_test, which takes
// the batch in the middle: now and then one looks at the kernel, or reads the clock at another moment. The engine
// thread rests all the while, as it does beside a consumer that polls.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>

#include "tests/bench/parked_threads.h"
#include "tests/bench/self_pair.h"

namespace softdat::bench {
namespace {

constexpr int kBatch = 64;  // counts_test divides by it
constexpr int kBatches = 11;

// `call` is counted, what comes before and after is not.
template <typename Before, typename Call, typename After>
void count(const char* name, Before before, Call call, After after) {
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int i = 0; i < kBatch; ++i) before();
    CALLGRIND_TOGGLE_COLLECT;
    for (int i = 0; i < kBatch; ++i) call();
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
    after();
  }
}

void require(DAT_RETURN result) {
  if (result == DAT_SUCCESS) return;
  std::fprintf(stderr, "a call answered %#x\n", static_cast<unsigned>(result));
  std::abort();
}

void count_all(SelfPair& pair) {
  const auto nothing = [] {};
  const auto take_requests = [&] { pair.take_requests(kBatch); };
  const auto take_both = [&] {
    pair.take_requests(kBatch);
    pair.take_receives(kBatch);
  };
  count(
      "poll_empty", nothing, [&] { (void)pair.poll_requests(); }, nothing);
  count(
      "post_recv", nothing, [&] { require(pair.post_receive(8)); },
      [&] {
        for (int i = 0; i < kBatch; ++i) require(pair.post_send(8));
        take_both();
      });
  count(
      "post_send", [&] { require(pair.post_receive(8)); }, [&] { require(pair.post_send(8)); }, take_both);
  count(
      "post_write", nothing, [&] { require(pair.post_write(8)); }, take_requests);
  // A whole message: both sides' calls, and what they bring about.
  const auto exchange = [&] {
    require(pair.post_receive(8));
    require(pair.post_send(8));
    pair.take_receives(1);
    pair.take_requests(1);
  };
  count("exchange", nothing, exchange, nothing);
  // One step of a ping-pong: a message whose sender learns by the answer that it has arrived.
  const auto answer = [&] {
    require(pair.post_receive(8));
    require(pair.post_send(8));
    pair.take_receives(1);
    pair.swap_roles();
  };
  answer();
  count(
      "ping_pong", nothing,
      [&] {
        answer();
        pair.take_requests(1);
      },
      nothing);
  pair.take_requests(1);
  count(
      "post_read", nothing, [&] { require(pair.post_read(8)); }, take_requests);
  // Both keys of a write are looked up; how many others there are must not matter.
  pair.register_again(4096);
  count(
      "post_write_of_4097_regions", nothing, [&] { require(pair.post_write(8)); }, take_requests);
}

}  // namespace
}  // namespace softdat::bench

int main() {
  softdat::bench::SelfPair pair;
  const auto poll = [](void* polled) { (void)static_cast<softdat::bench::SelfPair*>(polled)->poll_requests(); };
  softdat::bench::park_threads(poll, &pair);
  softdat::bench::count_all(pair);
  softdat::bench::release_threads();
  return 0;
}
