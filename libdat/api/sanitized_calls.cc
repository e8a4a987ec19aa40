// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/sanitized_calls.h"

#include <algorithm>
#include <mutex>

#include "hca/memory_observer.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/watched_call.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

constinit DAT_PROVIDER next_entries{};

namespace {

using object::Kind;
using sanitize::Ledger;
using sanitize::Site;

// The two kinds of entries that open an IA. Written before the registry has the table.
DAT_IA_OPEN_FUNC next_open[2];

template <typename Only>
Only last_of(Only only) {
  return only;
}
template <typename First, typename... Rest>
auto last_of(First, Rest... rest) {
  return last_of(rest...);
}

template <typename First, typename... Rest>
First first_of(First first, Rest...) {
  return first;
}

void note_made(Ledger& ledger, Handle handle, Kind kind, const Site& site) {
  const auto object = object::HandleTable::instance().pin_any(handle);
  // Another thread may have freed it already.
  if (object) ledger.objects().on_made(handle, kind, object->ia_handle(), site);
}

// The last argument is where the new handle is written.
template <Kind kKind>
struct Makes : NoHooks {
  template <typename... Arguments>
  static void after(Ledger& ledger, const Site& site, Arguments... arguments) {
    note_made(ledger, *last_of(arguments...), kKind, site);
  }
};

// The first argument is the handle that ends.
struct Ends : NoHooks {
  template <typename... Arguments>
  static void after(Ledger& ledger, const Site& site, Arguments... arguments) {
    ledger.objects().on_freed(first_of(arguments...), site);
    ledger.private_data().end(first_of(arguments...), site);
  }
};

struct EndsEp : Ends {
  // Before the call, while the EP can still be asked for its state.
  static void before(Ledger& ledger, const Site& site, DAT_EP_HANDLE ep) { ledger.endpoints().before_free(ep, site); }
};

struct EndsEvd : Ends {
  // Before the call, because the events that are left in the EVD are looked at.
  static void before(Ledger& ledger, const Site&, DAT_EVD_HANDLE evd) { ledger.events().before_evd_free(evd); }
};

struct EndsRequest : Ends {
  template <typename... Arguments>
  static void after(Ledger& ledger, const Site& site, DAT_CR_HANDLE request, DAT_EP_HANDLE ep, Arguments...) {
    ledger.objects().on_freed(request, site);
    ledger.private_data().end(request, site);
    ledger.endpoints().on_reconfigured(ep);
  }
};

struct Reconfigures : NoHooks {
  template <typename... Arguments>
  static void after(Ledger& ledger, const Site&, DAT_EP_HANDLE ep, Arguments...) {
    ledger.endpoints().on_reconfigured(ep);
  }
};

struct Disconnects : NoHooks {
  static void before(Ledger& ledger, const Site& site, DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags) {
    ledger.endpoints().before_disconnect(ep, number_of(flags) == DAT_CLOSE_GRACEFUL_FLAG, site);
  }
  static void after(Ledger& ledger, const Site& site, DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS) {
    ledger.endpoints().on_disconnected(ep, site);
  }
};

struct SeesStatus : NoHooks {
  template <typename... Arguments>
  static void after(Ledger& ledger, const Site& site, DAT_EP_HANDLE ep, Arguments...) {
    ledger.endpoints().on_status_seen(ep, site);
  }
};

struct Resets : NoHooks {
  static void after(Ledger& ledger, const Site& site, DAT_EP_HANDLE ep) {
    ledger.endpoints().on_reset(ep);
    ledger.private_data().end(ep, site);
  }
};

struct QueriesRequest : NoHooks {
  template <typename Mask>
  static void after(Ledger& ledger, const Site& site, DAT_CR_HANDLE request, Mask, DAT_CR_PARAM* parameters) {
    const auto length = static_cast<std::size_t>(parameters->private_data_size);
    // In mode full the program gets a copy, which is guarded when the request ends.
    parameters->private_data =
        const_cast<void*>(ledger.private_data().watch(request, parameters->private_data, length, site));
  }
};

template <bool kIsThreadSafe>
DAT_RETURN open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE* async_evd, DAT_IA_HANDLE* ia) {
  const WatchedCall call("dat_ia_open", __builtin_return_address(0));
  const bool is_made = async_evd != nullptr && *async_evd == nullptr;
  // Before the call, because the adapter looks for an observer when it opens.
  if (sanitize::mode() != sanitize::Mode::kCompletions) {
    note([](Ledger& ledger) { hca::memory_observer.store(&ledger.stores()); });
  }
  const DAT_RETURN answer = next_open[kIsThreadSafe](name, qlen, async_evd, ia);
  if (answer != DAT_SUCCESS) return answer;
  note([&](Ledger& ledger) {
    make_void_handle(*static_cast<const void* const*>(*ia));
    note_made(ledger, *ia, Kind::kIa, call.site());
    if (is_made) note_made(ledger, *async_evd, Kind::kEvd, call.site());
  });
  return answer;
}

