// SPDX-License-Identifier: BSD-2-Clause
#include "tests/libdat/api/slots.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Kind;
using D = object::StatusDetail;
using L = LiveObjects;
using O = Outputs;
using H = DAT_HANDLE;
using Table = std::vector<HandleSlot>;

#define SOFTDAT_SLOT(function) offsetof(DAT_PROVIDER, function##_func), #function

constexpr auto kNullAllowed = HandleSlot::kNullAllowed;
constexpr D kEvd = kAbi == 20 ? D::kInvalidHandleEvdRequest : D::kInvalidHandle1;
constexpr DAT_TIMEOUT kWait = 1'000'000;
constexpr DAT_COMPLETION_FLAGS kDefault = DAT_COMPLETION_DEFAULT_FLAG;
const DAT_OS_WAIT_PROXY_AGENT kNoAgent{nullptr, nullptr};
const DAT_CONTEXT kContext{nullptr};

DAT_LMR_TRIPLET* segment(L& l) {
  static DAT_LMR_TRIPLET triplet;
  triplet = {};
  triplet.virtual_address = reinterpret_cast<DAT_VADDR>(l.memory.data());
  triplet.segment_length = 64;
  triplet.lmr_context = l.lmr_context;
  return &triplet;
}

DAT_RMR_TRIPLET* remote(L& l) {
  static DAT_RMR_TRIPLET triplet;
  triplet = {};
  triplet.rmr_context = l.rmr_context;
  triplet.segment_length = 64;
  return &triplet;
}

DAT_IA_ADDRESS_PTR loopback() {
  static sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address);
}

