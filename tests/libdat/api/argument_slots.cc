// SPDX-License-Identifier: BSD-2-Clause
#include <limits>

#include "tests/libdat/api/slots.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Status;
using D = object::StatusDetail;
using T = object::StatusType;
using L = LiveObjects;
using O = Outputs;
using H = DAT_HANDLE;
using Table = std::vector<ArgumentSlot>;

constexpr DAT_COUNT kLeast = std::numeric_limits<DAT_COUNT>::min();
constexpr DAT_COUNT kMost = std::numeric_limits<DAT_COUNT>::max();
constexpr DAT_TIMEOUT kWait = 1'000'000;
constexpr DAT_COMPLETION_FLAGS kDefault = DAT_COMPLETION_DEFAULT_FLAG;
const DAT_OS_WAIT_PROXY_AGENT kNoAgent{nullptr, nullptr};
const DAT_CONTEXT kContext{nullptr};

// The argument of that number is invalid.
Status arg(int number) {
  return object::invalid_parameter(static_cast<D>(static_cast<int>(D::kInvalidArg1) + number - 1));
}

template <typename Enum>
Enum wild(unsigned bits) {
  return static_cast<Enum>(bits);
}

DAT_IA_ADDRESS_PTR address(sa_family_t family = AF_INET) {
  static sockaddr_in endpoint{};
  endpoint.sin_family = family;
  endpoint.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&endpoint);
}

// An address that nothing may read: counts must be refused before it is touched.
template <typename Triplet>
Triplet* nowhere() {
  return reinterpret_cast<Triplet*>(0x1000);
}

#define SOFTDAT_SLOT(function) offsetof(DAT_PROVIDER, function##_func)

