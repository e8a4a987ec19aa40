// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/cancellation_shield.h"
#include "libdat/object/consumer_notification.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::ConsumerNotification;
using object::ConsumerNotificationParameters;
using object::InterfaceAdapter;
using object::WaitAgent;

WaitAgent agent_of(const DAT_OS_WAIT_PROXY_AGENT& agent) {
  return {agent.instance_data, agent.proxy_agent_func};
}

#if SOFTDAT_ABI == 20
// PROXY is 3 and ALL is 4 there, which is no union of the others.
constexpr std::uint32_t kKnownFields =
    DAT_CNO_FIELD_IA_HANDLE | DAT_CNO_FIELD_PROXY_TYPE | DAT_CNO_FIELD_PROXY | DAT_CNO_FIELD_ALL;

void write_proxy(const ConsumerNotificationParameters& known, DAT_CNO_PARAM& parameters) {
  const WaitAgent& agent = known.agent;
  parameters.proxy_type = agent.function == nullptr ? DAT_PROXY_TYPE_NONE : DAT_PROXY_TYPE_AGENT;
  parameters.proxy.agent = {agent.instance_data, agent.function};
  if (known.descriptor < 0) return;
  parameters.proxy_type = DAT_PROXY_TYPE_FD;
  parameters.proxy.fd = known.descriptor;
}
#else
constexpr std::uint32_t kKnownFields = DAT_CNO_FIELD_ALL;

void write_proxy(const ConsumerNotificationParameters& known, DAT_CNO_PARAM& parameters) {
  parameters.agent = {known.agent.instance_data, known.agent.function};
}
#endif

}  // namespace

DAT_RETURN cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE* cno_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (cno_handle == nullptr) return refuse_argument(3);
  return answer_of([&] { return ConsumerNotification::create(*ia, agent_of(agent), *cno_handle); });
}

DAT_RETURN cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent) {
  const auto cno = pin_handle<ConsumerNotification>(cno_handle);
  if (!cno) return refuse_handle(StatusDetail::kInvalidHandleCno);
  return answer_of([&] { return cno->modify_agent(agent_of(agent)); });
}

DAT_RETURN cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM* parameters) {
  const auto cno = pin_handle<ConsumerNotification>(cno_handle);
  if (!cno) return refuse_handle(StatusDetail::kInvalidHandleCno);
  if (has_unknown_bits(mask, kKnownFields)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  const ConsumerNotificationParameters known = cno->query();
  parameters->ia_handle = consumer_ia_handle(known.ia);
  write_proxy(known, *parameters);
  return DAT_SUCCESS;
}

DAT_RETURN cno_free(DAT_CNO_HANDLE cno_handle) {
  auto cno = pin_handle<ConsumerNotification>(cno_handle);
  if (!cno) return refuse_handle(StatusDetail::kInvalidHandleCno);
  return return_code(ConsumerNotification::free(std::move(cno)));
}

[[gnu::noinline]] static DAT_RETURN wait_for_dispatcher(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout,
                                                        DAT_EVD_HANDLE* evd_handle) {
  // A value that no wait writes tells whether the output must be written.
  DAT_EVD_HANDLE evd = cno_handle;  // the wait writes no CNO
  Status status;
  {
    const auto cno = pin_handle<ConsumerNotification>(cno_handle);
    if (!cno) return refuse_handle(StatusDetail::kInvalidHandleCno);
    if (evd_handle == nullptr) return refuse_argument(3);
    status = cno->wait(timeout, evd);
  }
  // The CNO must not be pinned here: if `evd_handle` is a wrong address, a handler of SIGSEGV may jump out of the call.
  if (evd != cno_handle) *evd_handle = evd;
  return return_code(status);
}

DAT_RETURN cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd_handle) {
  return object::call_deferring_cancellation(wait_for_dispatcher, cno_handle, timeout, evd_handle);
}

#if SOFTDAT_ABI == 20

DAT_RETURN cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD* file_descriptor, DAT_CNO_HANDLE* cno_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (file_descriptor == nullptr) return refuse_argument(2);
  if (cno_handle == nullptr) return refuse_argument(3);
  return answer_of([&] { return ConsumerNotification::create_with_descriptor(*ia, *file_descriptor, *cno_handle); });
}

DAT_RETURN cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE* evd_handle) {
  const auto cno = pin_handle<ConsumerNotification>(cno_handle);
  if (!cno) return refuse_handle(StatusDetail::kInvalidHandleCno);
  if (evd_handle == nullptr) return refuse_argument(2);
  return return_code(cno->take_trigger_of_descriptor(*evd_handle));
}

#endif

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
