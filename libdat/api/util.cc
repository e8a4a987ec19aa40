// SPDX-License-Identifier: BSD-2-Clause
// The calls that take a handle of any kind.
#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::HandleTable;
using object::Kind;
using object::Object;
using object::Pin;

static_assert(int(Kind::kCr) == DAT_HANDLE_TYPE_CR && int(Kind::kEp) == DAT_HANDLE_TYPE_EP);
static_assert(int(Kind::kEvd) == DAT_HANDLE_TYPE_EVD && int(Kind::kIa) == DAT_HANDLE_TYPE_IA);
static_assert(int(Kind::kLmr) == DAT_HANDLE_TYPE_LMR && int(Kind::kPsp) == DAT_HANDLE_TYPE_PSP);
static_assert(int(Kind::kPz) == DAT_HANDLE_TYPE_PZ && int(Kind::kRmr) == DAT_HANDLE_TYPE_RMR);
static_assert(int(Kind::kRsp) == DAT_HANDLE_TYPE_RSP && int(Kind::kCno) == DAT_HANDLE_TYPE_CNO);
static_assert(int(Kind::kSrq) == DAT_HANDLE_TYPE_SRQ);
#if SOFTDAT_ABI == 20
static_assert(int(Kind::kCsp) == DAT_HANDLE_TYPE_CSP);
static_assert(int(Kind::kAddressHandle) == DAT_IB_HANDLE_TYPE_EXT);
#endif

Pin<Object> pin_any(DAT_HANDLE handle) {
  return HandleTable::instance().pin_any(handle);
}

}  // namespace

DAT_RETURN set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context) {
  const auto any = pin_any(handle);
  if (!any) return refuse_handle(StatusDetail::kInvalidHandle1);
  any->set_consumer_context(context.as_64);
  return DAT_SUCCESS;
}

DAT_RETURN get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT* context) {
  const auto any = pin_any(handle);
  if (!any) return refuse_handle(StatusDetail::kInvalidHandle1);
  if (context == nullptr) return refuse_argument(2);
  context->as_64 = any->consumer_context();
  return DAT_SUCCESS;
}

DAT_RETURN get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE* type) {
  const auto any = pin_any(handle);
  if (!any) return refuse_handle(StatusDetail::kInvalidHandle1);
  if (type == nullptr) return refuse_argument(2);
  *type = static_cast<DAT_HANDLE_TYPE>(any->kind());
  return DAT_SUCCESS;
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
