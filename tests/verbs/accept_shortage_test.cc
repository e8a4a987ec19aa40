// SPDX-License-Identifier: BSD-2-Clause
// An answer for which there is no memory leaves the request with whoever had it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/verbs/stand.h"

namespace {

// How many more allocations of this thread succeed; negative: all.
thread_local int allocations_left = -1;

}  // namespace

// Not inline: GCC would take what they call for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace softdat::verbs {
namespace {

// Whether it could be answered with so many allocations.
bool accept_with(QueuePair& queue_pair, CmEvent& request, int allocations) {
  allocations_left = allocations;
  bool is_accepted = false;
  try {
    is_accepted = queue_pair.accept(request, {}).ok();
  } catch (const std::bad_alloc&) {
    is_accepted = false;
  }
  allocations_left = -1;
  return is_accepted;
}

TEST(AcceptShortageTest, RequestBelongsToOneOfTheTwo) {
  bool is_accepted = false;
  for (int allocations = 0; !is_accepted; ++allocations) {
    ASSERT_LT(allocations, 100);
    CmEvent request{.type = RDMA_CM_EVENT_CONNECT_REQUEST};
    const int before = fake::ids_alive();
    {
      Stand stand;
      Hearer consumer;
      const auto queue = stand.make_cq(8);
      const auto queue_pair = stand.make_qp(*queue, 4, &consumer);
      request.id = fake::make_id();
      is_accepted = accept_with(*queue_pair, request, allocations);
    }
    // With the stand its thread has ended, which destroys what was given to it.
    ASSERT_EQ(fake::ids_alive() - before, request.id == nullptr ? 0 : 1) << allocations;
    if (request.id != nullptr) Stand::library().destroy_id(request.id);
  }
  EXPECT_EQ(fake::ids_alive(), 0);
}

}  // namespace
}  // namespace softdat::verbs
