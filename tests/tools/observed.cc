// SPDX-License-Identifier: BSD-2-Clause
// A program whose counters are known: it is connected with itself, obeys words on standard input, and answers "done":
// - work: 6 sends of 8 bytes, 3 writes of 100, 2 reads of 50, all completed; 6 receives were posted at once
// - lack: a send that finds no receive; receive: posts it, and takes both completions
// - fail: a send that is longer than its receive, which breaks the connection
// - objects: an adapter more, with objects of every kind (below)
// - burst: sends and receives of 8 bytes, a hundred thousand of them
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
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

// An adapter of its own that has, until the end: a region of 8192 bytes; an SRQ with three receives; an EVD at which
// three of five events wait; 64 KiB that are pinned by the system call, since AddressSanitizer takes mlock() away; and
// an endpoint that has found nobody who listens.
void show_objects() {
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL, events = DAT_HANDLE_NULL, connections = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  char name[] = "sim0";
  require(dat_ia_open(name, 8, &async_evd, &ia));
  require(dat_pz_create(ia, &pz));
  static std::array<char, 8192> memory;
  DAT_REGION_DESCRIPTION region{};
  region.for_va = memory.data();
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_TRIPLET segment{};
  require(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, memory.size(), pz, DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
                         DAT_VA_TYPE_VA, &lmr, &segment.lmr_context, nullptr, nullptr, nullptr));
  segment.virtual_address = reinterpret_cast<std::uintptr_t>(memory.data());
  segment.segment_length = 64;
  DAT_SRQ_ATTR attributes{.max_recv_dtos = 16, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  require(dat_srq_create(ia, pz, &attributes, &srq));
  for (int i = 0; i < 3; ++i) require(dat_srq_post_recv(srq, 1, &segment, {}));
  require(dat_evd_create(ia, 32, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &events));
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  for (int i = 0; i < 5; ++i) require(dat_evd_post_se(events, &event));
  for (int i = 0; i < 2; ++i) require(dat_evd_dequeue(events, &event));
  void* const pinned = ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pinned == MAP_FAILED || ::syscall(SYS_mlock, pinned, 65536) != 0) std::exit(1);
  require(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connections));
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  require(dat_ep_create(ia, pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, connections, nullptr, &ep));
  DAT_IA_ATTR adapter;
  require(dat_ia_query(ia, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &adapter, 0, nullptr));
  constexpr DAT_CONN_QUAL kNobody = 0xBE7C5;
  require(dat_ep_connect(ep, adapter.ia_address_ptr, kNobody, DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG));
  DAT_COUNT more = 0;
  require(dat_evd_wait(connections, DAT_TIMEOUT_INFINITE, 1, &event, &more));
}

void obey(SelfPair& pair, const std::string& word) {
  if (word == "work") work(pair);
  if (word == "burst") burst(pair);
  if (word == "objects") show_objects();
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
