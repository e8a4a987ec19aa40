// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/spoken_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/call.h"
#include "base/log.h"
#include "libdat/api/answer.h"
#include "libdat/api/call_argument.h"
#include "libdat/api/calling_place.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/refused_call.h"
#include "libdat/api/traced_call.h"
#include "libdat/object/cancellation_shield.h"
#include "libdat/object/endpoint.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

// The function's name and those of its arguments, separated by blanks.
template <std::size_t kSize>
struct Signature {
  // NOLINTNEXTLINE: made from a literal without a word.
  constexpr Signature(const char (&from)[kSize]) { std::copy_n(from, kSize, text); }
  char text[kSize];
};

enum class Post : std::uint8_t { kNone, kReceive, kRequest };

// dat_ia_open says itself why an adapter cannot be opened, except for bad arguments.
template <Signature kSignature>
bool tells_refusal(DAT_RETURN answer) {
  if (!std::string_view(kSignature.text).starts_with("dat_ia_open ")) return true;
  return DAT_GET_TYPE(answer) == DAT_INVALID_PARAMETER || DAT_GET_TYPE(answer) == DAT_INVALID_HANDLE;
}

template <typename First, typename... Rest>
DAT_HANDLE first_of(First first, Rest...) {
  return reinterpret_cast<DAT_HANDLE>(first);
}

// Only while failures are explained. The queue pair keeps the place for the words of a later failure.
void note_post(DAT_HANDLE ep_handle, bool is_receive) {
  if (const auto ep = pin_handle<object::Endpoint>(ep_handle)) ep->posts().note_place(is_receive);
}

template <auto kEntry, Signature kSignature, Post kPost, typename Pointer = decltype(kEntry)>
struct Spoken;

// What stands in the table instead of the entry point itself.
template <auto kEntry, Signature kSignature, Post kPost, typename... Arguments>
struct Spoken<kEntry, kSignature, kPost, DAT_RETURN (*)(Arguments...)> {
  static_assert(std::ranges::count(kSignature.text, ' ') == sizeof...(Arguments), "a signature names each argument");

  static DAT_RETURN call(Arguments... arguments) { return speak(__builtin_return_address(0), arguments...); }

  // For what a thread may be cancelled in.
  static DAT_RETURN wait(Arguments... arguments) {
    return object::call_deferring_cancellation(speak_apart, __builtin_return_address(0), arguments...);
  }

 private:
  [[gnu::noinline]] static DAT_RETURN speak_apart(void* caller, Arguments... arguments) {
    return speak(caller, arguments...);
  }
  [[gnu::always_inline]] static DAT_RETURN speak(void* caller, Arguments... arguments) {
    base::Call call(kSignature.text, api::calling_place(caller));
    if constexpr (kPost != Post::kNone) note_post(first_of(arguments...), kPost == Post::kReceive);
    const bool is_traced = base::is_logged(base::LogLevel::kTrace);
    const base::Time began = is_traced ? base::Clock::now() : base::Time{};
    const DAT_RETURN answer = kEntry(arguments...);
    // The sentence is made after the call, from its answer and its arguments.
    if (answer != DAT_SUCCESS && tells_refusal<kSignature>(answer)) [[unlikely]] {
      api::tell_refusal(call, answer, std::array{api::argument_of(arguments)...}, kIsAbi20);
    }
    if (is_traced) trace_call(kSignature.text, began, answer, call.caller(), arguments...);
    return answer;
  }
};

#define SOFTDAT_SPEAK(slot, signature) table.slot##_func = Spoken<&slot, signature, Post::kNone>::call
#define SOFTDAT_SPEAK_WAIT(slot, signature) table.slot##_func = Spoken<&slot, signature, Post::kNone>::wait
#define SOFTDAT_SPEAK_POST(slot, signature, post) table.slot##_func = Spoken<&slot, signature, Post::post>::call

void speak_of_opening(DAT_PROVIDER& table) {
  constexpr Signature kOpen = "dat_ia_open ia_name async_evd_min_qlen async_evd_handle ia_handle";
  table.ia_open_func = table.ia_open_func == ia_open_thread_safe
                           ? Spoken<&ia_open_thread_safe, kOpen, Post::kNone>::call
                           : Spoken<&ia_open_nonthread_safe, kOpen, Post::kNone>::call;
}

