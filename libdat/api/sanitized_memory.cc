// SPDX-License-Identifier: BSD-2-Clause
// Registered memory under the sanitizer. The consumer sees lmr_contexts with a mark, so that they differ from
// rmr_contexts.
#include <algorithm>
#include <tuple>
#include <vector>

#include "libdat/api/watched_call.h"
#include "libdat/object/memory_probe.h"
#include "libdat/object/memory_region.h"
#include "libdat/sanitize/marks.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::MemoryRegion;
using sanitize::kLocalMark;
using sanitize::Ledger;
using sanitize::LedgerGuards;
using sanitize::Site;

// The number of arguments differs between the APIs; the last five are outputs in both.
template <auto kSlot, typename Pointer>
struct Register;
template <auto kSlot, typename... Arguments>
struct Register<kSlot, DAT_RETURN (*)(Arguments...)> {
  static DAT_RETURN call(Arguments... arguments) {
    const WatchedCall call("dat_lmr_create", __builtin_return_address(0));
    make_usable(std::tuple(arguments...));
    const DAT_RETURN answer = (next_entries.*kSlot)(arguments...);
    if (answer == DAT_SUCCESS) note_outputs(call.site(), std::tuple(arguments...));
    return call.finish(answer, {handle_or_null<Arguments>(arguments)...});
  }

 private:
  // The adapter looks at the memory.
  static void make_usable(const std::tuple<Arguments...>& all) {
    if (std::get<1>(all) != DAT_MEM_TYPE_VIRTUAL) return;
    LedgerGuards::before_registration(reinterpret_cast<std::uintptr_t>(std::get<2>(all).for_va), std::get<3>(all));
  }

  static void note_outputs(const Site& site, const std::tuple<Arguments...>& all) {
    constexpr std::size_t kOutputs = sizeof...(Arguments) - 5;
    const DAT_LMR_HANDLE* const lmr = std::get<kOutputs>(all);
    DAT_LMR_CONTEXT* const lmr_context = std::get<kOutputs + 1>(all);
    if (lmr_context != nullptr) *lmr_context ^= kLocalMark;
    const auto region = pin_handle<MemoryRegion>(*lmr);
    if (region) note([&](Ledger& ledger) { ledger.regions().on_registered(region->query(), *lmr, site); });
  }
};

struct Queries : NoHooks {
  static void after(Ledger&, const Site&, DAT_LMR_HANDLE, DAT_LMR_PARAM_MASK, DAT_LMR_PARAM* parameters) {
    parameters->lmr_context ^= kLocalMark;
  }
};

struct QueriesWindow : NoHooks {
  static void after(Ledger&, const Site&, DAT_RMR_HANDLE, DAT_RMR_PARAM_MASK, DAT_RMR_PARAM* parameters) {
    // 0: the window is not bound.
    if (parameters->lmr_triplet.lmr_context != 0) parameters->lmr_triplet.lmr_context ^= kLocalMark;
  }
};

struct Deregisters : NoHooks {
  static void before(Ledger& ledger, const Site& site, DAT_LMR_HANDLE lmr) {
    ledger.regions().before_deregistration(lmr, site);
  }
  static void after(Ledger& ledger, const Site& site, DAT_LMR_HANDLE lmr) {
    ledger.regions().on_deregistered(lmr, site);
    ledger.objects().on_freed(lmr, site);
  }
};

void note_bind(DAT_RETURN answer, DAT_EP_HANDLE ep, DAT_COMPLETION_FLAGS flags) {
  if (answer != DAT_SUCCESS || (number_of(flags) & DAT_COMPLETION_SUPPRESS_FLAG) != 0) return;
  note([&](Ledger& ledger) { ledger.endpoints().on_bound(ep); });
}

