// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/entry_points.h"

namespace softdat::conformance {
namespace {

using Table = std::vector<HandleArgument>;

constexpr auto kIa = DAT_HANDLE_TYPE_IA;
constexpr auto kEvd = DAT_HANDLE_TYPE_EVD;
constexpr auto kEp = DAT_HANDLE_TYPE_EP;
constexpr auto kPz = DAT_HANDLE_TYPE_PZ;
constexpr auto kCno = DAT_HANDLE_TYPE_CNO;

constexpr DAT_OS_WAIT_PROXY_AGENT kNoAgent{nullptr, nullptr};
constexpr DAT_COMPLETION_FLAGS kDefault = DAT_COMPLETION_DEFAULT_FLAG;

void add_adapter_calls(Table& table) {
  table.insert(table.end(),
               {
                   {"dat_ia_close", "ia", kIa, DAT_INVALID_HANDLE_IA,
                    [](World&, DAT_HANDLE h) { return dat_ia_close(h, DAT_CLOSE_GRACEFUL_FLAG); }},
                   {"dat_ia_query", "ia", kIa, DAT_INVALID_HANDLE_IA,
                    [](World& w, DAT_HANDLE h) {
                      return dat_ia_query(h, &w.out.handle, DAT_IA_FIELD_ALL, &w.ia_attributes, 0, nullptr);
                    }},
                   {"dat_cno_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
                    [](World& w, DAT_HANDLE h) { return dat_cno_create(h, kNoAgent, &w.out.handle); }},
                   {"dat_pz_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
                    [](World& w, DAT_HANDLE h) { return dat_pz_create(h, &w.out.handle); }},
                   {"dat_lmr_sync_rdma_read", "ia", kIa, DAT_INVALID_HANDLE_IA,
                    [](World& w, DAT_HANDLE h) { return dat_lmr_sync_rdma_read(h, &w.segment, 1); }},
                   {"dat_lmr_sync_rdma_write", "ia", kIa, DAT_INVALID_HANDLE_IA,
                    [](World& w, DAT_HANDLE h) { return dat_lmr_sync_rdma_write(h, &w.segment, 1); }},
                   {"dat_set_consumer_context", "handle", kIa, DAT_INVALID_HANDLE1,
                    [](World&, DAT_HANDLE h) { return dat_set_consumer_context(h, make_cookie(1)); }, false, true},
                   {"dat_get_consumer_context", "handle", kIa, DAT_INVALID_HANDLE1,
                    [](World& w, DAT_HANDLE h) { return dat_get_consumer_context(h, &w.out.context); }, false, true},
                   {"dat_get_handle_type", "handle", kIa, DAT_INVALID_HANDLE1,
                    [](World& w, DAT_HANDLE h) { return dat_get_handle_type(h, &w.out.type); }, false, true},
               });
}

void add_dispatcher_calls(Table& table) {
  const auto evd_call = [&table](const char* name, std::function<DAT_RETURN(World&, DAT_HANDLE)> call) {
    table.push_back({name, "evd", kEvd, kEvdSubtype, std::move(call)});
  };
  evd_call("dat_evd_free", [](World&, DAT_HANDLE h) { return dat_evd_free(h); });
  evd_call("dat_evd_enable", [](World&, DAT_HANDLE h) { return dat_evd_enable(h); });
  evd_call("dat_evd_disable", [](World&, DAT_HANDLE h) { return dat_evd_disable(h); });
  evd_call("dat_evd_set_unwaitable", [](World&, DAT_HANDLE h) { return dat_evd_set_unwaitable(h); });
  evd_call("dat_evd_clear_unwaitable", [](World&, DAT_HANDLE h) { return dat_evd_clear_unwaitable(h); });
  evd_call("dat_evd_resize", [](World&, DAT_HANDLE h) { return dat_evd_resize(h, 16); });
  evd_call("dat_evd_modify_cno", [](World& w, DAT_HANDLE h) { return dat_evd_modify_cno(h, w.cno()); });
  evd_call("dat_evd_query", [](World& w, DAT_HANDLE h) { return dat_evd_query(h, DAT_EVD_FIELD_ALL, &w.out.evd); });
  evd_call("dat_evd_dequeue", [](World& w, DAT_HANDLE h) { return dat_evd_dequeue(h, &w.out.event); });
  evd_call("dat_evd_wait", [](World& w, DAT_HANDLE h) {
    DAT_COUNT more;
    return dat_evd_wait(h, 0, 1, &w.out.event, &more);
  });
  evd_call("dat_evd_post_se", [](World&, DAT_HANDLE h) {
    const DAT_EVENT event = make_software_event(1);
    return dat_evd_post_se(h, &event);
  });
  table.insert(
      table.end(),
      {
          {"dat_evd_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) {
             return dat_evd_create(h, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &w.out.handle);
           }},
          {"dat_evd_create", "cno", kCno, DAT_INVALID_HANDLE_CNO,
           [](World& w, DAT_HANDLE h) { return dat_evd_create(w.ia(), 8, h, DAT_EVD_DTO_FLAG, &w.out.handle); }, true},
          {"dat_evd_modify_cno", "cno", kCno, DAT_INVALID_HANDLE_CNO,
           [](World& w, DAT_HANDLE h) { return dat_evd_modify_cno(w.evd(), h); }, true},
          {"dat_cno_free", "cno", kCno, DAT_INVALID_HANDLE_CNO, [](World&, DAT_HANDLE h) { return dat_cno_free(h); }},
          {"dat_cno_modify_agent", "cno", kCno, DAT_INVALID_HANDLE_CNO,
           [](World&, DAT_HANDLE h) { return dat_cno_modify_agent(h, kNoAgent); }},
          {"dat_cno_query", "cno", kCno, DAT_INVALID_HANDLE_CNO,
           [](World& w, DAT_HANDLE h) { return dat_cno_query(h, DAT_CNO_FIELD_ALL, &w.out.cno); }},
          {"dat_cno_wait", "cno", kCno, DAT_INVALID_HANDLE_CNO,
           [](World& w, DAT_HANDLE h) { return dat_cno_wait(h, 0, &w.out.handle); }},
      });
}

DAT_RETURN create_ep(World& w, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                     DAT_EVD_HANDLE connect) {
  return dat_ep_create(ia, pz, recv, request, connect, nullptr, &w.out.handle);
}

DAT_RETURN create_ep_with_srq(World& w, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                              DAT_EVD_HANDLE connect, DAT_SRQ_HANDLE srq) {
  return dat_ep_create_with_srq(ia, pz, recv, request, connect, srq, &w.ep_attributes, &w.out.handle);
}

void add_endpoint_making_calls(Table& table) {
  table.insert(
      table.end(),
      {
          {"dat_ep_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) { return create_ep(w, h, w.pz(), w.evd(), w.evd(), w.evd()); }},
          {"dat_ep_create", "pz", kPz, DAT_INVALID_HANDLE_PZ,
           [](World& w, DAT_HANDLE h) { return create_ep(w, w.ia(), h, w.evd(), w.evd(), w.evd()); }, true},
          {"dat_ep_create", "recv_evd", kEvd, DAT_INVALID_HANDLE_EVD_RECV,
           [](World& w, DAT_HANDLE h) { return create_ep(w, w.ia(), w.pz(), h, w.evd(), w.evd()); }, true},
          {"dat_ep_create", "request_evd", kEvd, DAT_INVALID_HANDLE_EVD_REQUEST,
           [](World& w, DAT_HANDLE h) { return create_ep(w, w.ia(), w.pz(), w.evd(), h, w.evd()); }, true},
          {"dat_ep_create", "connect_evd", kEvd, DAT_INVALID_HANDLE_EVD_CONN,
           [](World& w, DAT_HANDLE h) { return create_ep(w, w.ia(), w.pz(), w.evd(), w.evd(), h); }, true},
          {"dat_ep_create_with_srq", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) { return create_ep_with_srq(w, h, w.pz(), w.evd(), w.evd(), w.evd(), w.evd()); }},
          {"dat_ep_create_with_srq", "pz", kPz, DAT_INVALID_HANDLE_PZ,
           [](World& w, DAT_HANDLE h) { return create_ep_with_srq(w, w.ia(), h, w.evd(), w.evd(), w.evd(), w.evd()); },
           true},
          {"dat_ep_create_with_srq", "recv_evd", kEvd, DAT_INVALID_HANDLE_EVD_RECV,
           [](World& w, DAT_HANDLE h) { return create_ep_with_srq(w, w.ia(), w.pz(), h, w.evd(), w.evd(), w.evd()); },
           true},
          {"dat_ep_create_with_srq", "request_evd", kEvd, DAT_INVALID_HANDLE_EVD_REQUEST,
           [](World& w, DAT_HANDLE h) { return create_ep_with_srq(w, w.ia(), w.pz(), w.evd(), h, w.evd(), w.evd()); },
           true},
          {"dat_ep_create_with_srq", "connect_evd", kEvd, DAT_INVALID_HANDLE_EVD_CONN,
           [](World& w, DAT_HANDLE h) { return create_ep_with_srq(w, w.ia(), w.pz(), w.evd(), w.evd(), h, w.evd()); },
           true},
          {"dat_ep_create_with_srq", "srq", DAT_HANDLE_TYPE_SRQ, DAT_INVALID_HANDLE_SRQ,
           [](World& w, DAT_HANDLE h) { return create_ep_with_srq(w, w.ia(), w.pz(), w.evd(), w.evd(), w.evd(), h); }},
      });
}

void add_endpoint_calls(Table& table) {
  const auto ep_call = [&table](const char* name, std::function<DAT_RETURN(World&, DAT_HANDLE)> call) {
    table.push_back({name, "ep", kEp, DAT_INVALID_HANDLE_EP, std::move(call)});
  };
  ep_call("dat_ep_free", [](World&, DAT_HANDLE h) { return dat_ep_free(h); });
  ep_call("dat_ep_reset", [](World&, DAT_HANDLE h) { return dat_ep_reset(h); });
  ep_call("dat_ep_disconnect", [](World&, DAT_HANDLE h) { return dat_ep_disconnect(h, DAT_CLOSE_ABRUPT_FLAG); });
  ep_call("dat_ep_query", [](World& w, DAT_HANDLE h) { return dat_ep_query(h, DAT_EP_FIELD_ALL, &w.out.ep); });
  ep_call("dat_ep_modify", [](World& w, DAT_HANDLE h) {
    w.out.ep.pz_handle = w.pz();
    return dat_ep_modify(h, DAT_EP_FIELD_PZ_HANDLE, &w.out.ep);
  });
  ep_call("dat_ep_get_status",
          [](World& w, DAT_HANDLE h) { return dat_ep_get_status(h, &w.out.state, nullptr, nullptr); });
  ep_call("dat_ep_recv_query", [](World& w, DAT_HANDLE h) {
    DAT_COUNT span;
    return dat_ep_recv_query(h, &w.out.count, &span);
  });
  ep_call("dat_ep_set_watermark", [](World&, DAT_HANDLE h) { return dat_ep_set_watermark(h, 4, 8); });
  ep_call("dat_ep_connect", [](World& w, DAT_HANDLE h) {
    return dat_ep_connect(h, w.address(), 1, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
  });
  ep_call("dat_ep_dup_connect", [](World& w, DAT_HANDLE h) {
    return dat_ep_dup_connect(h, w.connected().ep, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT);
  });
  table.push_back({"dat_ep_dup_connect", "ep_dup", kEp, DAT_INVALID_HANDLE_EP, [](World& w, DAT_HANDLE h) {
                     return dat_ep_dup_connect(w.ep(), h, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT);
                   }});
  ep_call("dat_ep_post_send",
          [](World& w, DAT_HANDLE h) { return dat_ep_post_send(h, 1, &w.segment, make_cookie(1), kDefault); });
  ep_call("dat_ep_post_recv",
          [](World& w, DAT_HANDLE h) { return dat_ep_post_recv(h, 1, &w.segment, make_cookie(1), kDefault); });
  ep_call("dat_ep_post_rdma_read", [](World& w, DAT_HANDLE h) {
    const DAT_RMR_TRIPLET remote = w.remote();
    return dat_ep_post_rdma_read(h, 1, &w.segment, make_cookie(1), &remote, kDefault);
  });
  ep_call("dat_ep_post_rdma_write", [](World& w, DAT_HANDLE h) {
    const DAT_RMR_TRIPLET remote = w.remote();
    return dat_ep_post_rdma_write(h, 1, &w.segment, make_cookie(1), &remote, kDefault);
  });
#if SOFTDAT_DAT_MAJOR == 2
  ep_call("dat_ep_common_connect",
          [](World& w, DAT_HANDLE h) { return dat_ep_common_connect(h, w.address(), kPatience, 0, nullptr); });
  ep_call("dat_ep_post_send_with_invalidate", [](World& w, DAT_HANDLE h) {
    return dat_ep_post_send_with_invalidate(h, 1, &w.segment, make_cookie(1), kDefault, DAT_FALSE, 0);
  });
  ep_call("dat_ep_post_rdma_read_to_rmr", [](World& w, DAT_HANDLE h) {
    const DAT_RMR_TRIPLET remote = w.remote();
    return dat_ep_post_rdma_read_to_rmr(h, &remote, make_cookie(1), &remote, kDefault);
  });
#endif
}

void add_memory_calls(Table& table) {
  const auto create = [](World& w, DAT_HANDLE ia, DAT_HANDLE pz) {
    DAT_LMR_CONTEXT context;
    return create_lmr(ia, DAT_MEM_TYPE_VIRTUAL, w.region, 64, pz, DAT_MEM_PRIV_ALL_FLAG, &w.out.handle, &context,
                      nullptr, nullptr, nullptr);
  };
  const auto bind = [](World& w, DAT_HANDLE rmr, [[maybe_unused]] DAT_HANDLE lmr, DAT_HANDLE ep) {
    DAT_RMR_CONTEXT context;
    return bind_rmr(rmr, lmr, &w.segment, DAT_MEM_PRIV_ALL_FLAG, ep, make_cookie(1), kDefault, &context);
  };
  table.insert(
      table.end(),
      {
          {"dat_pz_free", "pz", kPz, DAT_INVALID_HANDLE_PZ, [](World&, DAT_HANDLE h) { return dat_pz_free(h); }},
          {"dat_pz_query", "pz", kPz, DAT_INVALID_HANDLE_PZ,
           [](World& w, DAT_HANDLE h) { return dat_pz_query(h, DAT_PZ_FIELD_ALL, &w.out.pz); }},
          {"dat_lmr_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [create](World& w, DAT_HANDLE h) { return create(w, h, w.pz()); }},
          {"dat_lmr_create", "pz", kPz, DAT_INVALID_HANDLE_PZ,
           [create](World& w, DAT_HANDLE h) { return create(w, w.ia(), h); }},
          {"dat_lmr_free", "lmr", DAT_HANDLE_TYPE_LMR, DAT_INVALID_HANDLE_LMR,
           [](World&, DAT_HANDLE h) { return dat_lmr_free(h); }},
          {"dat_lmr_query", "lmr", DAT_HANDLE_TYPE_LMR, DAT_INVALID_HANDLE_LMR,
           [](World& w, DAT_HANDLE h) { return dat_lmr_query(h, DAT_LMR_FIELD_ALL, &w.out.lmr); }},
          {"dat_rmr_create", "pz", kPz, DAT_INVALID_HANDLE_PZ,
           [](World& w, DAT_HANDLE h) { return dat_rmr_create(h, &w.out.handle); }},
          {"dat_rmr_free", "rmr", DAT_HANDLE_TYPE_RMR, DAT_INVALID_HANDLE_RMR,
           [](World&, DAT_HANDLE h) { return dat_rmr_free(h); }},
          {"dat_rmr_query", "rmr", DAT_HANDLE_TYPE_RMR, DAT_INVALID_HANDLE_RMR,
           [](World& w, DAT_HANDLE h) { return dat_rmr_query(h, DAT_RMR_FIELD_ALL, &w.out.rmr); }},
          {"dat_rmr_bind", "rmr", DAT_HANDLE_TYPE_RMR, DAT_INVALID_HANDLE_RMR,
           [bind](World& w, DAT_HANDLE h) { return bind(w, h, w.lmr(), w.connected().ep); }},
          {"dat_rmr_bind", "ep", kEp, DAT_INVALID_HANDLE_EP,
           [bind](World& w, DAT_HANDLE h) { return bind(w, w.rmr(), w.lmr(), h); }},
      });
#if SOFTDAT_DAT_MAJOR == 2
  table.push_back({"dat_rmr_bind", "lmr", DAT_HANDLE_TYPE_LMR, DAT_INVALID_HANDLE_LMR,
                   [bind](World& w, DAT_HANDLE h) { return bind(w, w.rmr(), h, w.connected().ep); }});
  table.push_back({"dat_rmr_create_for_ep", "pz", kPz, DAT_INVALID_HANDLE_PZ,
                   [](World& w, DAT_HANDLE h) { return dat_rmr_create_for_ep(h, &w.out.handle); }});
#endif
}

void add_service_point_calls(Table& table) {
  constexpr auto kPsp = DAT_HANDLE_TYPE_PSP;
  constexpr auto kRsp = DAT_HANDLE_TYPE_RSP;
  constexpr auto kCr = DAT_HANDLE_TYPE_CR;
  table.insert(
      table.end(),
      {
          {"dat_psp_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) { return dat_psp_create(h, 77, w.evd(), DAT_PSP_CONSUMER_FLAG, &w.out.handle); }},
          {"dat_psp_create", "evd", kEvd, DAT_INVALID_HANDLE_EVD_CR,
           [](World& w, DAT_HANDLE h) { return dat_psp_create(w.ia(), 77, h, DAT_PSP_CONSUMER_FLAG, &w.out.handle); }},
          {"dat_psp_create_any", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) {
             DAT_CONN_QUAL qualifier;
             return dat_psp_create_any(h, &qualifier, w.evd(), DAT_PSP_CONSUMER_FLAG, &w.out.handle);
           }},
          {"dat_psp_create_any", "evd", kEvd, DAT_INVALID_HANDLE_EVD_CR,
           [](World& w, DAT_HANDLE h) {
             DAT_CONN_QUAL qualifier;
             return dat_psp_create_any(w.ia(), &qualifier, h, DAT_PSP_CONSUMER_FLAG, &w.out.handle);
           }},
          {"dat_psp_free", "psp", kPsp, DAT_INVALID_HANDLE_PSP, [](World&, DAT_HANDLE h) { return dat_psp_free(h); }},
          {"dat_psp_query", "psp", kPsp, DAT_INVALID_HANDLE_PSP,
           [](World& w, DAT_HANDLE h) { return dat_psp_query(h, DAT_PSP_FIELD_ALL, &w.out.psp); }},
          {"dat_rsp_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) { return dat_rsp_create(h, 78, w.ep(), w.evd(), &w.out.handle); }},
          {"dat_rsp_create", "ep", kEp, DAT_INVALID_HANDLE_EP,
           [](World& w, DAT_HANDLE h) { return dat_rsp_create(w.ia(), 78, h, w.evd(), &w.out.handle); }, true},
          {"dat_rsp_create", "evd", kEvd, DAT_INVALID_HANDLE_EVD_CR,
           [](World& w, DAT_HANDLE h) { return dat_rsp_create(w.ia(), 78, w.ep(), h, &w.out.handle); }},
          {"dat_rsp_free", "rsp", kRsp, DAT_INVALID_HANDLE_RSP, [](World&, DAT_HANDLE h) { return dat_rsp_free(h); }},
          {"dat_rsp_query", "rsp", kRsp, DAT_INVALID_HANDLE_RSP,
           [](World& w, DAT_HANDLE h) { return dat_rsp_query(h, DAT_RSP_FIELD_ALL, &w.out.rsp); }},
          {"dat_cr_query", "cr", kCr, DAT_INVALID_HANDLE_CR,
           [](World& w, DAT_HANDLE h) { return dat_cr_query(h, DAT_CR_FIELD_ALL, &w.out.cr); }},
          {"dat_cr_accept", "cr", kCr, DAT_INVALID_HANDLE_CR,
           [](World& w, DAT_HANDLE h) { return dat_cr_accept(h, w.ep(), 0, nullptr); }},
          {"dat_cr_accept", "ep", kEp, DAT_INVALID_HANDLE_EP,
           [](World& w, DAT_HANDLE h) { return dat_cr_accept(w.cr(), h, 0, nullptr); }},
          {"dat_cr_reject", "cr", kCr, DAT_INVALID_HANDLE_CR, [](World&, DAT_HANDLE h) { return reject_cr(h); }},
          {"dat_cr_handoff", "cr", kCr, DAT_INVALID_HANDLE_CR,
           [](World&, DAT_HANDLE h) { return dat_cr_handoff(h, 79); }},
      });
}

void add_shared_queue_calls(Table& table) {
  constexpr auto kSrq = DAT_HANDLE_TYPE_SRQ;
  table.insert(
      table.end(),
      {
          {"dat_srq_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) { return dat_srq_create(h, w.pz(), &w.srq_attributes, &w.out.handle); }},
          {"dat_srq_create", "pz", kPz, DAT_INVALID_HANDLE_PZ,
           [](World& w, DAT_HANDLE h) { return dat_srq_create(w.ia(), h, &w.srq_attributes, &w.out.handle); }},
          {"dat_srq_free", "srq", kSrq, DAT_INVALID_HANDLE_SRQ, [](World&, DAT_HANDLE h) { return dat_srq_free(h); }},
          {"dat_srq_post_recv", "srq", kSrq, DAT_INVALID_HANDLE_SRQ,
           [](World& w, DAT_HANDLE h) { return dat_srq_post_recv(h, 1, &w.segment, make_cookie(1)); }},
          {"dat_srq_query", "srq", kSrq, DAT_INVALID_HANDLE_SRQ,
           [](World& w, DAT_HANDLE h) { return dat_srq_query(h, DAT_SRQ_FIELD_ALL, &w.out.srq); }},
          {"dat_srq_resize", "srq", kSrq, DAT_INVALID_HANDLE_SRQ,
           [](World&, DAT_HANDLE h) { return dat_srq_resize(h, 16); }},
          {"dat_srq_set_lw", "srq", kSrq, DAT_INVALID_HANDLE_SRQ,
           [](World&, DAT_HANDLE h) { return dat_srq_set_lw(h, 1); }},
      });
}

#if SOFTDAT_DAT_MAJOR == 2
void add_calls_of_dat2(Table& table) {
  constexpr auto kCsp = DAT_HANDLE_TYPE_CSP;
  static DAT_COMM communicator{};
  table.insert(
      table.end(),
      {
          {"dat_csp_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) {
             return dat_csp_create(h, &communicator, w.address(), w.evd(), &w.out.handle);
           }},
          {"dat_csp_create", "evd", kEvd, DAT_INVALID_HANDLE_EVD_CR,
           [](World& w, DAT_HANDLE h) { return dat_csp_create(w.ia(), &communicator, w.address(), h, &w.out.handle); }},
          {"dat_csp_query", "csp", kCsp, DAT_INVALID_HANDLE_CSP,
           [](World& w, DAT_HANDLE h) {
             return dat_csp_query(h, DAT_CSP_FIELD_ALL, reinterpret_cast<DAT_CSP_PARAM*>(w.out.bytes));
           }},
          {"dat_csp_free", "csp", kCsp, DAT_INVALID_HANDLE_CSP, [](World&, DAT_HANDLE h) { return dat_csp_free(h); }},
          {"dat_cno_fd_create", "ia", kIa, DAT_INVALID_HANDLE_IA,
           [](World& w, DAT_HANDLE h) {
             DAT_FD descriptor;
             return dat_cno_fd_create(h, &descriptor, &w.out.handle);
           }},
          {"dat_cno_trigger", "cno", kCno, DAT_INVALID_HANDLE_CNO,
           [](World& w, DAT_HANDLE h) { return dat_cno_trigger(h, &w.out.handle); }},
      });
}
#endif

}  // namespace

std::vector<HandleArgument> handle_arguments() {
  Table table;
  add_adapter_calls(table);
  add_dispatcher_calls(table);
  add_endpoint_making_calls(table);
  add_endpoint_calls(table);
  add_memory_calls(table);
  add_service_point_calls(table);
  add_shared_queue_calls(table);
#if SOFTDAT_DAT_MAJOR == 2
  add_calls_of_dat2(table);
#endif
  return table;
}

}  // namespace softdat::conformance
