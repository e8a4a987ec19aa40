// SPDX-License-Identifier: BSD-2-Clause
// Windows and regions made, bound, asked and freed by many threads at once, while a peer transfers.
#include <atomic>
#include <thread>

#include "tests/conformance/rmr_world.h"

namespace softdat::conformance {
namespace {

constexpr int kRounds = 200;

class RmrThreads : public RmrWorld {
 protected:
  RmrThreads() : RmrWorld(roomy()) {}

  static PeerOptions roomy() {
    PeerOptions options;
    options.queue_length = 4096;
    options.attributes = default_attributes();
    options.attributes->max_request_dtos = 512;
    return options;
  }

  // Posts until there is room.
  void bind_surely(DAT_RMR_HANDLE rmr, const DAT_LMR_TRIPLET& piece, DAT_LMR_HANDLE lmr) {
    DAT_RMR_CONTEXT context = 0;
    DAT_RETURN answer = DAT_SUCCESS;
    const bool is_posted = eventually([&] {
      answer = bind(rmr, piece, kReadAndWrite, &context, DAT_COMPLETION_SUPPRESS_FLAG, 1, lmr);
      return type_of(answer) != DAT_INSUFFICIENT_RESOURCES;
    });
    EXPECT_TRUE(is_posted);
    EXPECT_THAT(answer, succeeds());
  }
};

TEST_F(RmrThreads, EveryThreadMakesBindsAndFreesItsOwn) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 0, 64);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const DAT_RMR_HANDLE rmr = make_rmr();
        bind_surely(rmr, server_.memory->local(0, 64), server_.memory->lmr());
        EXPECT_EQ(query(rmr).pz_handle, server_.pz);
        EXPECT_THAT(dat_rmr_free(rmr), succeeds());
      }
    });
  }
  for (int i = 0; i < kRounds; ++i) EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
}

TEST_F(RmrThreads, ThreadsShareOneRmr) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        const std::size_t length = (i + t) % 3 == 0 ? 0 : 64;
        bind_surely(rmr, server_.memory->local(0, length), server_.memory->lmr());
        const DAT_RMR_PARAM now = query(rmr);
        EXPECT_EQ(now.rmr_context != 0, now.lmr_triplet.segment_length == 64);
      }
    });
  }
  threads.clear();
  unbind(rmr);
  EXPECT_THAT(dat_lmr_free(server_.memory->lmr()), succeeds());
}

// Freeing the LMR either comes before the bind, which then names nothing, or is refused.
TEST_F(RmrThreads, BindingRacesWithFreeingTheLmr) {
  for (int i = 0; i < kRounds; ++i) {
    Memory memory(server_.adapter.handle(), server_.pz, 4096);
    const DAT_RMR_HANDLE rmr = make_rmr();
    const DAT_LMR_TRIPLET piece = memory.local(0, 64);
    const DAT_LMR_HANDLE lmr = memory.lmr();
    DAT_RETURN freed = DAT_SUCCESS;
    DAT_RMR_CONTEXT context = 0;
    std::jthread freer([&] { freed = dat_lmr_free(lmr); });
    const DAT_RETURN done = bind(rmr, piece, kReadAndWrite, &context, DAT_COMPLETION_SUPPRESS_FLAG, 1, lmr);
    freer.join();
    if (done == DAT_SUCCESS) {
      EXPECT_THAT(freed, fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE));
    } else {
      EXPECT_THAT(freed, succeeds());
      EXPECT_THAT(done, testing::AnyOf(fails_with(DAT_INVALID_HANDLE), fails_with(DAT_INVALID_PARAMETER)));
    }
    EXPECT_THAT(dat_rmr_free(rmr), succeeds());
  }
}

// Whoever frees first, the other is told; the peer goes on.
TEST_F(RmrThreads, FreeingRacesWithFreeingAndBinding) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 0, 64);
  for (int i = 0; i < kRounds; ++i) {
    const DAT_RMR_HANDLE rmr = make_rmr();
    std::atomic<int> freed = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 2; ++t) threads.emplace_back([&] { freed += dat_rmr_free(rmr) == DAT_SUCCESS ? 1 : 0; });
      DAT_RMR_CONTEXT other = 0;
      static_cast<void>(bind(rmr, server_.memory->local(0, 64), kReadAndWrite, &other, DAT_COMPLETION_SUPPRESS_FLAG));
    }
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
  }
}

TEST_F(RmrThreads, RegionsAreMadeAndFreedWhileThePeerTransfers) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        Memory memory(server_.adapter.handle(), server_.pz, 4096);
        const DAT_LMR_TRIPLET piece = memory.local(0, 4096);
        EXPECT_THAT(dat_lmr_sync_rdma_read(server_.adapter.handle(), &piece, 1), succeeds());
      }
    });
  }
  for (int i = 0; i < kRounds; ++i) EXPECT_EQ(write(server_.memory->rmr_context(), 0), DAT_DTO_SUCCESS);
}

}  // namespace
}  // namespace softdat::conformance