void add_ia(Table& t) {
  const Kind k = Kind::kIa;
  const D d = D::kInvalidHandleIa;
  t.push_back({SOFTDAT_SLOT(ia_query), k, d, [](L& l, O& o, H h) {
                 return l.table->ia_query_func(h, o.as<H>(3), DAT_IA_FIELD_ALL, o.as<DAT_IA_ATTR>(),
                                               DAT_PROVIDER_FIELD_ALL, o.as<DAT_PROVIDER_ATTR>(1));
               }});
  t.push_back(
      {SOFTDAT_SLOT(ia_close), k, d, [](L& l, O&, H h) { return l.table->ia_close_func(h, DAT_CLOSE_GRACEFUL_FLAG); }});
  t.push_back({SOFTDAT_SLOT(cno_create), k, d,
               [](L& l, O& o, H h) { return l.table->cno_create_func(h, kNoAgent, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(pz_create), k, d, [](L& l, O& o, H h) { return l.table->pz_create_func(h, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(lmr_sync_rdma_read), k, d,
               [](L& l, O&, H h) { return l.table->lmr_sync_rdma_read_func(h, segment(l), 1); }});
  t.push_back({SOFTDAT_SLOT(lmr_sync_rdma_write), k, d,
               [](L& l, O&, H h) { return l.table->lmr_sync_rdma_write_func(h, segment(l), 1); }});
  t.push_back({offsetof(DAT_PROVIDER, ia_open_func), "ia_open async_evd", Kind::kEvd, D::kInvalidHandleEvdAsync,
               [](L& l, O& o, H h) {
                 char name[] = "sim0";
                 H evd = h;
                 const DAT_RETURN answer = l.table->ia_open_func(name, 8, &evd, o.as<H>());
                 EXPECT_EQ(evd, h);
                 return answer;
               },
               kNullAllowed});
}

void add_any(Table& t) {
  const D d = D::kInvalidHandle1;
  const auto rule = HandleSlot::kAnyKind;
  t.push_back({SOFTDAT_SLOT(set_consumer_context), Kind::kPz, d,
               [](L& l, O&, H h) { return l.table->set_consumer_context_func(h, kContext); }, rule});
  t.push_back({SOFTDAT_SLOT(get_consumer_context), Kind::kPz, d,
               [](L& l, O& o, H h) { return l.table->get_consumer_context_func(h, o.as<DAT_CONTEXT>()); }, rule});
  t.push_back({SOFTDAT_SLOT(get_handle_type), Kind::kPz, d,
               [](L& l, O& o, H h) { return l.table->get_handle_type_func(h, o.as<DAT_HANDLE_TYPE>()); }, rule});
}

void add_cno(Table& t) {
  const Kind k = Kind::kCno;
  const D d = D::kInvalidHandleCno;
  t.push_back({SOFTDAT_SLOT(cno_modify_agent), k, d,
               [](L& l, O&, H h) { return l.table->cno_modify_agent_func(h, kNoAgent); }});
  t.push_back({SOFTDAT_SLOT(cno_query), k, d,
               [](L& l, O& o, H h) { return l.table->cno_query_func(h, DAT_CNO_FIELD_ALL, o.as<DAT_CNO_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(cno_free), k, d, [](L& l, O&, H h) { return l.table->cno_free_func(h); }});
  t.push_back({SOFTDAT_SLOT(cno_wait), k, d, [](L& l, O& o, H h) { return l.table->cno_wait_func(h, 0, o.as<H>()); }});
  t.push_back({offsetof(DAT_PROVIDER, evd_create_func), "evd_create cno", k, d,
               [](L& l, O& o, H h) { return l.table->evd_create_func(l.ia, 8, h, DAT_EVD_SOFTWARE_FLAG, o.as<H>()); },
               kNullAllowed});
  t.push_back({offsetof(DAT_PROVIDER, evd_modify_cno_func), "evd_modify_cno cno", k, d,
               [](L& l, O&, H h) { return l.table->evd_modify_cno_func(l.evd, h); }, kNullAllowed});
}

void add_evd(Table& t) {
  const Kind k = Kind::kEvd;
  t.push_back({SOFTDAT_SLOT(evd_create), Kind::kIa, D::kInvalidHandleIa, [](L& l, O& o, H h) {
                 return l.table->evd_create_func(h, 8, nullptr, DAT_EVD_SOFTWARE_FLAG, o.as<H>());
               }});
  t.push_back({SOFTDAT_SLOT(evd_query), k, kEvd,
               [](L& l, O& o, H h) { return l.table->evd_query_func(h, DAT_EVD_FIELD_ALL, o.as<DAT_EVD_PARAM>()); }});
  t.push_back(
      {SOFTDAT_SLOT(evd_modify_cno), k, kEvd, [](L& l, O&, H h) { return l.table->evd_modify_cno_func(h, nullptr); }});
  t.push_back({SOFTDAT_SLOT(evd_enable), k, kEvd, [](L& l, O&, H h) { return l.table->evd_enable_func(h); }});
  t.push_back({SOFTDAT_SLOT(evd_disable), k, kEvd, [](L& l, O&, H h) { return l.table->evd_disable_func(h); }});
  t.push_back({SOFTDAT_SLOT(evd_wait), k, kEvd,
               [](L& l, O& o, H h) { return l.table->evd_wait_func(h, 0, 1, o.as<DAT_EVENT>(), o.as<DAT_COUNT>(1)); }});
  t.push_back({SOFTDAT_SLOT(evd_resize), k, kEvd, [](L& l, O&, H h) { return l.table->evd_resize_func(h, 128); }});
  t.push_back({SOFTDAT_SLOT(evd_post_se), k, kEvd, [](L& l, O&, H h) {
                 DAT_EVENT event{};
                 event.event_number = DAT_SOFTWARE_EVENT;
                 return l.table->evd_post_se_func(h, &event);
               }});
  t.push_back({SOFTDAT_SLOT(evd_dequeue), k, kEvd,
               [](L& l, O& o, H h) { return l.table->evd_dequeue_func(h, o.as<DAT_EVENT>()); }});
  t.push_back({SOFTDAT_SLOT(evd_free), k, kEvd, [](L& l, O&, H h) { return l.table->evd_free_func(h); }});
  t.push_back(
      {SOFTDAT_SLOT(evd_set_unwaitable), k, kEvd, [](L& l, O&, H h) { return l.table->evd_set_unwaitable_func(h); }});
  t.push_back({SOFTDAT_SLOT(evd_clear_unwaitable), k, kEvd,
               [](L& l, O&, H h) { return l.table->evd_clear_unwaitable_func(h); }});
}

void add_ep_create(Table& t) {
  const std::size_t slot = offsetof(DAT_PROVIDER, ep_create_func);
  const auto create = [](L& l, O& o, H ia, H pz, H recv, H request, H connect) {
    return l.table->ep_create_func(ia, pz, recv, request, connect, nullptr, o.as<H>());
  };
  t.push_back({slot, "ep_create ia", Kind::kIa, D::kInvalidHandleIa,
               [=](L& l, O& o, H h) { return create(l, o, h, l.pz, l.evd, l.evd, l.evd); }});
  t.push_back({slot, "ep_create pz", Kind::kPz, D::kInvalidHandlePz,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, h, l.evd, l.evd, l.evd); }, kNullAllowed});
  t.push_back({slot, "ep_create recv_evd", Kind::kEvd, D::kInvalidHandleEvdRecv,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, l.pz, h, l.evd, l.evd); }, kNullAllowed});
  t.push_back({slot, "ep_create request_evd", Kind::kEvd, D::kInvalidHandleEvdRequest,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, l.pz, l.evd, h, l.evd); }, kNullAllowed});
  t.push_back({slot, "ep_create connect_evd", Kind::kEvd, D::kInvalidHandleEvdConn,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, l.pz, l.evd, l.evd, h); }, kNullAllowed});
}

