// SPDX-License-Identifier: BSD-2-Clause
// A program whose counters are known: it is connected with itself, obeys words on standard input, and answers "done":
// - work: 6 sends of 8 bytes, 3 writes of 100, 2 reads of 50, all completed; 6 receives were posted at once
// - lack: a send that finds no receive; receive: posts it, and takes both completions
// - fail: a send that is longer than its receive, which breaks the connection
// - burst: sends and receives of 8 bytes, a hundred thousand of them
#include <iostream>
#include <string>
#include <thread>

#include "tests/bench/self_pair.h"

namespace softdat::bench {
namespace {

constexpr int kSends = 6;

void require(DAT_RETURN result) {
  if (result == DAT_SUCCESS) return;
  std::cerr << "a call answered " << result << '\n';
  std::exit(1);
}

void work(SelfPair& pair) {
  for (int i = 0; i < kSends; ++i) require(pair.post_receive(16));
  for (int i = 0; i < kSends; ++i) require(pair.post_send(8));
  pair.take_receives(kSends);
  for (int i = 0; i < 3; ++i) require(pair.post_write(100));
  for (int i = 0; i < 2; ++i) require(pair.post_read(50));
  pair.take_requests(kSends + 5);
}

void burst(SelfPair& pair) {
  for (int i = 0; i < 100'000; ++i) {
    require(pair.post_receive(8));
    require(pair.post_send(8));
    pair.take_receives(1);
    pair.take_requests(1);
  }
}

// Both completions are failures.
void fail(SelfPair& pair) {
  require(pair.post_receive(4));
  require(pair.post_send(8));
  while (pair.poll_receives() != DAT_SUCCESS) std::this_thread::yield();
  while (pair.poll_requests() != DAT_SUCCESS) std::this_thread::yield();
}

void obey(SelfPair& pair, const std::string& word) {
  if (word == "work") work(pair);
  if (word == "burst") burst(pair);
  if (word == "lack") require(pair.post_send(8));
  if (word == "receive") {
    require(pair.post_receive(8));
    pair.take_receives(1);
    pair.take_requests(1);
  }
  if (word == "fail") fail(pair);
}

}  // namespace
}  // namespace softdat::bench

int main() {
  softdat::bench::SelfPair pair;
  std::cout << "ready" << std::endl;
  for (std::string word; std::getline(std::cin, word);) {
    softdat::bench::obey(pair, word);
    std::cout << "done" << std::endl;
  }
}
