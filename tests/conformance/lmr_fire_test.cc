// SPDX-License-Identifier: BSD-2-Clause
// Memory is registered while others use it, and freed while a peer writes into it.
//
// SOFTDAT_TEST_ROUNDS sets the number of rounds (some otherwise).
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/remote_peer.h"

namespace softdat::conformance {
namespace {

unsigned rounds_from_environment(unsigned otherwise) {
  const char* text = std::getenv("SOFTDAT_TEST_ROUNDS");
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

// A thread that adds one to words of its own, pass after pass, until it is told to end.
class Counter {
 public:
  Counter(std::span<std::uint64_t> words, std::size_t first, std::size_t stride)
      : words_(words), first_(first), stride_(stride), thread_([this] { run(); }) {}

  void await_start() const {
    while (passes_.load() == 0) std::this_thread::yield();
  }
  // Whether every word has been counted up by each pass.
  bool is_right_at_end() {
    is_over_.store(true);
    thread_.join();
    for (std::size_t i = first_; i < words_.size(); i += stride_) {
      if (words_[i] != passes_.load()) return false;
    }
    return true;
  }

 private:
  void run() {
    while (!is_over_.load()) {
      for (std::size_t i = first_; i < words_.size(); i += stride_) ++words_[i];
      passes_.fetch_add(1);
    }
  }

  const std::span<std::uint64_t> words_;
  const std::size_t first_;
  const std::size_t stride_;
  std::atomic<bool> is_over_{false};
  std::atomic<std::uint64_t> passes_{0};
  std::thread thread_;
};

class FreshPages {
 public:
  explicit FreshPages(std::size_t length) : length_(length) {
    data_ = ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) throw SetupFailure("no memory");
  }
  ~FreshPages() { ::munmap(data_, length_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;

  std::span<std::uint64_t> words() const {
    return {static_cast<std::uint64_t*>(data_), length_ / sizeof(std::uint64_t)};
  }

 private:
  const std::size_t length_;
  void* data_ = nullptr;
};

TEST(LmrFire, RegisteringLosesNothingThatThreadsStoreMeanwhile) {
  Adapter adapter;
  const DAT_PZ_HANDLE pz = adapter.make_pz();
  const unsigned rounds = rounds_from_environment(10);
  for (unsigned round = 0; round < rounds; ++round) {
    // Fresh pages each time, and malloc's, which neighbours share.
    constexpr std::size_t kFresh = 320'000;
    const FreshPages pages(kFresh);
    std::vector<std::uint64_t> small(300);
    const std::span<std::uint64_t> words = round % 2 == 0 ? pages.words() : std::span(small);
    Counter odd(words, 1, 2);
    Counter even(words, 0, 2);
    odd.await_start();
    even.await_start();
    DAT_REGION_DESCRIPTION region{};
    region.for_va = words.data();
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT lmr_context = 0;
    DAT_RMR_CONTEXT rmr_context = 0;
    require(create_lmr(adapter.handle(), DAT_MEM_TYPE_VIRTUAL, region, words.size() * sizeof(std::uint64_t), pz,
                       DAT_MEM_PRIV_ALL_FLAG, &lmr, &lmr_context, &rmr_context, nullptr, nullptr),
            "dat_lmr_create");
    require(dat_lmr_free(lmr), "dat_lmr_free");
    EXPECT_TRUE(odd.is_right_at_end()) << "round " << round;
    EXPECT_TRUE(even.is_right_at_end()) << "round " << round;
  }
}

// "When dat_lmr_free returns" nobody touches the memory, though a peer writes into it without a pause.
TEST(LmrFire, FreedMemoryIsTheOwnersAgain) {
  if (const Lack lack = lack_of_other_processes(); !lack.empty()) GTEST_SKIP() << lack;
  constexpr unsigned char kOurs = 0x55;
  const unsigned rounds = rounds_from_environment(20);
  Peer owner(kClientName);
  RemotePeer gunner;
  gunner.connect(owner);
  gunner.tell("fire " + std::to_string(rounds));
  require(dat_ep_disconnect(owner.ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
  for (unsigned round = 0; round < rounds; ++round) {
    next_event(owner.connect_evd);
    drain(owner.adapter.async_evd());
    require(dat_ep_reset(owner.ep), "dat_ep_reset");
    Memory target(owner.adapter.handle(), owner.pz, kFired);
    const unsigned char* const last = target.data() + kFired - sizeof(std::uint64_t);
    const MemoryOffer offer{reinterpret_cast<std::uintptr_t>(target.data()), target.rmr_context()};
    const auto* bytes = reinterpret_cast<const char*>(&offer);
    require(gunner.request(owner, std::string_view(bytes, sizeof offer)), "dat_ep_connect");
    next_event(owner.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    ASSERT_TRUE(eventually([&] { return foreign_word(last) != 0; }))
        << "round " << round << ", endpoint state " << owner.state();
    target.deregister();
    std::memset(target.data(), kOurs, kFired);
    EXPECT_TRUE(eventually([&] { return owner.state() == DAT_EP_STATE_DISCONNECTED; }));
    for (std::size_t i = 0; i < kFired; ++i) ASSERT_EQ(target.data()[i], kOurs) << "round " << round << " byte " << i;
  }
}

}  // namespace
}  // namespace softdat::conformance
