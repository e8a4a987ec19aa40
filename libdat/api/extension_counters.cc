// SPDX-License-Identifier: BSD-2-Clause
// Counters of IAs, EPs and EVDs. They are always counted, so that there is nothing to start.
#include "base/assert.h"
#include "libdat/api/answer.h"

#if SOFTDAT_ABI == 20

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <span>

#include "libdat/api/extension.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Endpoint;
using object::EventDispatcher;
using object::InterfaceAdapter;
using object::Kind;

// In the order of the enumerations of dat_ib_counters.h.
constexpr const char* kIaNames[] = {
    "pz_create",
    "pz_free",
    "lmr_create",
    "lmr_free",
    "rmr_create",
    "rmr_free",
    "psp_create",
    "psp_create_any",
    "psp_free",
    "rsp_create",
    "rsp_free",
    "evd_create",
    "evd_free",
    "ep_create",
    "ep_free",
    "srq_create",
    "srq_free",
    "sp_cr",
    "sp_cr_accepted",
    "sp_cr_rejected",
    "mem_alloc",
    "mem_alloc_data",
    "mem_free",
    "async_error",
    "async_qp_error",
    "async_cq_error",
    "cm_listen",
    "cm_req_tx",
    "cm_req_rx",
    "cm_rep_tx",
    "cm_rep_rx",
    "cm_rtu_tx",
    "cm_rtu_rx",
    "cm_user_rej_tx",
    "cm_user_rej_rx",
    "cm_active_est",
    "cm_passive_est",
    "cm_ah_req_tx",
    "cm_ah_req_rx",
    "cm_ah_resolved",
    "cm_dreq_tx",
    "cm_dreq_rx",
    "cm_drep_tx",
    "cm_drep_rx",
    "cm_mra_tx",
    "cm_mra_rx",
    "cm_req_fullq_poll",
    "cm_err",
    "cm_err_req_fullq",
    "cm_err_req_dup",
    "cm_err_req_retry",
    "cm_err_rep_dup",
    "cm_err_rep_retry",
    "cm_err_rtu_dup",
    "cm_err_rtu_retry",
    "cm_err_refused",
    "cm_err_reset",
    "cm_err_timeout",
    "cm_err_rej_tx",
    "cm_err_rej_rx",
    "cm_err_dreq_dup",
    "cm_err_dreq_retry",
    "cm_err_drep_dup",
    "cm_err_drep_retry",
    "cm_err_mra_dup",
    "cm_err_mra_retry",
    "cm_err_unexpected",
    "lnk_err_rcv",
    "lnk_err_rcv_rem_phys",
    "lnk_err_rcv_constraint",
    "lnk_err_xmt_discards",
    "lnk_err_xmt_contraint",
    "lnk_err_integrity",
    "lnk_err_exc_buf_overrun",
    "lnk_warn_rcv_sw_relay",
    "lnk_warn_xmt_wait",
    "diag_err_rq_rae",
    "diag_err_rq_oos",
    "diag_err_rq_rire",
    "diag_err_rq_udsdprd",
    "diag_err_sq_rae",
    "diag_err_sq_oos",
    "diag_err_sq_rire",
    "diag_err_sq_rree",
    "diag_err_sq_tree",
};
constexpr const char* kEpNames[] = {
    "connect",   "disconnect",     "post_send",     "post_send_data",  "post_send_ud",   "post_send_ud_data",
    "post_recv", "post_recv_data", "post_write",    "post_write_data", "post_write_imm", "post_write_imm_data",
    "post_read", "post_read_data", "post_cmp_swap", "post_fetch_add",  "recv",           "recv_data",
    "recv_ud",   "recv_ud_data",   "recv_imm",      "recv_imm_data",   "recv_rdma_imm",  "recv_rdma_imm_data",
};
constexpr const char* kEvdNames[] = {
    "wait",         "wait_blocked",       "wait_notify",   "dequeue",      "dequeue_found", "dequeue_not_found",
    "dequeue_poll", "dequeue_poll_found", "conn_callback", "dto_callback",
};
static_assert(std::size(kIaNames) == DCNT_IA_ALL_COUNTERS);
static_assert(std::size(kEpNames) == DCNT_EP_ALL_COUNTERS);
static_assert(std::size(kEvdNames) == DCNT_EVD_ALL_COUNTERS);
static_assert(std::size_t{object::ia_counter::kCount} == DCNT_IA_ALL_COUNTERS);
static_assert(std::size_t{object::ep_counter::kCount} == DCNT_EP_ALL_COUNTERS);
static_assert(std::size_t{object::evd_counter::kCount} == DCNT_EVD_ALL_COUNTERS);

