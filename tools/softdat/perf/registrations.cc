// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/registrations.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "tools/softdat/dat_call.h"

namespace softdat::tools::perf {
namespace {

constexpr std::uint64_t kMostFreshMemory = std::uint64_t{256} << 20;
constexpr std::size_t kPage = 4096;

std::size_t round_to_page(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

std::uint64_t count_of(const Case& what, bool is_fresh) {
  if (!is_fresh) return what.iterations;
  return std::min(what.iterations, std::max<std::uint64_t>(kMostFreshMemory / round_to_page(what.size), 1));
}

// Mapped, because malloc may take the block from a heap, and memory of heaps is never moved. Every page is there before
// anything is timed.
std::uint8_t* map_memory(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::uint8_t*>(std::memset(memory, 1, bytes));
}

}  // namespace

Registrations::Registrations(const Adapter& adapter, Lanes& lanes, const Case& what, LivenessCheck check)
    : adapter_(adapter),
      lanes_(lanes),
      what_(what),
      check_(std::move(check)),
      count_(count_of(what, lanes.setup().fresh_memory)),
      places_(lanes.setup().fresh_memory ? count_ : what.window),
      step_(round_to_page(what.size)),
      memory_(map_memory(places_ * step_)),
      regions_(what.window, DAT_HANDLE_NULL) {}

// After a failure: the memory goes, so nothing may be registered in it.
Registrations::~Registrations() {
  for (const DAT_LMR_HANDLE region : regions_) {
    if (region != DAT_HANDLE_NULL) dat_lmr_free(region);
  }
  ::munmap(memory_, places_ * step_);
}

void Registrations::run() {
  std::uint64_t begun = 0;
  for (std::uint64_t ended = 0; ended < count_; ++ended) {
    while (begun < count_ && begun - ended < what_.window) begin(begun++);
    end_one();
  }
}

void Registrations::begin(std::uint64_t number) {
  const std::uint64_t slot = number % what_.window;
  DAT_REGION_DESCRIPTION at{};
  at.for_va = memory_ + number % places_ * step_;
  Post request = lanes_.prepare(Operation::kWrite, 0, what_.size, 1);
  DAT_RMR_CONTEXT rmr_context = 0;
  require(dat_lmr_create(adapter_.ia(), DAT_MEM_TYPE_VIRTUAL, at, what_.size, adapter_.pz(), DAT_MEM_PRIV_ALL_FLAG,
                         DAT_VA_TYPE_VA, &regions_[slot], &request.segment.lmr_context, &rmr_context, nullptr, nullptr),
          "dat_lmr_create");
  request.segment.virtual_address = reinterpret_cast<std::uintptr_t>(at.for_va);
  request.cookie.as_64 = slot;
  lanes_.post(request);
}

void Registrations::end_one() {
  DAT_EVENT event;
  lanes_.requests().take(lanes_.setup().waiting, check_, event);
  DAT_LMR_HANDLE& region = regions_[completion_of(event).user_cookie.as_64];
  require(dat_lmr_free(std::exchange(region, DAT_LMR_HANDLE{DAT_HANDLE_NULL})), "dat_lmr_free");
}

}  // namespace softdat::tools::perf