void speak_of_events(DAT_PROVIDER& table) {
  SOFTDAT_SPEAK(ia_query,
                "dat_ia_query ia_handle async_evd_handle ia_mask ia_attributes provider_mask provider_attributes");
  SOFTDAT_SPEAK(ia_close, "dat_ia_close ia_handle close_flags");
  SOFTDAT_SPEAK(set_consumer_context, "dat_set_consumer_context handle context");
  SOFTDAT_SPEAK(get_consumer_context, "dat_get_consumer_context handle context");
  SOFTDAT_SPEAK(get_handle_type, "dat_get_handle_type handle type");
  SOFTDAT_SPEAK(cno_create, "dat_cno_create ia_handle agent cno_handle");
  SOFTDAT_SPEAK(cno_modify_agent, "dat_cno_modify_agent cno_handle agent");
  SOFTDAT_SPEAK(cno_query, "dat_cno_query cno_handle cno_param_mask cno_param");
  SOFTDAT_SPEAK(cno_free, "dat_cno_free cno_handle");
  SOFTDAT_SPEAK_WAIT(cno_wait, "dat_cno_wait cno_handle timeout evd_handle");
  SOFTDAT_SPEAK(cr_query, "dat_cr_query cr_handle cr_param_mask cr_param");
  SOFTDAT_SPEAK(cr_accept, "dat_cr_accept cr_handle ep_handle private_data_size private_data");
#if SOFTDAT_ABI == 20
  SOFTDAT_SPEAK(cr_reject, "dat_cr_reject cr_handle private_data_size private_data");
#else
  SOFTDAT_SPEAK(cr_reject, "dat_cr_reject cr_handle");
#endif
  SOFTDAT_SPEAK(cr_handoff, "dat_cr_handoff cr_handle handoff");
  SOFTDAT_SPEAK(evd_create, "dat_evd_create ia_handle evd_min_qlen cno_handle evd_flags evd_handle");
  SOFTDAT_SPEAK(evd_query, "dat_evd_query evd_handle evd_param_mask evd_param");
  SOFTDAT_SPEAK(evd_modify_cno, "dat_evd_modify_cno evd_handle cno_handle");
  SOFTDAT_SPEAK(evd_enable, "dat_evd_enable evd_handle");
  SOFTDAT_SPEAK(evd_disable, "dat_evd_disable evd_handle");
  SOFTDAT_SPEAK_WAIT(evd_wait, "dat_evd_wait evd_handle timeout threshold event n_more_events");
  SOFTDAT_SPEAK(evd_resize, "dat_evd_resize evd_handle evd_min_qlen");
  SOFTDAT_SPEAK(evd_post_se, "dat_evd_post_se evd_handle event");
  SOFTDAT_SPEAK(evd_dequeue, "dat_evd_dequeue evd_handle event");
  SOFTDAT_SPEAK(evd_free, "dat_evd_free evd_handle");
}

void speak_of_endpoints(DAT_PROVIDER& table) {
  SOFTDAT_SPEAK(ep_create,
                "dat_ep_create ia_handle pz_handle recv_completion_evd_handle request_completion_evd_handle "
                "connect_evd_handle ep_attributes ep_handle");
  SOFTDAT_SPEAK(ep_query, "dat_ep_query ep_handle ep_param_mask ep_param");
  SOFTDAT_SPEAK(ep_modify, "dat_ep_modify ep_handle ep_param_mask ep_param");
  SOFTDAT_SPEAK(ep_connect,
                "dat_ep_connect ep_handle remote_ia_address remote_conn_qual timeout private_data_size private_data "
                "quality_of_service connect_flags");
  SOFTDAT_SPEAK(ep_dup_connect,
                "dat_ep_dup_connect ep_handle ep_dup_handle timeout private_data_size private_data quality_of_service");
  SOFTDAT_SPEAK(ep_disconnect, "dat_ep_disconnect ep_handle close_flags");
  SOFTDAT_SPEAK_POST(ep_post_send, "dat_ep_post_send ep_handle num_segments local_iov user_cookie completion_flags",
                     kRequest);
  SOFTDAT_SPEAK_POST(ep_post_recv, "dat_ep_post_recv ep_handle num_segments local_iov user_cookie completion_flags",
                     kReceive);
  SOFTDAT_SPEAK_POST(ep_post_rdma_read,
                     "dat_ep_post_rdma_read ep_handle num_segments local_iov user_cookie remote_iov completion_flags",
                     kRequest);
  SOFTDAT_SPEAK_POST(ep_post_rdma_write,
                     "dat_ep_post_rdma_write ep_handle num_segments local_iov user_cookie remote_iov completion_flags",
                     kRequest);
  SOFTDAT_SPEAK(ep_get_status, "dat_ep_get_status ep_handle ep_state recv_idle request_idle");
  SOFTDAT_SPEAK(ep_free, "dat_ep_free ep_handle");
}