// What an object's counters are called and how one is read.
struct Counters {
  const char* kind;
  std::span<const char* const> names;
  std::uint64_t (*read)(object::Object& object, std::size_t which, bool reset);
};

template <typename T>
std::uint64_t read_counter(object::Object& object, std::size_t which, bool reset) {
  return static_cast<T&>(object).counters().counter(which, reset);
}

std::optional<Counters> counters_of(Kind kind) {
  switch (kind) {
    case Kind::kIa:
      return Counters{"ia", kIaNames, read_counter<InterfaceAdapter>};
    case Kind::kEp:
      return Counters{"ep", kEpNames, read_counter<Endpoint>};
    case Kind::kEvd:
      return Counters{"evd", kEvdNames, read_counter<EventDispatcher>};
    default:
      return std::nullopt;
  }
}

// The counters that a call means: one, or with the number behind the last of them all.
struct Range {
  std::size_t first;
  std::size_t count;
};

std::optional<Range> range_of(const Counters& counters, int counter) {
  SOFTDAT_DEBUG_CHECK(counters.read != nullptr, "what has names of counters has counters");
  const std::size_t all = counters.names.size();
  if (counter < 0 || static_cast<std::size_t>(counter) > all) return std::nullopt;
  const auto which = static_cast<std::size_t>(counter);
  return which == all ? Range{0, all} : Range{which, 1};
}

// Starting and stopping: connection management is always counted; there are no links and no
// diagnostics.
DAT_RETURN answer_sampling(DAT_HANDLE handle, std::uint32_t group) {
  if (!pin_handle<InterfaceAdapter>(handle)) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (group > DCNT_IA_DIAG) return refuse_argument(3);
  if (group != DCNT_IA_CM) return refuse_function();
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN query_counters(DAT_HANDLE handle, va_list arguments) {
  const auto counter = va_arg(arguments, int);
  auto* const out = va_arg(arguments, DAT_UINT64*);
  const bool reset = va_arg(arguments, int) != 0;
  const auto any = object::HandleTable::instance().pin_any(handle);
  const auto counters = any ? counters_of(any->kind()) : std::nullopt;
  if (!counters) return refuse_handle(StatusDetail::kInvalidHandle1);
  const auto range = range_of(*counters, counter);
  if (!range) return refuse_argument(3);
  if (out == nullptr) return refuse_argument(4);
  for (std::size_t i = 0; i < range->count; ++i) out[i] = counters->read(*any, range->first + i, reset);
  return DAT_SUCCESS;
}

DAT_RETURN print_counters(DAT_HANDLE handle, va_list arguments) {
  const auto counter = va_arg(arguments, int);
  const bool reset = va_arg(arguments, int) != 0;
  const auto any = object::HandleTable::instance().pin_any(handle);
  const auto counters = any ? counters_of(any->kind()) : std::nullopt;
  if (!counters) return refuse_handle(StatusDetail::kInvalidHandle1);
  const auto range = range_of(*counters, counter);
  if (!range) return refuse_argument(3);
  for (std::size_t i = range->first; i < range->first + range->count; ++i) {
    // Not atomic: a counter that is reset starts again at the moment it was read.
    std::printf("%s %p %s %" PRIu64 "\n", counters->kind, handle, counters->names[i], counters->read(*any, i, reset));
  }
  return DAT_SUCCESS;
}

DAT_RETURN start_counters(DAT_HANDLE handle, va_list arguments) {
  return answer_sampling(handle, va_arg(arguments, std::uint32_t));
}

DAT_RETURN stop_counters(DAT_HANDLE handle, va_list arguments) {
  return answer_sampling(handle, va_arg(arguments, std::uint32_t));
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