void add_ia(Table& t) {
  char* name = [] {
    static char sim[] = "sim0";
    return sim;
  }();
  t.push_back({SOFTDAT_SLOT(ia_open), "ia_open null name", arg(1), [](L& l, O& o) {
                 H evd = nullptr;
                 return l.table->ia_open_func(nullptr, 8, &evd, o.as<H>());
               }});
  t.push_back({SOFTDAT_SLOT(ia_open), "ia_open negative length", arg(2), [name](L& l, O& o) {
                 H evd = nullptr;
                 return l.table->ia_open_func(name, kLeast, &evd, o.as<H>());
               }});
  t.push_back({SOFTDAT_SLOT(ia_open), "ia_open null evd", arg(3),
               [name](L& l, O& o) { return l.table->ia_open_func(name, 8, nullptr, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(ia_open), "ia_open null ia", arg(4), [name](L& l, O&) {
                 H evd = nullptr;
                 return l.table->ia_open_func(name, 8, &evd, nullptr);
               }});
  t.push_back({SOFTDAT_SLOT(ia_open), "ia_open unregistered name", Status{T::kProviderNotFound, D::kNameNotRegistered},
               [](L& l, O& o) {
                 char stranger[] = "stranger";
                 H evd = nullptr;
                 return l.table->ia_open_func(stranger, 8, &evd, o.as<H>());
               }});
  t.push_back({SOFTDAT_SLOT(ia_close), "ia_close flags", arg(2),
               [](L& l, O&) { return l.table->ia_close_func(l.ia, wild<DAT_CLOSE_FLAGS>(2)); }});
  t.push_back({SOFTDAT_SLOT(ia_query), "ia_query ia mask", arg(3), [](L& l, O& o) {
                 return l.table->ia_query_func(l.ia, nullptr, DAT_IA_FIELD_ALL + 1, o.as<DAT_IA_ATTR>(), 0, nullptr);
               }});
  t.push_back({SOFTDAT_SLOT(ia_query), "ia_query null ia attributes", arg(4),
               [](L& l, O&) { return l.table->ia_query_func(l.ia, nullptr, 1, nullptr, 0, nullptr); }});
  t.push_back({SOFTDAT_SLOT(ia_query), "ia_query provider mask", arg(5), [](L& l, O& o) {
                 return l.table->ia_query_func(l.ia, nullptr, 0, nullptr, ~DAT_PROVIDER_ATTR_MASK{0},
                                               o.as<DAT_PROVIDER_ATTR>());
               }});
  t.push_back({SOFTDAT_SLOT(ia_query), "ia_query null provider attributes", arg(6),
               [](L& l, O&) { return l.table->ia_query_func(l.ia, nullptr, 0, nullptr, 1, nullptr); }});
}

void add_any(Table& t) {
  t.push_back({SOFTDAT_SLOT(get_consumer_context), "get_consumer_context null", arg(2),
               [](L& l, O&) { return l.table->get_consumer_context_func(l.pz, nullptr); }});
  t.push_back({SOFTDAT_SLOT(get_handle_type), "get_handle_type null", arg(2),
               [](L& l, O&) { return l.table->get_handle_type_func(l.pz, nullptr); }});
}

void add_cno(Table& t) {
  t.push_back({SOFTDAT_SLOT(cno_create), "cno_create null", arg(3),
               [](L& l, O&) { return l.table->cno_create_func(l.ia, kNoAgent, nullptr); }});
  t.push_back({SOFTDAT_SLOT(cno_query), "cno_query mask", arg(2), [](L& l, O& o) {
                 return l.table->cno_query_func(l.cno, wild<DAT_CNO_PARAM_MASK>(0x10), o.as<DAT_CNO_PARAM>());
               }});
  t.push_back({SOFTDAT_SLOT(cno_query), "cno_query null", arg(3),
               [](L& l, O&) { return l.table->cno_query_func(l.cno, DAT_CNO_FIELD_ALL, nullptr); }});
  t.push_back({SOFTDAT_SLOT(cno_wait), "cno_wait null", arg(3),
               [](L& l, O&) { return l.table->cno_wait_func(l.cno, 0, nullptr); }});
}

void add_evd(Table& t) {
  for (const DAT_COUNT length : {0, -1, kLeast}) {
    t.push_back({SOFTDAT_SLOT(evd_create), "evd_create length", arg(2), [length](L& l, O& o) {
                   return l.table->evd_create_func(l.ia, length, nullptr, DAT_EVD_DTO_FLAG, o.as<H>());
                 }});
    t.push_back({SOFTDAT_SLOT(evd_resize), "evd_resize length", arg(2),
                 [length](L& l, O&) { return l.table->evd_resize_func(l.evd, length); }});
    t.push_back({SOFTDAT_SLOT(evd_wait), "evd_wait threshold", arg(3), [length](L& l, O& o) {
                   return l.table->evd_wait_func(l.evd, 0, length, o.as<DAT_EVENT>(), o.as<DAT_COUNT>(1));
                 }});
  }
  t.push_back({SOFTDAT_SLOT(evd_create), "evd_create longest", arg(2),
               [](L& l, O& o) { return l.table->evd_create_func(l.ia, kMost, nullptr, DAT_EVD_DTO_FLAG, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(evd_resize), "evd_resize longest", arg(2),
               [](L& l, O&) { return l.table->evd_resize_func(l.evd, kMost); }});
  t.push_back({SOFTDAT_SLOT(evd_wait), "evd_wait threshold", arg(3), [](L& l, O& o) {
                 return l.table->evd_wait_func(l.evd, 0, kMost, o.as<DAT_EVENT>(), o.as<DAT_COUNT>(1));
               }});
  for (const unsigned flags : {0x2u, 0x400u, 0x80000000u})
    t.push_back({SOFTDAT_SLOT(evd_create), "evd_create flags", arg(4), [flags](L& l, O& o) {
                   return l.table->evd_create_func(l.ia, 8, nullptr, wild<DAT_EVD_FLAGS>(flags), o.as<H>());
                 }});
  t.push_back({SOFTDAT_SLOT(evd_create), "evd_create null", arg(5),
               [](L& l, O&) { return l.table->evd_create_func(l.ia, 8, nullptr, DAT_EVD_DTO_FLAG, nullptr); }});
  t.push_back({SOFTDAT_SLOT(evd_query), "evd_query mask", arg(2), [](L& l, O& o) {
                 return l.table->evd_query_func(l.evd, wild<DAT_EVD_PARAM_MASK>(0x20), o.as<DAT_EVD_PARAM>());
               }});
  t.push_back({SOFTDAT_SLOT(evd_query), "evd_query null", arg(3),
               [](L& l, O&) { return l.table->evd_query_func(l.evd, DAT_EVD_FIELD_ALL, nullptr); }});
  t.push_back({SOFTDAT_SLOT(evd_wait), "evd_wait null event", arg(4),
               [](L& l, O& o) { return l.table->evd_wait_func(l.evd, 0, 1, nullptr, o.as<DAT_COUNT>(1)); }});
  t.push_back({SOFTDAT_SLOT(evd_wait), "evd_wait null nmore", arg(5),
               [](L& l, O& o) { return l.table->evd_wait_func(l.evd, 0, 1, o.as<DAT_EVENT>(), nullptr); }});
  t.push_back({SOFTDAT_SLOT(evd_dequeue), "evd_dequeue null", arg(2),
               [](L& l, O&) { return l.table->evd_dequeue_func(l.evd, nullptr); }});
  t.push_back({SOFTDAT_SLOT(evd_post_se), "evd_post_se null", arg(2),
               [](L& l, O&) { return l.table->evd_post_se_func(l.software_evd, nullptr); }});
  t.push_back({SOFTDAT_SLOT(evd_post_se), "evd_post_se no software event", arg(2), [](L& l, O&) {
                 DAT_EVENT event{};
                 event.event_number = DAT_DTO_COMPLETION_EVENT;
                 return l.table->evd_post_se_func(l.software_evd, &event);
               }});
}

void add_memory(Table& t) {
  t.push_back({SOFTDAT_SLOT(pz_create), "pz_create null", arg(2),
               [](L& l, O&) { return l.table->pz_create_func(l.ia, nullptr); }});
  t.push_back({SOFTDAT_SLOT(pz_query), "pz_query mask", arg(2), [](L& l, O& o) {
                 return l.table->pz_query_func(l.pz, wild<DAT_PZ_PARAM_MASK>(2), o.as<DAT_PZ_PARAM>());
               }});
  t.push_back({SOFTDAT_SLOT(pz_query), "pz_query null", arg(3),
               [](L& l, O&) { return l.table->pz_query_func(l.pz, DAT_PZ_FIELD_ALL, nullptr); }});
  t.push_back({SOFTDAT_SLOT(lmr_query), "lmr_query mask", arg(2), [](L& l, O& o) {
                 return l.table->lmr_query_func(l.lmr, wild<DAT_LMR_PARAM_MASK>(0x8000), o.as<DAT_LMR_PARAM>());
               }});
  t.push_back({SOFTDAT_SLOT(lmr_query), "lmr_query null", arg(3),
               [](L& l, O&) { return l.table->lmr_query_func(l.lmr, DAT_LMR_FIELD_ALL, nullptr); }});
  t.push_back({SOFTDAT_SLOT(lmr_sync_rdma_read), "lmr_sync null", arg(2),
               [](L& l, O&) { return l.table->lmr_sync_rdma_read_func(l.ia, nullptr, 1); }});
  t.push_back({SOFTDAT_SLOT(lmr_sync_rdma_write), "lmr_sync count", arg(3), [](L& l, O&) {
                 return l.table->lmr_sync_rdma_write_func(l.ia, nowhere<DAT_LMR_TRIPLET>(), ~DAT_VLEN{0});
               }});
  t.push_back({SOFTDAT_SLOT(rmr_create), "rmr_create null", arg(2),
               [](L& l, O&) { return l.table->rmr_create_func(l.pz, nullptr); }});
  t.push_back({SOFTDAT_SLOT(rmr_query), "rmr_query mask", arg(2), [](L& l, O& o) {
                 return l.table->rmr_query_func(l.rmr, wild<DAT_RMR_PARAM_MASK>(0x80), o.as<DAT_RMR_PARAM>());
               }});
  t.push_back({SOFTDAT_SLOT(rmr_query), "rmr_query null", arg(3),
               [](L& l, O&) { return l.table->rmr_query_func(l.rmr, DAT_RMR_FIELD_ALL, nullptr); }});
}

// The arguments of dat_lmr_create that can be wrong, so that a row says only which is.
struct LmrWish {
  unsigned mem_type = DAT_MEM_TYPE_VIRTUAL;
  void* address = nullptr;  // null: the test's memory
  DAT_VLEN length = 64;
  unsigned privileges = DAT_MEM_PRIV_ALL_FLAG;
  unsigned va_type = 0;
  bool wants_handle = true;
};

DAT_RETURN create_lmr_as(L& l, O& o, const LmrWish& wish) {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = wish.address == nullptr ? l.memory.data() : wish.address;
  H* handle = wish.wants_handle ? o.as<H>() : nullptr;
#if SOFTDAT_ABI == 20
  return l.table->lmr_create_func(l.ia, wild<DAT_MEM_TYPE>(wish.mem_type), region, wish.length, l.pz,
                                  wild<DAT_MEM_PRIV_FLAGS>(wish.privileges), wild<DAT_VA_TYPE>(wish.va_type), handle,
                                  nullptr, nullptr, nullptr, nullptr);
#else
  return l.table->lmr_create_func(l.ia, wild<DAT_MEM_TYPE>(wish.mem_type), region, wish.length, l.pz,
                                  wild<DAT_MEM_PRIV_FLAGS>(wish.privileges), handle, nullptr, nullptr, nullptr,
                                  nullptr);
#endif
}

void add_lmr_create(Table& t) {
  const auto row = [&t](const char* what, Status answer, const LmrWish& wish) {
    t.push_back({SOFTDAT_SLOT(lmr_create), std::string("lmr_create ") + what, answer,
                 [wish](L& l, O& o) { return create_lmr_as(l, o, wish); }});
  };
  row("type", arg(2), {.mem_type = 0xdead});
  // The address is taken for an LMR handle, or for shared memory without a cookie.
  row("of no LMR", object::invalid_handle(D::kInvalidHandleLmr), {.mem_type = DAT_MEM_TYPE_LMR});
  row("shared without cookie", arg(3), {.mem_type = DAT_MEM_TYPE_SHARED_VIRTUAL});
  row("no bytes", Status{T::kLengthError}, {.length = 0});
  row("privileges", arg(6), {.privileges = 0x8000});
  row("null handle", arg(kAbi == 20 ? 8 : 7), {.wants_handle = false});
#if SOFTDAT_ABI == 20
  row("address type", arg(7), {.va_type = 2});
#endif
}

void add_ep_create(Table& t) {
  const auto row = [&t](const char* what, Status answer, auto change) {
    t.push_back({SOFTDAT_SLOT(ep_create), std::string("ep_create ") + what, answer, [change](L& l, O& o) {
                   DAT_EP_ATTR attributes{};
                   change(attributes);
                   return l.table->ep_create_func(l.ia, l.pz, l.evd, l.evd, l.evd, &attributes, o.as<H>());
                 }});
  };
  row("negative receives", arg(6), [](DAT_EP_ATTR& a) { a.max_recv_dtos = kLeast; });
  row("too many receives", arg(6), [](DAT_EP_ATTR& a) { a.max_recv_dtos = kMost; });
  row("negative requests", arg(6), [](DAT_EP_ATTR& a) { a.max_request_dtos = -1; });
  row("too many segments", arg(6), [](DAT_EP_ATTR& a) { a.max_request_iov = kMost; });
  row("negative segments", arg(6), [](DAT_EP_ATTR& a) { a.max_recv_iov = -1; });
  row("too many reads", arg(6), [](DAT_EP_ATTR& a) { a.max_rdma_read_out = kMost; });
  row("unknown completion flags", arg(6),
      [](DAT_EP_ATTR& a) { a.request_completion_flags = wild<DAT_COMPLETION_FLAGS>(0x4000); });
  row("named attributes", arg(6), [](DAT_EP_ATTR& a) { a.ep_provider_specific_count = -3; });
  row("service type", object::model_not_supported(),
      [](DAT_EP_ATTR& a) { a.service_type = wild<DAT_SERVICE_TYPE>(2); });
  t.push_back({SOFTDAT_SLOT(ep_create), "ep_create null", arg(7),
               [](L& l, O&) { return l.table->ep_create_func(l.ia, l.pz, l.evd, l.evd, l.evd, nullptr, nullptr); }});
}

void add_ep(Table& t) {
  t.push_back({SOFTDAT_SLOT(ep_query), "ep_query mask", arg(2),
               [](L& l, O& o) { return l.table->ep_query_func(l.ep, DAT_EP_FIELD_ALL + 1, o.as<DAT_EP_PARAM>()); }});
  t.push_back({SOFTDAT_SLOT(ep_query), "ep_query null", arg(3),
               [](L& l, O&) { return l.table->ep_query_func(l.ep, DAT_EP_FIELD_ALL, nullptr); }});
  for (const DAT_EP_PARAM_MASK fixed :
       {DAT_EP_FIELD_IA_HANDLE, DAT_EP_FIELD_EP_STATE, DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR, DAT_EP_FIELD_REMOTE_PORT_QUAL,
        DAT_EP_FIELD_SRQ_HANDLE, DAT_EP_FIELD_ALL + 1})
    t.push_back({SOFTDAT_SLOT(ep_modify), "ep_modify fixed field", arg(2), [fixed](L& l, O&) {
                   const DAT_EP_PARAM parameters{};
                   return l.table->ep_modify_func(l.ep, fixed, &parameters);
                 }});
  t.push_back({SOFTDAT_SLOT(ep_modify), "ep_modify null", arg(3),
               [](L& l, O&) { return l.table->ep_modify_func(l.ep, DAT_EP_FIELD_EP_ATTR_QOS, nullptr); }});
  t.push_back({SOFTDAT_SLOT(ep_modify), "ep_modify wrong kind", arg(3), [](L& l, O&) {
                 DAT_EP_PARAM parameters{};
                 parameters.recv_evd_handle = l.pz;
                 return l.table->ep_modify_func(l.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &parameters);
               }});
  t.push_back({SOFTDAT_SLOT(ep_disconnect), "ep_disconnect flags", arg(2),
               [](L& l, O&) { return l.table->ep_disconnect_func(l.ep, wild<DAT_CLOSE_FLAGS>(0xffff)); }});
  t.push_back({SOFTDAT_SLOT(ep_set_watermark), "ep_set_watermark soft", arg(2),
               [](L& l, O&) { return l.table->ep_set_watermark_func(l.ep, kLeast, 1); }});
  t.push_back({SOFTDAT_SLOT(ep_set_watermark), "ep_set_watermark hard", arg(3),
               [](L& l, O&) { return l.table->ep_set_watermark_func(l.ep, 1, kLeast); }});
}

struct ConnectWish {
  DAT_IA_ADDRESS_PTR remote = nullptr;
  DAT_TIMEOUT timeout = kWait;
  DAT_COUNT size = 0;
  const void* data = nullptr;
  unsigned qos = 0;
  unsigned flags = 0;
};

void add_ep_connect(Table& t) {
  const auto row = [&t](const char* what, Status answer, const ConnectWish& wish) {
    t.push_back({SOFTDAT_SLOT(ep_connect), std::string("ep_connect ") + what, answer, [wish](L& l, O&) {
                   return l.table->ep_connect_func(l.reserved_ep, wish.remote, 1, wish.timeout, wish.size,
                                                   const_cast<void*>(wish.data), wild<DAT_QOS>(wish.qos),
                                                   wild<DAT_CONNECT_FLAGS>(wish.flags));
                 }});
  };
  static const char data[8] = "sesame";
  row("null address", arg(2), {});
  row("no time", arg(4), {.remote = address(), .timeout = 0});
  row("negative private data", arg(5), {.remote = address(), .size = kLeast, .data = data});
  row("too much private data", arg(5), {.remote = address(), .size = kMost, .data = data});
  row("null private data", arg(6), {.remote = address(), .size = 8});
  row("quality", object::model_not_supported(), {.remote = address(), .qos = 0x100});
  row("flags", arg(8), {.remote = address(), .flags = 0x100});
  t.push_back({SOFTDAT_SLOT(ep_connect), "ep_connect family", object::invalid_address(D::kInvalidAddressUnsupported),
               [](L& l, O&) {
                 sockaddr_in local{};
                 local.sin_family = AF_UNIX;
                 return l.table->ep_connect_func(l.reserved_ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&local), 1, kWait,
                                                 0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
               }});
}

void add_ep_dup_connect(Table& t) {
  const auto row = [&t](const char* what, Status answer, const ConnectWish& wish) {
    t.push_back({SOFTDAT_SLOT(ep_dup_connect), std::string("ep_dup_connect ") + what, answer, [wish](L& l, O&) {
                   return l.table->ep_dup_connect_func(l.reserved_ep, l.ep, wish.timeout, wish.size,
                                                       const_cast<void*>(wish.data), wild<DAT_QOS>(wish.qos));
                 }});
  };
  static const char data[8] = "sesame";
  row("no time", arg(3), {.timeout = 0});
  row("negative private data", arg(4), {.size = kLeast, .data = data});
  row("too much private data", arg(4), {.size = kMost, .data = data});
  row("null private data", arg(5), {.size = 8});
  row("quality", object::model_not_supported(), {.qos = 0x100});
  t.push_back({SOFTDAT_SLOT(cr_handoff), "cr_handoff to nobody", arg(2),
               [](L& l, O&) { return l.table->cr_handoff_func(l.cr, 7); }});
}

#if SOFTDAT_ABI == 20

void add_common(Table& t) {
  static DAT_COMM tcp{AF_INET, SOCK_STREAM, 0};
  static DAT_COMM packets{AF_INET, SOCK_DGRAM, 0};
  t.push_back({SOFTDAT_SLOT(csp_create), "csp_create null communicator", arg(2),
               [](L& l, O& o) { return l.table->csp_create_func(l.ia, nullptr, address(), l.evd, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(csp_create), "csp_create null address", arg(3),
               [](L& l, O& o) { return l.table->csp_create_func(l.ia, &tcp, nullptr, l.evd, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(csp_create), "csp_create null", arg(5),
               [](L& l, O&) { return l.table->csp_create_func(l.ia, &tcp, address(), l.evd, nullptr); }});
  t.push_back({SOFTDAT_SLOT(csp_create), "csp_create datagrams", object::comm_not_supported(),
               [](L& l, O& o) { return l.table->csp_create_func(l.ia, &packets, address(), l.evd, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(ep_common_connect), "ep_common_connect null address", arg(2),
               [](L& l, O&) { return l.table->ep_common_connect_func(l.reserved_ep, nullptr, kWait, 0, nullptr); }});
  t.push_back({SOFTDAT_SLOT(ep_common_connect), "ep_common_connect no time", arg(3),
               [](L& l, O&) { return l.table->ep_common_connect_func(l.reserved_ep, address(), 0, 0, nullptr); }});
  t.push_back({SOFTDAT_SLOT(ep_common_connect), "ep_common_connect negative private data", arg(4), [](L& l, O&) {
                 return l.table->ep_common_connect_func(l.reserved_ep, address(), kWait, kLeast, nullptr);
               }});
  t.push_back({SOFTDAT_SLOT(ep_common_connect), "ep_common_connect null private data", arg(5),
               [](L& l, O&) { return l.table->ep_common_connect_func(l.reserved_ep, address(), kWait, 8, nullptr); }});
}

#endif

// A count or vector that no post may take, for each of the posts that have one.
void add_posts(Table& t, DAT_COUNT count, DAT_LMR_TRIPLET* iov, Status answer) {
  static const DAT_RMR_TRIPLET remote{};
  t.push_back({SOFTDAT_SLOT(ep_post_send), "ep_post_send iov", answer,
               [=](L& l, O&) { return l.table->ep_post_send_func(l.ep, count, iov, kContext, kDefault); }});
  t.push_back({SOFTDAT_SLOT(ep_post_recv), "ep_post_recv iov", answer,
               [=](L& l, O&) { return l.table->ep_post_recv_func(l.ep, count, iov, kContext, kDefault); }});
  t.push_back({SOFTDAT_SLOT(ep_post_rdma_read), "ep_post_rdma_read iov", answer, [=](L& l, O&) {
                 return l.table->ep_post_rdma_read_func(l.ep, count, iov, kContext, &remote, kDefault);
               }});
  t.push_back({SOFTDAT_SLOT(ep_post_rdma_write), "ep_post_rdma_write iov", answer, [=](L& l, O&) {
                 return l.table->ep_post_rdma_write_func(l.ep, count, iov, kContext, &remote, kDefault);
               }});
#if SOFTDAT_ABI == 20
  t.push_back({SOFTDAT_SLOT(ep_post_send_with_invalidate), "ep_post_send_with_invalidate iov", answer, [=](L& l, O&) {
                 return l.table->ep_post_send_with_invalidate_func(l.ep, count, iov, kContext, kDefault, DAT_FALSE, 0);
               }});
#endif
}

void add_posts(Table& t) {
  for (const DAT_COUNT count : {-1, kLeast, kMost, 1 << 20}) add_posts(t, count, nowhere<DAT_LMR_TRIPLET>(), arg(2));
  add_posts(t, 1, nullptr, arg(3));
  t.push_back({SOFTDAT_SLOT(ep_post_rdma_read), "ep_post_rdma_read null remote", arg(5), [](L& l, O&) {
                 return l.table->ep_post_rdma_read_func(l.ep, 0, nullptr, kContext, nullptr, kDefault);
               }});
  t.push_back({SOFTDAT_SLOT(ep_post_rdma_write), "ep_post_rdma_write null remote", arg(5), [](L& l, O&) {
                 return l.table->ep_post_rdma_write_func(l.ep, 0, nullptr, kContext, nullptr, kDefault);
               }});
  t.push_back({SOFTDAT_SLOT(ep_post_recv), "ep_post_recv flags", arg(5), [](L& l, O&) {
                 return l.table->ep_post_recv_func(l.ep, 0, nullptr, kContext, wild<DAT_COMPLETION_FLAGS>(0x1000));
               }});
}

void add_service_points(Table& t) {
  t.push_back({SOFTDAT_SLOT(psp_create), "psp_create flags", arg(4),
               [](L& l, O& o) { return l.table->psp_create_func(l.ia, 7, l.evd, wild<DAT_PSP_FLAGS>(2), o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(psp_create), "psp_create null", arg(5),
               [](L& l, O&) { return l.table->psp_create_func(l.ia, 7, l.evd, DAT_PSP_CONSUMER_FLAG, nullptr); }});
  t.push_back({SOFTDAT_SLOT(psp_create_any), "psp_create_any null qualifier", arg(2), [](L& l, O& o) {
                 return l.table->psp_create_any_func(l.ia, nullptr, l.evd, DAT_PSP_CONSUMER_FLAG, o.as<H>());
               }});
  t.push_back({SOFTDAT_SLOT(psp_create_any), "psp_create_any flags", arg(4), [](L& l, O& o) {
                 return l.table->psp_create_any_func(l.ia, o.as<DAT_CONN_QUAL>(1), l.evd, wild<DAT_PSP_FLAGS>(0xff),
                                                     o.as<H>());
               }});
  t.push_back({SOFTDAT_SLOT(psp_create_any), "psp_create_any null", arg(5), [](L& l, O& o) {
                 return l.table->psp_create_any_func(l.ia, o.as<DAT_CONN_QUAL>(1), l.evd, DAT_PSP_CONSUMER_FLAG,
                                                     nullptr);
               }});
  t.push_back({SOFTDAT_SLOT(psp_query), "psp_query mask", arg(2), [](L& l, O& o) {
                 return l.table->psp_query_func(l.psp, wild<DAT_PSP_PARAM_MASK>(0x10), o.as<DAT_PSP_PARAM>());
               }});
  t.push_back({SOFTDAT_SLOT(psp_query), "psp_query null", arg(3),
               [](L& l, O&) { return l.table->psp_query_func(l.psp, DAT_PSP_FIELD_ALL, nullptr); }});
  t.push_back({SOFTDAT_SLOT(rsp_create), "rsp_create null", arg(5),
               [](L& l, O&) { return l.table->rsp_create_func(l.ia, 8, nullptr, l.evd, nullptr); }});
  t.push_back({SOFTDAT_SLOT(rsp_query), "rsp_query mask", arg(2), [](L& l, O& o) {
                 return l.table->rsp_query_func(l.rsp, wild<DAT_RSP_PARAM_MASK>(0x10), o.as<DAT_RSP_PARAM>());
               }});
  t.push_back({SOFTDAT_SLOT(rsp_query), "rsp_query null", arg(3),
               [](L& l, O&) { return l.table->rsp_query_func(l.rsp, DAT_RSP_FIELD_ALL, nullptr); }});
}

void add_cr(Table& t) {
  static char data[8] = "sesame";
  t.push_back({SOFTDAT_SLOT(cr_query), "cr_query mask", arg(2), [](L& l, O& o) {
                 return l.table->cr_query_func(l.cr, wild<DAT_CR_PARAM_MASK>(0x20), o.as<DAT_CR_PARAM>());
               }});
  t.push_back({SOFTDAT_SLOT(cr_query), "cr_query null", arg(3),
               [](L& l, O&) { return l.table->cr_query_func(l.cr, DAT_CR_FIELD_ALL, nullptr); }});
  for (const DAT_COUNT size : {-1, kLeast, kMost}) {
    t.push_back({SOFTDAT_SLOT(cr_accept), "cr_accept size", arg(3),
                 [size](L& l, O&) { return l.table->cr_accept_func(l.cr, l.reserved_ep, size, data); }});
#if SOFTDAT_ABI == 20
    t.push_back({SOFTDAT_SLOT(cr_reject), "cr_reject size", arg(2),
                 [size](L& l, O&) { return l.table->cr_reject_func(l.cr, size, data); }});
#endif
  }
  t.push_back({SOFTDAT_SLOT(cr_accept), "cr_accept null data", arg(4),
               [](L& l, O&) { return l.table->cr_accept_func(l.cr, l.reserved_ep, 8, nullptr); }});
#if SOFTDAT_ABI == 20
  t.push_back({SOFTDAT_SLOT(cr_reject), "cr_reject null data", arg(3),
               [](L& l, O&) { return l.table->cr_reject_func(l.cr, 8, nullptr); }});
#endif
}

void add_srq(Table& t) {
  static DAT_SRQ_ATTR good{16, 1, 0};
  t.push_back({SOFTDAT_SLOT(srq_create), "srq_create null attributes", arg(3),
               [](L& l, O& o) { return l.table->srq_create_func(l.ia, l.pz, nullptr, o.as<H>()); }});
  t.push_back({SOFTDAT_SLOT(srq_create), "srq_create null", arg(4),
               [](L& l, O&) { return l.table->srq_create_func(l.ia, l.pz, &good, nullptr); }});
  for (const DAT_SRQ_ATTR& bad :
       {DAT_SRQ_ATTR{0, 1, 0}, DAT_SRQ_ATTR{kLeast, 1, 0}, DAT_SRQ_ATTR{kMost, 1, 0}, DAT_SRQ_ATTR{8, -1, 0},
        DAT_SRQ_ATTR{8, kMost, 0}, DAT_SRQ_ATTR{8, 1, -1}, DAT_SRQ_ATTR{8, 1, 9}})
    t.push_back({SOFTDAT_SLOT(srq_create), "srq_create bad attributes", arg(3), [bad](L& l, O& o) {
                   DAT_SRQ_ATTR attributes = bad;
                   return l.table->srq_create_func(l.ia, l.pz, &attributes, o.as<H>());
                 }});
}

}  // namespace

std::vector<ArgumentSlot> argument_slots() {
  Table table;
  add_ia(table);
  add_any(table);
  add_cno(table);
  add_evd(table);
  add_memory(table);
  add_lmr_create(table);
  add_ep_create(table);
  add_ep(table);
  add_ep_connect(table);
  add_ep_dup_connect(table);
#if SOFTDAT_ABI == 20
  add_common(table);
#endif
  add_posts(table);
  add_service_points(table);
  add_cr(table);
  add_srq(table);
  return table;
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