void speak_of_memory_and_service_points(DAT_PROVIDER& table) {
#if SOFTDAT_ABI == 20
  SOFTDAT_SPEAK(lmr_create,
                "dat_lmr_create ia_handle mem_type region_description length pz_handle privileges va_type lmr_handle "
                "lmr_context rmr_context registered_length registered_address");
#else
  SOFTDAT_SPEAK(lmr_create,
                "dat_lmr_create ia_handle mem_type region_description length pz_handle privileges lmr_handle "
                "lmr_context rmr_context registered_length registered_address");
#endif
  SOFTDAT_SPEAK(lmr_query, "dat_lmr_query lmr_handle lmr_param_mask lmr_param");
  SOFTDAT_SPEAK(lmr_free, "dat_lmr_free lmr_handle");
  SOFTDAT_SPEAK(rmr_create, "dat_rmr_create pz_handle rmr_handle");
  SOFTDAT_SPEAK(rmr_query, "dat_rmr_query rmr_handle rmr_param_mask rmr_param");
#if SOFTDAT_ABI == 20
  SOFTDAT_SPEAK(
      rmr_bind,
      "dat_rmr_bind rmr_handle lmr_handle lmr_triplet mem_priv va_type ep_handle user_cookie completion_flags context");
#else
  SOFTDAT_SPEAK(rmr_bind,
                "dat_rmr_bind rmr_handle lmr_triplet mem_priv ep_handle user_cookie completion_flags context");
#endif
  SOFTDAT_SPEAK(rmr_free, "dat_rmr_free rmr_handle");
  SOFTDAT_SPEAK(psp_create, "dat_psp_create ia_handle conn_qual evd_handle psp_flags psp_handle");
  SOFTDAT_SPEAK(psp_query, "dat_psp_query psp_handle psp_param_mask psp_param");
  SOFTDAT_SPEAK(psp_free, "dat_psp_free psp_handle");
  SOFTDAT_SPEAK(rsp_create, "dat_rsp_create ia_handle conn_qual ep_handle evd_handle rsp_handle");
  SOFTDAT_SPEAK(rsp_query, "dat_rsp_query rsp_handle rsp_param_mask rsp_param");
  SOFTDAT_SPEAK(rsp_free, "dat_rsp_free rsp_handle");
  SOFTDAT_SPEAK(pz_create, "dat_pz_create ia_handle pz_handle");
  SOFTDAT_SPEAK(pz_query, "dat_pz_query pz_handle pz_param_mask pz_param");
  SOFTDAT_SPEAK(pz_free, "dat_pz_free pz_handle");
  SOFTDAT_SPEAK(psp_create_any, "dat_psp_create_any ia_handle conn_qual evd_handle psp_flags psp_handle");
  SOFTDAT_SPEAK(ep_reset, "dat_ep_reset ep_handle");
  SOFTDAT_SPEAK(evd_set_unwaitable, "dat_evd_set_unwaitable evd_handle");
  SOFTDAT_SPEAK(evd_clear_unwaitable, "dat_evd_clear_unwaitable evd_handle");
  SOFTDAT_SPEAK(lmr_sync_rdma_read, "dat_lmr_sync_rdma_read ia_handle local_segments num_segments");
  SOFTDAT_SPEAK(lmr_sync_rdma_write, "dat_lmr_sync_rdma_write ia_handle local_segments num_segments");
  SOFTDAT_SPEAK(ep_create_with_srq,
                "dat_ep_create_with_srq ia_handle pz_handle recv_evd_handle request_evd_handle connect_evd_handle "
                "srq_handle ep_attributes ep_handle");
  SOFTDAT_SPEAK(ep_recv_query, "dat_ep_recv_query ep_handle nbufs_allocated bufs_alloc_span");
  SOFTDAT_SPEAK(ep_set_watermark, "dat_ep_set_watermark ep_handle soft_high_watermark hard_high_watermark");
  SOFTDAT_SPEAK(srq_create, "dat_srq_create ia_handle pz_handle srq_attr srq_handle");
  SOFTDAT_SPEAK(srq_free, "dat_srq_free srq_handle");
  SOFTDAT_SPEAK(srq_post_recv, "dat_srq_post_recv srq_handle num_segments local_iov user_cookie");
  SOFTDAT_SPEAK(srq_query, "dat_srq_query srq_handle srq_param_mask srq_param");
  SOFTDAT_SPEAK(srq_resize, "dat_srq_resize srq_handle srq_max_recv_dto");
  SOFTDAT_SPEAK(srq_set_lw, "dat_srq_set_lw srq_handle low_watermark");
}

