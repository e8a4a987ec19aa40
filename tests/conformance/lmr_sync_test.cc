// SPDX-License-Identifier: BSD-2-Clause
// dat_lmr_sync_rdma_read and dat_lmr_sync_rdma_write: nothing has to be flushed here, but what they
// are given is looked at as their pages say.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <limits>
#include <vector>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

using Sync = DAT_RETURN (*)(DAT_IA_HANDLE, const DAT_LMR_TRIPLET*, DAT_VLEN);

struct Direction {
  const char* name;
  Sync sync;
};

std::ostream& operator<<(std::ostream& out, const Direction& direction) {
  return out << direction.name;
}

class LmrSync : public testing::TestWithParam<Direction> {
 protected:
  DAT_RETURN sync(std::vector<DAT_LMR_TRIPLET> segments) {
    return GetParam().sync(peer_.adapter.handle(), segments.data(), segments.size());
  }

  Peer peer_{kServerName};
  Memory& memory_ = *peer_.memory;
};

TEST_P(LmrSync, SegmentsWithinTheirRegionsSucceed) {
  EXPECT_THAT(sync({memory_.local(0, memory_.size())}), succeeds());
  EXPECT_THAT(sync({memory_.local(10, 1), memory_.local(memory_.size() - 1, 1), memory_.local(0, 0)}), succeeds());
}

// "entries need not contain the same LMR and need not be in the same Protection Zone"
TEST_P(LmrSync, SegmentsOfManyRegionsAndZonesGoTogether) {
  Memory other(peer_.adapter.handle(), peer_.adapter.make_pz(), 4096);
  Memory unprivileged(peer_.adapter.handle(), peer_.pz, 4096, DAT_MEM_PRIV_NONE_FLAG);
  EXPECT_THAT(sync({memory_.local(0, 64), other.local(0, 4096), unprivileged.local(1, 2)}), succeeds());
}

// "the address range for a local segment fell outside the boundaries of the corresponding Local
// Memory Region"
TEST_P(LmrSync, SegmentOutsideItsRegionIsInvalid) {
  const auto invalid = fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  EXPECT_THAT(sync({make_local(memory_.data() + memory_.size() - 1, 2, memory_.lmr_context())}), invalid);
  EXPECT_THAT(sync({make_local(memory_.data() - 1, 2, memory_.lmr_context())}), invalid);
  EXPECT_THAT(sync({make_local(memory_.data() + memory_.size(), 1, memory_.lmr_context())}), invalid);
  DAT_LMR_TRIPLET wrapping = memory_.local(0, 64);
  wrapping.virtual_address = std::numeric_limits<DAT_VADDR>::max() - 8;
  EXPECT_THAT(sync({wrapping}), invalid);
  EXPECT_THAT(sync({memory_.local(0, 64), wrapping, memory_.local(0, 64)}), invalid);
}

// "or the LMR handle was invalid"
TEST_P(LmrSync, SegmentOfNoRegionIsInvalid) {
  const auto invalid = fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  EXPECT_THAT(sync({make_local(memory_.data(), 64, 0)}), invalid);
  EXPECT_THAT(sync({make_local(memory_.data(), 64, memory_.lmr_context() ^ 0x00ffff00u)}), invalid);
  const DAT_LMR_TRIPLET freed = memory_.local(0, 64);
  memory_.deregister();
  EXPECT_THAT(sync({freed}), invalid);
}

TEST_P(LmrSync, NothingIsSynchronizedWithoutSegments) {
  EXPECT_THAT(GetParam().sync(peer_.adapter.handle(), nullptr, 0), succeeds());
  EXPECT_THAT(GetParam().sync(peer_.adapter.handle(), nullptr, 1), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST_P(LmrSync, ThousandsOfSegmentsAreBatched) {
  std::vector<DAT_LMR_TRIPLET> segments;
  for (std::size_t i = 0; i < 5000; ++i) segments.push_back(memory_.local(i, 64));
  EXPECT_THAT(sync(segments), succeeds());
  segments.back() = make_local(memory_.data(), memory_.size() + 1, memory_.lmr_context());
  EXPECT_THAT(sync(segments), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST_P(LmrSync, CountBeyondTheArrayIsInvalid) {
  void* mapped = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  munmap(static_cast<char*>(mapped) + 4096, 4096);
  // A page of empty segments, and more claimed than are there.
  const auto* segments = static_cast<const DAT_LMR_TRIPLET*>(mapped);
  for (const DAT_VLEN count : {DAT_VLEN{1} << 20, DAT_VLEN{0x7fffffff}, std::numeric_limits<DAT_VLEN>::max()}) {
    EXPECT_THAT(GetParam().sync(peer_.adapter.handle(), segments, count),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  }
  munmap(mapped, 4096);
}

TEST_P(LmrSync, HandleMustBeAnAdapter) {
  const DAT_LMR_TRIPLET segment = memory_.local(0, 64);
  const auto invalid = fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
  EXPECT_THAT(GetParam().sync(DAT_HANDLE_NULL, &segment, 1), invalid);
  EXPECT_THAT(GetParam().sync(peer_.pz, &segment, 1), invalid);
}

INSTANTIATE_TEST_SUITE_P(Every, LmrSync,
                         testing::Values(Direction{"Read", dat_lmr_sync_rdma_read},
                                         Direction{"Write", dat_lmr_sync_rdma_write}),
                         [](const auto& which) { return std::string(which.param.name); });

// What was written before a message reaches the peer's reads after it, with these calls or without.
TEST(LmrSyncOfAConnection, PeerReadsWhatWasWrittenBeforeTheCall) {
  ConnectedPair pair;
  for (unsigned round = 0; round < 20; ++round) {
    pair.server.memory->fill(0, 4096, round);
    const DAT_LMR_TRIPLET changed = pair.server.memory->local(0, 4096);
    ASSERT_THAT(dat_lmr_sync_rdma_read(pair.server.adapter.handle(), &changed, 1), succeeds());
    ASSERT_THAT(pair.client.post_read(0, 4096, pair.server.memory->remote(0, 4096)), succeeds());
    ASSERT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
    EXPECT_TRUE(pair.client.memory->holds(0, 4096, round));
  }
}

// "After this call returns, the Consumer may safely see the modified contents of the memory range."
TEST(LmrSyncOfAConnection, ConsumerSeesWhatWasWrittenBeforeTheCall) {
  ConnectedPair pair;
  for (unsigned round = 0; round < 20; ++round) {
    pair.client.memory->fill(0, 4096, round);
    ASSERT_THAT(pair.server.post_recv(8192, 64), succeeds());
    ASSERT_THAT(pair.client.post_write(0, 4096, pair.server.memory->remote(0, 4096)), succeeds());
    ASSERT_THAT(pair.client.post_send(0, 64), succeeds());
    ASSERT_EQ(next_completion(pair.server.recv_evd).status, DAT_DTO_SUCCESS);
    const DAT_LMR_TRIPLET changed = pair.server.memory->local(0, 4096);
    ASSERT_THAT(dat_lmr_sync_rdma_write(pair.server.adapter.handle(), &changed, 1), succeeds());
    EXPECT_TRUE(pair.server.memory->holds(0, 4096, round));
    for (int i = 0; i < 2; ++i) ASSERT_EQ(next_completion(pair.client.request_evd).status, DAT_DTO_SUCCESS);
  }
}

}  // namespace
}  // namespace softdat::conformance
