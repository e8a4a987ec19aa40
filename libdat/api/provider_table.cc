// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/provider_table.h"

#include "base/environment.h"
#include "base/words.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/faulty_calls.h"
#include "libdat/api/sanitized_calls.h"
#include "libdat/api/spoken_calls.h"
#include "libdat/api/timed_calls.h"
#include "libdat/sanitize/settings.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

// In the order of the DAT headers, which the compiler checks.
constexpr DAT_PROVIDER kTable {
  .device_name = nullptr, .extension = nullptr, .ia_open_func = ia_open_nonthread_safe, .ia_query_func = ia_query,
  .ia_close_func = ia_close, .set_consumer_context_func = set_consumer_context,
  .get_consumer_context_func = get_consumer_context, .get_handle_type_func = get_handle_type,
  .cno_create_func = cno_create, .cno_modify_agent_func = cno_modify_agent, .cno_query_func = cno_query,
  .cno_free_func = cno_free, .cno_wait_func = cno_wait, .cr_query_func = cr_query, .cr_accept_func = cr_accept,
  .cr_reject_func = cr_reject, .cr_handoff_func = cr_handoff, .evd_create_func = evd_create,
  .evd_query_func = evd_query, .evd_modify_cno_func = evd_modify_cno, .evd_enable_func = evd_enable,
  .evd_disable_func = evd_disable, .evd_wait_func = evd_wait, .evd_resize_func = evd_resize,
  .evd_post_se_func = evd_post_se, .evd_dequeue_func = evd_dequeue, .evd_free_func = evd_free,
  .ep_create_func = ep_create, .ep_query_func = ep_query, .ep_modify_func = ep_modify, .ep_connect_func = ep_connect,
  .ep_dup_connect_func = ep_dup_connect, .ep_disconnect_func = ep_disconnect, .ep_post_send_func = ep_post_send,
  .ep_post_recv_func = ep_post_recv, .ep_post_rdma_read_func = ep_post_rdma_read,
  .ep_post_rdma_write_func = ep_post_rdma_write, .ep_get_status_func = ep_get_status, .ep_free_func = ep_free,
  .lmr_create_func = lmr_create, .lmr_query_func = lmr_query, .lmr_free_func = lmr_free, .rmr_create_func = rmr_create,
  .rmr_query_func = rmr_query, .rmr_bind_func = rmr_bind, .rmr_free_func = rmr_free, .psp_create_func = psp_create,
  .psp_query_func = psp_query, .psp_free_func = psp_free, .rsp_create_func = rsp_create, .rsp_query_func = rsp_query,
  .rsp_free_func = rsp_free, .pz_create_func = pz_create, .pz_query_func = pz_query, .pz_free_func = pz_free,
  .psp_create_any_func = psp_create_any, .ep_reset_func = ep_reset, .evd_set_unwaitable_func = evd_set_unwaitable,
  .evd_clear_unwaitable_func = evd_clear_unwaitable, .lmr_sync_rdma_read_func = lmr_sync_rdma_read,
  .lmr_sync_rdma_write_func = lmr_sync_rdma_write, .ep_create_with_srq_func = ep_create_with_srq,
  .ep_recv_query_func = ep_recv_query, .ep_set_watermark_func = ep_set_watermark, .srq_create_func = srq_create,
  .srq_free_func = srq_free, .srq_post_recv_func = srq_post_recv, .srq_query_func = srq_query,
  .srq_resize_func = srq_resize, .srq_set_lw_func = srq_set_lw,
#if SOFTDAT_ABI == 20
  .csp_create_func = csp_create, .csp_query_func = csp_query, .csp_free_func = csp_free,
  .ep_common_connect_func = ep_common_connect, .rmr_create_for_ep_func = rmr_create_for_ep,
  .ep_post_send_with_invalidate_func = ep_post_send_with_invalidate,
  .ep_post_rdma_read_to_rmr_func = ep_post_rdma_read_to_rmr, .cno_fd_create_func = cno_fd_create,
  .cno_trigger_func = cno_trigger, .ia_ha_related_func = ia_ha_related, .handle_extendedop_func = handle_extendedop,
#endif
};

}  // namespace

DAT_PROVIDER provider_table(const char* device_name, void* extension, bool is_thread_safe) {
  DAT_PROVIDER table = kTable;
  table.device_name = device_name;
  table.extension = extension;
  if (is_thread_safe) table.ia_open_func = ia_open_thread_safe;
  // Each of these puts its entry points before those that are there, so the last one is called first.
  if (base::are_words_wanted()) speak(table);
  if (sanitize::mode() != sanitize::Mode::kOff) watch(table, is_thread_safe);
  if (!base::environment(base::Variable::kTimeline).empty()) time_calls(table);
  if (!base::environment(base::Variable::kFaults).empty()) fail_waits(table);
  return table;
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