#if SOFTDAT_ABI == 20
// An extended operation by the name of its macro in dat_ib_extensions.h, with those of its arguments.
const char* signature_of(DAT_EXTENDED_OP operation) {
  switch (number_of(operation)) {
    case DAT_IB_FETCH_AND_ADD_OP:
      return "dat_ib_post_fetch_and_add handle operation add_val local_iov user_cookie remote_iov completion_flags";
    case DAT_IB_CMP_AND_SWAP_OP:
      return "dat_ib_post_cmp_and_swap handle operation cmp_val swap_val local_iov user_cookie remote_iov "
             "completion_flags";
    case DAT_IB_RDMA_WRITE_IMMED_OP:
      return "dat_ib_post_rdma_write_immed handle operation num_segments local_iov user_cookie remote_iov idata "
             "completion_flags";
    case DAT_IB_UD_SEND_OP:
      return "dat_ib_post_send_ud handle operation num_segments local_iov address_handle user_cookie completion_flags";
    default:
      return "dat_extension_op handle operation";
  }
}

// Stands in the table as Spoken::call does.
DAT_RETURN spoken_extension(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  base::Call call(signature_of(operation), api::calling_place(__builtin_return_address(0)));
  // Not every operation is a post; a handle that is no EP's is passed over.
  note_post(handle, false);
  const bool is_traced = base::is_logged(base::LogLevel::kTrace);
  const base::Time began = is_traced ? base::Clock::now() : base::Time{};
  const DAT_RETURN answer = handle_extendedop(handle, operation, arguments);
  if (answer != DAT_SUCCESS) [[unlikely]] {
    const std::array told{api::argument_of(handle), api::argument_of(operation)};
    api::tell_refusal(call, answer, told, kIsAbi20);
  }
  if (is_traced) {
    trace_call("dat_extension_op handle operation", began, answer, call.caller(), handle, operation, arguments);
  }
  return answer;
}

// The calls that only DAT 2.0 has.
void speak_of_later_calls(DAT_PROVIDER& table) {
  SOFTDAT_SPEAK(csp_create, "dat_csp_create ia_handle communicator address evd_handle csp_handle");
  SOFTDAT_SPEAK(csp_query, "dat_csp_query csp_handle csp_param_mask csp_param");
  SOFTDAT_SPEAK(csp_free, "dat_csp_free csp_handle");
  SOFTDAT_SPEAK(ep_common_connect,
                "dat_ep_common_connect ep_handle remote_ia_address timeout private_data_size private_data");
  SOFTDAT_SPEAK(rmr_create_for_ep, "dat_rmr_create_for_ep pz_handle rmr_handle");
  SOFTDAT_SPEAK_POST(ep_post_send_with_invalidate,
                     "dat_ep_post_send_with_invalidate ep_handle num_segments local_iov user_cookie completion_flags "
                     "invalidate_flag rmr_to_invalidate",
                     kRequest);
  SOFTDAT_SPEAK_POST(ep_post_rdma_read_to_rmr,
                     "dat_ep_post_rdma_read_to_rmr ep_handle local_iov user_cookie remote_iov completion_flags",
                     kRequest);
  SOFTDAT_SPEAK(cno_fd_create, "dat_cno_fd_create ia_handle file_descriptor cno_handle");
  SOFTDAT_SPEAK(cno_trigger, "dat_cno_trigger cno_handle evd_handle");
  SOFTDAT_SPEAK(ia_ha_related, "dat_ia_ha_related ia_handle provider answer");
  table.handle_extendedop_func = spoken_extension;
}
#else
void speak_of_later_calls(DAT_PROVIDER&) {}
#endif

#undef SOFTDAT_SPEAK
#undef SOFTDAT_SPEAK_WAIT
#undef SOFTDAT_SPEAK_POST

}  // namespace

void speak(DAT_PROVIDER& table) {
  speak_of_opening(table);
  speak_of_events(table);
  speak_of_endpoints(table);
  speak_of_memory_and_service_points(table);
  speak_of_later_calls(table);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