// Tells the ledger the memory of a window as a local segment.
void note_window(DAT_RETURN answer, DAT_RMR_HANDLE rmr, const DAT_RMR_CONTEXT* context, const DAT_LMR_TRIPLET& memory,
                 bool is_zero_based) {
  if (answer != DAT_SUCCESS || context == nullptr) return;
  const auto length = std::min<DAT_VLEN>(memory.segment_length, UINT32_MAX);
  const object::Segment segment{
      .address = memory.virtual_address, .length = static_cast<std::uint32_t>(length), .lkey = memory.lmr_context};
  note([&](Ledger& ledger) { ledger.regions().on_window(rmr, *context, segment, is_zero_based); });
}

DAT_LMR_TRIPLET plain(const DAT_LMR_TRIPLET* triplet) {
  DAT_LMR_TRIPLET copy{};
  if (triplet == nullptr) return copy;
  copy = *triplet;
  copy.lmr_context ^= kLocalMark;
  return copy;
}

#if SOFTDAT_ABI == 20
DAT_RETURN bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET* triplet, DAT_MEM_PRIV_FLAGS privileges,
                DAT_VA_TYPE va_type, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
                DAT_RMR_CONTEXT* context) {
  const WatchedCall call("dat_rmr_bind", __builtin_return_address(0));
  const DAT_LMR_TRIPLET copy = plain(triplet);
  const DAT_RETURN answer = next_entries.rmr_bind_func(rmr, lmr, triplet == nullptr ? nullptr : &copy, privileges,
                                                       va_type, ep, cookie, flags, context);
  note_bind(answer, ep, flags);
  note_window(answer, rmr, context, copy, va_type == DAT_VA_TYPE_ZB);
  return call.finish(answer, {rmr, lmr, ep});
}
#else
DAT_RETURN bind(DAT_RMR_HANDLE rmr, const DAT_LMR_TRIPLET* triplet, DAT_MEM_PRIV_FLAGS privileges, DAT_EP_HANDLE ep,
                DAT_RMR_COOKIE cookie, DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  const WatchedCall call("dat_rmr_bind", __builtin_return_address(0));
  const DAT_LMR_TRIPLET copy = plain(triplet);
  const DAT_RETURN answer =
      next_entries.rmr_bind_func(rmr, triplet == nullptr ? nullptr : &copy, privileges, ep, cookie, flags, context);
  note_bind(answer, ep, flags);
  note_window(answer, rmr, context, copy, false);
  return call.finish(answer, {rmr, ep});
}
#endif

template <auto kSlot, Literal kName>
DAT_RETURN synchronize(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  constexpr DAT_VLEN kMost = 1 << 20;
  const WatchedCall call(kName.text, __builtin_return_address(0));
  const bool is_there = segments != nullptr && count <= kMost &&
                        object::is_readable(reinterpret_cast<std::uintptr_t>(segments), count * sizeof *segments);
  // The entry point refuses what it cannot read.
  if (!is_there) return call.finish((next_entries.*kSlot)(ia, segments, count), {ia});
  DAT_RETURN answer = DAT_SUCCESS;
  note([&](Ledger&) {
    std::vector<DAT_LMR_TRIPLET> copies;
    std::transform(segments, segments + count, std::back_inserter(copies),
                   [](const auto& each) { return plain(&each); });
    answer = (next_entries.*kSlot)(ia, copies.data(), count);
  });
  return call.finish(answer, {ia});
}

}  // namespace

void watch_memory(DAT_PROVIDER& table) {
  table.lmr_create_func = Register<&DAT_PROVIDER::lmr_create_func, decltype(table.lmr_create_func)>::call;
  SOFTDAT_WATCH(lmr_query, Queries);
  SOFTDAT_WATCH(lmr_free, Deregisters);
  SOFTDAT_WATCH(rmr_query, QueriesWindow);
  table.rmr_bind_func = bind;
  table.lmr_sync_rdma_read_func = synchronize<&DAT_PROVIDER::lmr_sync_rdma_read_func, "dat_lmr_sync_rdma_read">;
  table.lmr_sync_rdma_write_func = synchronize<&DAT_PROVIDER::lmr_sync_rdma_write_func, "dat_lmr_sync_rdma_write">;
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