void add_ep_create_with_srq(Table& t) {
  const std::size_t slot = offsetof(DAT_PROVIDER, ep_create_with_srq_func);
  static DAT_EP_ATTR attributes{};
  const auto create = [](L& l, O& o, H ia, H pz, H recv, H request, H connect, H srq) {
    return l.table->ep_create_with_srq_func(ia, pz, recv, request, connect, srq, &attributes, o.as<H>());
  };
  t.push_back({slot, "ep_create_with_srq ia", Kind::kIa, D::kInvalidHandleIa,
               [=](L& l, O& o, H h) { return create(l, o, h, l.pz, l.evd, l.evd, l.evd, nullptr); }});
  t.push_back({slot, "ep_create_with_srq pz", Kind::kPz, D::kInvalidHandlePz,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, h, l.evd, l.evd, l.evd, nullptr); }, kNullAllowed});
  t.push_back({slot, "ep_create_with_srq recv_evd", Kind::kEvd, D::kInvalidHandleEvdRecv,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, l.pz, h, l.evd, l.evd, nullptr); }, kNullAllowed});
  t.push_back({slot, "ep_create_with_srq request_evd", Kind::kEvd, D::kInvalidHandleEvdRequest,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, l.pz, l.evd, h, l.evd, nullptr); }, kNullAllowed});
  t.push_back({slot, "ep_create_with_srq connect_evd", Kind::kEvd, D::kInvalidHandleEvdConn,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, l.pz, l.evd, l.evd, h, nullptr); }, kNullAllowed});
  t.push_back({slot, "ep_create_with_srq srq", Kind::kSrq, D::kInvalidHandleSrq,
               [=](L& l, O& o, H h) { return create(l, o, l.ia, l.pz, l.evd, l.evd, l.evd, h); }});
}