DAT_RETURN close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags) {
  const WatchedCall call("dat_ia_close", __builtin_return_address(0));
  const bool is_graceful = number_of_argument(flags) == DAT_CLOSE_GRACEFUL_FLAG;
  // Two questions, because the program may pass a value that is neither.
  const bool is_abrupt = number_of_argument(flags) == DAT_CLOSE_ABRUPT_FLAG;
  // Before the call, while the objects can still be asked.
  note([&](Ledger& ledger) {
    ledger.closes().before_close(ia, call.site());
    if (is_abrupt) ledger.closes().before_abrupt_close(ia, call.site());
  });
  const DAT_RETURN answer = next_entries.ia_close_func(ia, flags);
  note([&](Ledger& ledger) {
    if (answer == DAT_SUCCESS) ledger.closes().on_closed(ia, is_graceful, call.site());
    if (answer != DAT_SUCCESS && is_graceful) ledger.closes().on_close_refused(ia, call.site());
  });
  return call.finish(answer, {ia});
}

void watch_objects(DAT_PROVIDER& table) {
  SOFTDAT_WATCH(cno_create, Makes<Kind::kCno>);
  SOFTDAT_WATCH(cno_free, Ends);
  SOFTDAT_WATCH(evd_create, Makes<Kind::kEvd>);
  SOFTDAT_WATCH(evd_free, EndsEvd);
  SOFTDAT_WATCH(ep_create, Makes<Kind::kEp>);
  SOFTDAT_WATCH(ep_create_with_srq, Makes<Kind::kEp>);
  SOFTDAT_WATCH(ep_free, EndsEp);
  SOFTDAT_WATCH(rmr_create, Makes<Kind::kRmr>);
  SOFTDAT_WATCH(rmr_free, Ends);
  SOFTDAT_WATCH(psp_create, Makes<Kind::kPsp>);
  SOFTDAT_WATCH(psp_free, Ends);
  SOFTDAT_WATCH(rsp_create, Makes<Kind::kRsp>);
  SOFTDAT_WATCH(rsp_free, Ends);
  SOFTDAT_WATCH(pz_create, Makes<Kind::kPz>);
  SOFTDAT_WATCH(pz_free, Ends);
  SOFTDAT_WATCH(psp_create_any, Makes<Kind::kPsp>);
  SOFTDAT_WATCH(srq_create, Makes<Kind::kSrq>);
  SOFTDAT_WATCH(srq_free, Ends);
#if SOFTDAT_ABI == 20
  SOFTDAT_WATCH(csp_create, Makes<Kind::kCsp>);
  SOFTDAT_WATCH(csp_free, Ends);
  SOFTDAT_WATCH(rmr_create_for_ep, Makes<Kind::kRmr>);
  SOFTDAT_WATCH(cno_fd_create, Makes<Kind::kCno>);
#endif
}

void watch_connections(DAT_PROVIDER& table) {
  SOFTDAT_WATCH(cr_query, QueriesRequest);
  SOFTDAT_WATCH(cr_accept, EndsRequest);
  SOFTDAT_WATCH(cr_reject, Ends);
  SOFTDAT_WATCH(cr_handoff, Ends);
  SOFTDAT_WATCH(ep_query, SeesStatus);
  SOFTDAT_WATCH(ep_modify, Reconfigures);
  SOFTDAT_WATCH(ep_connect, NoHooks);
  SOFTDAT_WATCH(ep_dup_connect, NoHooks);
  SOFTDAT_WATCH(ep_disconnect, Disconnects);
  SOFTDAT_WATCH(ep_get_status, SeesStatus);
  SOFTDAT_WATCH(ep_reset, Resets);
  SOFTDAT_WATCH(psp_query, NoHooks);
  SOFTDAT_WATCH(rsp_query, NoHooks);
  SOFTDAT_WATCH(pz_query, NoHooks);
  SOFTDAT_WATCH(srq_query, NoHooks);
  SOFTDAT_WATCH(srq_resize, NoHooks);
  SOFTDAT_WATCH(srq_set_lw, NoHooks);
#if SOFTDAT_ABI == 20
  SOFTDAT_WATCH(csp_query, NoHooks);
  SOFTDAT_WATCH(ep_common_connect, NoHooks);
#endif
}

}  // namespace

void watch(DAT_PROVIDER& table, bool is_thread_safe) {
  // `once` has one flag for the common entries, and one for each kind of dat_ia_open().
  // The tables of all adapters have the same entries, but for the first.
  static std::once_flag once[3];
  std::call_once(once[0], [&] { next_entries = table; });
  std::call_once(once[is_thread_safe ? 1 : 2], [&] { next_open[is_thread_safe] = table.ia_open_func; });
  table.ia_open_func = is_thread_safe ? open<true> : open<false>;
  table.ia_close_func = close;
  watch_objects(table);
  watch_connections(table);
  watch_posts(table);
  watch_events(table);
  watch_memory(table);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