void add_ep(Table& t) {
  const Kind k = Kind::kEp;
  const D d = D::kInvalidHandleEp;
  t.push_back({SOFTDAT_SLOT(ep_query), k, d,
               [](L& l, O& o, H h) { return l.table->ep_query_func(h, DAT_EP_FIELD_ALL, o.as<DAT_EP_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(ep_modify), k, d, [](L& l, O&, H h) {
                 const DAT_EP_PARAM nothing{};
                 return l.table->ep_modify_func(h, 0, &nothing);
               }});
  t.push_back({SOFTDAT_SLOT(ep_connect), k, d, [](L& l, O&, H h) {
                 return l.table->ep_connect_func(h, loopback(), 1, kWait, 0, nullptr, DAT_QOS_BEST_EFFORT,
                                                 DAT_CONNECT_DEFAULT_FLAG);
               }});
  t.push_back({SOFTDAT_SLOT(ep_dup_connect), k, d, [](L& l, O&, H h) {
                 return l.table->ep_dup_connect_func(h, l.ep, kWait, 0, nullptr, DAT_QOS_BEST_EFFORT);
               }});
  t.push_back({offsetof(DAT_PROVIDER, ep_dup_connect_func), "ep_dup_connect dup", k, d, [](L& l, O&, H h) {
                 return l.table->ep_dup_connect_func(l.ep, h, kWait, 0, nullptr, DAT_QOS_BEST_EFFORT);
               }});
  t.push_back({SOFTDAT_SLOT(ep_disconnect), k, d,
               [](L& l, O&, H h) { return l.table->ep_disconnect_func(h, DAT_CLOSE_ABRUPT_FLAG); }});
  t.push_back({SOFTDAT_SLOT(ep_get_status), k, d, [](L& l, O& o, H h) {
                 return l.table->ep_get_status_func(h, o.as<DAT_EP_STATE>(), o.as<DAT_BOOLEAN>(1),
                                                    o.as<DAT_BOOLEAN>(2));
               }});
  t.push_back({SOFTDAT_SLOT(ep_free), k, d, [](L& l, O&, H h) { return l.table->ep_free_func(h); }});
  t.push_back({SOFTDAT_SLOT(ep_reset), k, d, [](L& l, O&, H h) { return l.table->ep_reset_func(h); }});
  t.push_back({SOFTDAT_SLOT(ep_recv_query), k, d,
               [](L& l, O& o, H h) { return l.table->ep_recv_query_func(h, o.as<DAT_COUNT>(), o.as<DAT_COUNT>(1)); }});
  t.push_back(
      {SOFTDAT_SLOT(ep_set_watermark), k, d, [](L& l, O&, H h) { return l.table->ep_set_watermark_func(h, 1, 1); }});
}

void add_ep_post(Table& t) {
  const Kind k = Kind::kEp;
  const D d = D::kInvalidHandleEp;
  t.push_back({SOFTDAT_SLOT(ep_post_send), k, d,
               [](L& l, O&, H h) { return l.table->ep_post_send_func(h, 1, segment(l), kContext, kDefault); }});
  t.push_back({SOFTDAT_SLOT(ep_post_recv), k, d,
               [](L& l, O&, H h) { return l.table->ep_post_recv_func(h, 1, segment(l), kContext, kDefault); }});
  t.push_back({SOFTDAT_SLOT(ep_post_rdma_read), k, d, [](L& l, O&, H h) {
                 return l.table->ep_post_rdma_read_func(h, 1, segment(l), kContext, remote(l), kDefault);
               }});
  t.push_back({SOFTDAT_SLOT(ep_post_rdma_write), k, d, [](L& l, O&, H h) {
                 return l.table->ep_post_rdma_write_func(h, 1, segment(l), kContext, remote(l), kDefault);
               }});
}

DAT_RETURN create_lmr_with(L& l, O& o, H ia, H pz) {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = l.memory.data();
#if SOFTDAT_ABI == 20
  return l.table->lmr_create_func(ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA,
                                  o.as<H>(), o.as<DAT_LMR_CONTEXT>(1), o.as<DAT_RMR_CONTEXT>(2), o.as<DAT_VLEN>(3),
                                  nullptr);
#else
  return l.table->lmr_create_func(ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz, DAT_MEM_PRIV_ALL_FLAG, o.as<H>(),
                                  o.as<DAT_LMR_CONTEXT>(1), o.as<DAT_RMR_CONTEXT>(2), o.as<DAT_VLEN>(3), nullptr);
#endif
}

DAT_RETURN bind_with(L& l, O& o, H rmr, [[maybe_unused]] H lmr, H ep) {
#if SOFTDAT_ABI == 20
  return l.table->rmr_bind_func(rmr, lmr, segment(l), DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA, ep, kContext,
                                kDefault, o.as<DAT_RMR_CONTEXT>());
#else
  return l.table->rmr_bind_func(rmr, segment(l), DAT_MEM_PRIV_REMOTE_READ_FLAG, ep, kContext, kDefault,
                                o.as<DAT_RMR_CONTEXT>());
#endif
}

void add_memory(Table& t) {
  t.push_back({SOFTDAT_SLOT(pz_query), Kind::kPz, D::kInvalidHandlePz,
               [](L& l, O& o, H h) { return l.table->pz_query_func(h, DAT_PZ_FIELD_ALL, o.as<DAT_PZ_PARAM>()); }});
  t.push_back(
      {SOFTDAT_SLOT(pz_free), Kind::kPz, D::kInvalidHandlePz, [](L& l, O&, H h) { return l.table->pz_free_func(h); }});
  t.push_back({SOFTDAT_SLOT(lmr_create), Kind::kIa, D::kInvalidHandleIa,
               [](L& l, O& o, H h) { return create_lmr_with(l, o, h, l.pz); }});
  t.push_back({offsetof(DAT_PROVIDER, lmr_create_func), "lmr_create pz", Kind::kPz, D::kInvalidHandlePz,
               [](L& l, O& o, H h) { return create_lmr_with(l, o, l.ia, h); }});
  t.push_back({SOFTDAT_SLOT(lmr_query), Kind::kLmr, D::kInvalidHandleLmr,
               [](L& l, O& o, H h) { return l.table->lmr_query_func(h, DAT_LMR_FIELD_ALL, o.as<DAT_LMR_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(lmr_free), Kind::kLmr, D::kInvalidHandleLmr,
               [](L& l, O&, H h) { return l.table->lmr_free_func(h); }});
  t.push_back({SOFTDAT_SLOT(rmr_create), Kind::kPz, D::kInvalidHandlePz,
               [](L& l, O& o, H h) { return l.table->rmr_create_func(h, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(rmr_query), Kind::kRmr, D::kInvalidHandleRmr,
               [](L& l, O& o, H h) { return l.table->rmr_query_func(h, DAT_RMR_FIELD_ALL, o.as<DAT_RMR_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(rmr_bind), Kind::kRmr, D::kInvalidHandleRmr,
               [](L& l, O& o, H h) { return bind_with(l, o, h, l.lmr, l.ep); }});
  t.push_back({offsetof(DAT_PROVIDER, rmr_bind_func), "rmr_bind ep", Kind::kEp, D::kInvalidHandleEp,
               [](L& l, O& o, H h) { return bind_with(l, o, l.rmr, l.lmr, h); }});
  t.push_back({SOFTDAT_SLOT(rmr_free), Kind::kRmr, D::kInvalidHandleRmr,
               [](L& l, O&, H h) { return l.table->rmr_free_func(h); }});
}

void add_service_points(Table& t) {
  const D evd = D::kInvalidHandleEvdCr;
  t.push_back({SOFTDAT_SLOT(psp_create), Kind::kIa, D::kInvalidHandleIa, [](L& l, O& o, H h) {
                 return l.table->psp_create_func(h, 7, l.evd, DAT_PSP_CONSUMER_FLAG, o.as<H>());
               }});
  t.push_back({offsetof(DAT_PROVIDER, psp_create_func), "psp_create evd", Kind::kEvd, evd,
               [](L& l, O& o, H h) { return l.table->psp_create_func(l.ia, 7, h, DAT_PSP_CONSUMER_FLAG, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(psp_create_any), Kind::kIa, D::kInvalidHandleIa, [](L& l, O& o, H h) {
                 return l.table->psp_create_any_func(h, o.as<DAT_CONN_QUAL>(1), l.evd, DAT_PSP_CONSUMER_FLAG,
                                                     o.as<H>());
               }});
  t.push_back({offsetof(DAT_PROVIDER, psp_create_any_func), "psp_create_any evd", Kind::kEvd, evd, [](L& l, O& o, H h) {
                 return l.table->psp_create_any_func(l.ia, o.as<DAT_CONN_QUAL>(1), h, DAT_PSP_CONSUMER_FLAG, o.as<H>());
               }});
  t.push_back({SOFTDAT_SLOT(psp_query), Kind::kPsp, D::kInvalidHandlePsp,
               [](L& l, O& o, H h) { return l.table->psp_query_func(h, DAT_PSP_FIELD_ALL, o.as<DAT_PSP_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(psp_free), Kind::kPsp, D::kInvalidHandlePsp,
               [](L& l, O&, H h) { return l.table->psp_free_func(h); }});
  t.push_back({SOFTDAT_SLOT(rsp_create), Kind::kIa, D::kInvalidHandleIa,
               [](L& l, O& o, H h) { return l.table->rsp_create_func(h, 8, nullptr, l.evd, o.as<H>()); }});
  t.push_back({offsetof(DAT_PROVIDER, rsp_create_func), "rsp_create ep", Kind::kEp, D::kInvalidHandleEp,
               [](L& l, O& o, H h) { return l.table->rsp_create_func(l.ia, 8, h, l.evd, o.as<H>()); }, kNullAllowed});
  t.push_back({offsetof(DAT_PROVIDER, rsp_create_func), "rsp_create evd", Kind::kEvd, evd,
               [](L& l, O& o, H h) { return l.table->rsp_create_func(l.ia, 8, nullptr, h, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(rsp_query), Kind::kRsp, D::kInvalidHandleRsp,
               [](L& l, O& o, H h) { return l.table->rsp_query_func(h, DAT_RSP_FIELD_ALL, o.as<DAT_RSP_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(rsp_free), Kind::kRsp, D::kInvalidHandleRsp,
               [](L& l, O&, H h) { return l.table->rsp_free_func(h); }});
}

void add_cr(Table& t) {
  const Kind k = Kind::kCr;
  const D d = D::kInvalidHandleCr;
  t.push_back({SOFTDAT_SLOT(cr_query), k, d,
               [](L& l, O& o, H h) { return l.table->cr_query_func(h, DAT_CR_FIELD_ALL, o.as<DAT_CR_PARAM>()); }});
  t.push_back(
      {SOFTDAT_SLOT(cr_accept), k, d, [](L& l, O&, H h) { return l.table->cr_accept_func(h, l.ep, 0, nullptr); }});
  t.push_back({offsetof(DAT_PROVIDER, cr_accept_func), "cr_accept ep", Kind::kEp, D::kInvalidHandleEp,
               [](L& l, O&, H h) { return l.table->cr_accept_func(l.cr, h, 0, nullptr); }, kNullAllowed});
  t.push_back({SOFTDAT_SLOT(cr_reject), k, d, [](L& l, O&, H h) {
#if SOFTDAT_ABI == 20
                 return l.table->cr_reject_func(h, 0, nullptr);
#else
                 return l.table->cr_reject_func(h);
#endif
               }});
  t.push_back({SOFTDAT_SLOT(cr_handoff), k, d, [](L& l, O&, H h) { return l.table->cr_handoff_func(h, 1); }});
}

void add_srq(Table& t) {
  const Kind k = Kind::kSrq;
  const D d = D::kInvalidHandleSrq;
  static DAT_SRQ_ATTR attributes{16, 1, 0};
  t.push_back({SOFTDAT_SLOT(srq_create), Kind::kIa, D::kInvalidHandleIa,
               [](L& l, O& o, H h) { return l.table->srq_create_func(h, l.pz, &attributes, o.as<H>()); }});
  t.push_back({offsetof(DAT_PROVIDER, srq_create_func), "srq_create pz", Kind::kPz, D::kInvalidHandlePz,
               [](L& l, O& o, H h) { return l.table->srq_create_func(l.ia, h, &attributes, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(srq_free), k, d, [](L& l, O&, H h) { return l.table->srq_free_func(h); }});
  t.push_back({SOFTDAT_SLOT(srq_post_recv), k, d,
               [](L& l, O&, H h) { return l.table->srq_post_recv_func(h, 1, segment(l), kContext); }});
  t.push_back({SOFTDAT_SLOT(srq_query), k, d,
               [](L& l, O& o, H h) { return l.table->srq_query_func(h, DAT_SRQ_FIELD_ALL, o.as<DAT_SRQ_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(srq_resize), k, d, [](L& l, O&, H h) { return l.table->srq_resize_func(h, 32); }});
  t.push_back({SOFTDAT_SLOT(srq_set_lw), k, d, [](L& l, O&, H h) { return l.table->srq_set_lw_func(h, 1); }});
}

#if SOFTDAT_ABI == 20

// Ends in `...`, as dat_extension_op does, to make the va_list.
DAT_RETURN call_extension(const DAT_PROVIDER& table, H handle, int operation, ...) {
  va_list arguments;
  va_start(arguments, operation);
  const DAT_RETURN answer = table.handle_extendedop_func(handle, operation, arguments);
  va_end(arguments);
  return answer;
}

void add_dat20(Table& t) {
  static DAT_COMM communicator{AF_INET, SOCK_STREAM, 0};
  t.push_back({SOFTDAT_SLOT(csp_create), Kind::kIa, D::kInvalidHandleIa, [](L& l, O& o, H h) {
                 return l.table->csp_create_func(h, &communicator, loopback(), l.evd, o.as<H>());
               }});
  t.push_back(
      {offsetof(DAT_PROVIDER, csp_create_func), "csp_create evd", Kind::kEvd, D::kInvalidHandleEvdCr,
       [](L& l, O& o, H h) { return l.table->csp_create_func(l.ia, &communicator, loopback(), h, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(csp_query), Kind::kCsp, D::kInvalidHandleCsp,
               [](L& l, O& o, H h) { return l.table->csp_query_func(h, DAT_CSP_FIELD_ALL, o.as<DAT_CSP_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(csp_free), Kind::kCsp, D::kInvalidHandleCsp,
               [](L& l, O&, H h) { return l.table->csp_free_func(h); }});
  t.push_back({SOFTDAT_SLOT(ep_common_connect), Kind::kEp, D::kInvalidHandleEp,
               [](L& l, O&, H h) { return l.table->ep_common_connect_func(h, loopback(), kWait, 0, nullptr); }});
  t.push_back({SOFTDAT_SLOT(rmr_create_for_ep), Kind::kPz, D::kInvalidHandlePz,
               [](L& l, O& o, H h) { return l.table->rmr_create_for_ep_func(h, o.as<H>()); }});
  t.push_back({offsetof(DAT_PROVIDER, rmr_bind_func), "rmr_bind lmr", Kind::kLmr, D::kInvalidHandleLmr,
               [](L& l, O& o, H h) { return bind_with(l, o, l.rmr, h, l.ep); }});
  t.push_back({SOFTDAT_SLOT(ep_post_send_with_invalidate), Kind::kEp, D::kInvalidHandleEp, [](L& l, O&, H h) {
                 return l.table->ep_post_send_with_invalidate_func(h, 1, segment(l), kContext, kDefault, DAT_FALSE, 0);
               }});
  t.push_back({SOFTDAT_SLOT(ep_post_rdma_read_to_rmr), Kind::kEp, D::kInvalidHandleEp, [](L& l, O&, H h) {
                 return l.table->ep_post_rdma_read_to_rmr_func(h, remote(l), kContext, remote(l), kDefault);
               }});
  t.push_back({SOFTDAT_SLOT(cno_fd_create), Kind::kIa, D::kInvalidHandleIa,
               [](L& l, O& o, H h) { return l.table->cno_fd_create_func(h, o.as<DAT_FD>(1), o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(cno_trigger), Kind::kCno, D::kInvalidHandleCno,
               [](L& l, O& o, H h) { return l.table->cno_trigger_func(h, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(ia_ha_related), Kind::kIa, D::kInvalidHandleIa, [](L& l, O& o, H h) {
                 char name[] = "sim1";
                 return l.table->ia_ha_related_func(h, name, o.as<DAT_BOOLEAN>());
               }});
  t.push_back({SOFTDAT_SLOT(handle_extendedop), Kind::kPz, D::kInvalidHandle1,
               [](L& l, O&, H h) { return call_extension(*l.table, h, 0); }, HandleSlot::kAnyKind});
}

#endif

}  // namespace

std::vector<HandleSlot> handle_slots() {
  Table table;
  for (auto add : {add_ia, add_any, add_cno, add_evd, add_ep_create, add_ep_create_with_srq, add_ep, add_ep_post,
                   add_memory, add_service_points, add_cr, add_srq})
    add(table);
#if SOFTDAT_ABI == 20
  add_dat20(table);
#endif
  return table;
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
