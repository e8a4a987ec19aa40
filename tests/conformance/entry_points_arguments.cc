// SPDX-License-Identifier: BSD-2-Clause
#include <array>

#include "tests/conformance/answers.h"
#include "tests/conformance/entry_points.h"

namespace softdat::conformance {
namespace {

using Table = std::vector<WildArgument>;
using Call = std::function<DAT_RETURN(World&)>;

constexpr DAT_COMPLETION_FLAGS kDefault = DAT_COMPLETION_DEFAULT_FLAG;
constexpr DAT_COUNT kWildCounts[] = {-1, -2147483647 - 1, 0x7fffffff, 0x00ffffff};

// Argument `number` (from 1) is invalid.
testing::Matcher<DAT_RETURN> refuses(int number) {
  return fails_with(DAT_INVALID_PARAMETER,
                    static_cast<DAT_RETURN_SUBTYPE>(static_cast<int>(DAT_INVALID_ARG1) + number - 1));
}

template <typename Enum>
Enum wild() {
  return static_cast<Enum>(0x40004000);
}

// A query: unknown mask bits and a null output.
template <typename Mask, typename Query>
void add_query(Table& table, const char* name, Mask all, Query query) {
  table.push_back(
      {name, "mask", [query](World& w) { return query(w, static_cast<Mask>(0x40000000), false); }, refuses(2)});
  table.push_back({name, "null output", [query, all](World& w) { return query(w, all, true); }, refuses(3)});
}

void add_queries(Table& table) {
  add_query(table, "dat_evd_query", DAT_EVD_FIELD_ALL, [](World& w, DAT_EVD_PARAM_MASK mask, bool null) {
    return dat_evd_query(w.evd(), mask, null ? nullptr : &w.out.evd);
  });
  add_query(table, "dat_cno_query", DAT_CNO_FIELD_ALL, [](World& w, DAT_CNO_PARAM_MASK mask, bool null) {
    return dat_cno_query(w.cno(), mask, null ? nullptr : &w.out.cno);
  });
  add_query(table, "dat_pz_query", DAT_PZ_FIELD_ALL, [](World& w, DAT_PZ_PARAM_MASK mask, bool null) {
    return dat_pz_query(w.pz(), mask, null ? nullptr : &w.out.pz);
  });
  add_query(table, "dat_ep_query", DAT_EP_FIELD_ALL, [](World& w, DAT_EP_PARAM_MASK mask, bool null) {
    return dat_ep_query(w.ep(), mask == DAT_EP_FIELD_ALL ? mask : ~DAT_EP_FIELD_ALL, null ? nullptr : &w.out.ep);
  });
  add_query(table, "dat_lmr_query", DAT_LMR_FIELD_ALL, [](World& w, DAT_LMR_PARAM_MASK mask, bool null) {
    return dat_lmr_query(w.lmr(), mask, null ? nullptr : &w.out.lmr);
  });
  add_query(table, "dat_rmr_query", DAT_RMR_FIELD_ALL, [](World& w, DAT_RMR_PARAM_MASK mask, bool null) {
    return dat_rmr_query(w.rmr(), mask, null ? nullptr : &w.out.rmr);
  });
  add_query(table, "dat_psp_query", DAT_PSP_FIELD_ALL, [](World& w, DAT_PSP_PARAM_MASK mask, bool null) {
    return dat_psp_query(w.psp(), mask, null ? nullptr : &w.out.psp);
  });
  add_query(table, "dat_rsp_query", DAT_RSP_FIELD_ALL, [](World& w, DAT_RSP_PARAM_MASK mask, bool null) {
    return dat_rsp_query(w.rsp(), mask, null ? nullptr : &w.out.rsp);
  });
  add_query(table, "dat_cr_query", DAT_CR_FIELD_ALL, [](World& w, DAT_CR_PARAM_MASK mask, bool null) {
    return dat_cr_query(w.cr(), mask, null ? nullptr : &w.out.cr);
  });
}

void add_adapter_arguments(Table& table) {
  const auto add = [&table](const char* name, const char* argument, Call call, int number) {
    table.push_back({name, argument, std::move(call), refuses(number)});
  };
  add(
      "dat_ia_openv", "null name", [](World& w) { return dat_ia_open(nullptr, 8, &w.out.handle, &w.out.handle); }, 1);
  table.push_back({"dat_ia_openv", "null ia",
                   [](World& w) {
                     char name[] = "sim0";
                     w.out.handle = DAT_HANDLE_NULL;
                     return dat_ia_open(name, 8, &w.out.handle, nullptr);
                   },
                   fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA)});
  add(
      "dat_ia_close", "flags", [](World& w) { return dat_ia_close(w.ia(), wild<DAT_CLOSE_FLAGS>()); }, 2);
  add(
      "dat_ia_query", "ia mask",
      [](World& w) { return dat_ia_query(w.ia(), nullptr, ~DAT_IA_FIELD_ALL, &w.ia_attributes, 0, nullptr); }, 3);
  add(
      "dat_ia_query", "null ia attributes",
      [](World& w) { return dat_ia_query(w.ia(), nullptr, DAT_IA_FIELD_ALL, nullptr, 0, nullptr); }, 4);
  add(
      "dat_ia_query", "provider mask",
      [](World& w) {
        return dat_ia_query(w.ia(), nullptr, 0, nullptr, ~DAT_PROVIDER_FIELD_ALL, &w.provider_attributes);
      },
      5);
  add(
      "dat_ia_query", "null provider attributes",
      [](World& w) { return dat_ia_query(w.ia(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, nullptr); }, 6);
  add(
      "dat_get_consumer_context", "null", [](World& w) { return dat_get_consumer_context(w.ep(), nullptr); }, 2);
  add(
      "dat_get_handle_type", "null", [](World& w) { return dat_get_handle_type(w.ep(), nullptr); }, 2);
  add(
      "dat_pz_create", "null", [](World& w) { return dat_pz_create(w.ia(), nullptr); }, 2);
  add(
      "dat_cno_create", "null",
      [](World& w) {
        return dat_cno_create(w.ia(), {nullptr, nullptr}, nullptr);
      },
      3);
  add(
      "dat_cno_wait", "null", [](World& w) { return dat_cno_wait(w.cno(), 0, nullptr); }, 3);
  table.push_back({"dat_strerror", "unknown code",
                   [](World&) {
                     const char* major = nullptr;
                     const char* minor = nullptr;
                     return dat_strerror(0x80770000u, &major, &minor);
                   },
                   testing::Not(succeeds())});
  table.push_back({"dat_registry_list_providers", "null",
                   [](World& w) { return dat_registry_list_providers(8, &w.out.count, nullptr); }, refuses(3)});
}

void add_dispatcher_arguments(Table& table) {
  const auto add = [&table](const char* name, const char* argument, Call call, int number) {
    table.push_back({name, argument, std::move(call), refuses(number)});
  };
  for (const DAT_COUNT length : {0, -1, -2147483647 - 1, 0x7fffffff}) {
    add(
        "dat_evd_create", "length",
        [length](World& w) { return dat_evd_create(w.ia(), length, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &w.out.handle); },
        2);
    add(
        "dat_evd_resize", "length", [length](World& w) { return dat_evd_resize(w.evd(), length); }, 2);
    if (length == 0x7fffffff) continue;
    add(
        "dat_evd_wait", "threshold",
        [length](World& w) {
          DAT_COUNT more;
          return dat_evd_wait(w.evd(), 0, length, &w.out.event, &more);
        },
        3);
  }
  add(
      "dat_evd_create", "flags",
      [](World& w) { return dat_evd_create(w.ia(), 8, DAT_HANDLE_NULL, wild<DAT_EVD_FLAGS>(), &w.out.handle); }, 4);
  add(
      "dat_evd_create", "null",
      [](World& w) { return dat_evd_create(w.ia(), 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, nullptr); }, 5);
  add(
      "dat_evd_wait", "null event",
      [](World& w) {
        DAT_COUNT more;
        return dat_evd_wait(w.evd(), 0, 1, nullptr, &more);
      },
      4);
  add(
      "dat_evd_wait", "null count", [](World& w) { return dat_evd_wait(w.evd(), 0, 1, &w.out.event, nullptr); }, 5);
  add(
      "dat_evd_dequeue", "null", [](World& w) { return dat_evd_dequeue(w.evd(), nullptr); }, 2);
  add(
      "dat_evd_post_se", "null", [](World& w) { return dat_evd_post_se(w.evd(), nullptr); }, 2);
  add(
      "dat_evd_post_se", "number",
      [](World& w) {
        DAT_EVENT event = make_software_event(1);
        event.event_number = wild<DAT_EVENT_NUMBER>();
        return dat_evd_post_se(w.evd(), &event);
      },
      2);
}

void add_endpoint_arguments(Table& table) {
  const auto add = [&table](const char* name, const char* argument, Call call, int number) {
    table.push_back({name, argument, std::move(call), refuses(number)});
  };
  add(
      "dat_ep_create", "null",
      [](World& w) { return dat_ep_create(w.ia(), w.pz(), w.evd(), w.evd(), w.evd(), nullptr, nullptr); }, 7);
  for (DAT_COUNT DAT_EP_ATTR::*field : {&DAT_EP_ATTR::max_recv_dtos, &DAT_EP_ATTR::max_request_dtos,
                                        &DAT_EP_ATTR::max_recv_iov, &DAT_EP_ATTR::max_request_iov}) {
    for (const DAT_COUNT count : kWildCounts) {
      add(
          "dat_ep_create", "attribute",
          [field, count](World& w) {
            DAT_EP_ATTR attributes = default_attributes();
            attributes.*field = count;
            return dat_ep_create(w.ia(), w.pz(), w.evd(), w.evd(), w.evd(), &attributes, &w.out.handle);
          },
          6);
    }
  }
  add(
      "dat_ep_modify", "mask", [](World& w) { return dat_ep_modify(w.ep(), ~DAT_EP_FIELD_ALL, &w.out.ep); }, 2);
  add(
      "dat_ep_modify", "null", [](World& w) { return dat_ep_modify(w.ep(), DAT_EP_FIELD_PZ_HANDLE, nullptr); }, 3);
  add(
      "dat_ep_disconnect", "flags",
      [](World& w) { return dat_ep_disconnect(w.connected().ep, wild<DAT_CLOSE_FLAGS>()); }, 2);
  const auto connect = [](World& w, DAT_IA_ADDRESS_PTR address, DAT_TIMEOUT timeout, DAT_COUNT size, void* data,
                          DAT_CONNECT_FLAGS flags) {
    return dat_ep_connect(w.ep(), address, 1, timeout, size, data, DAT_QOS_BEST_EFFORT, flags);
  };
  const auto flag = DAT_CONNECT_DEFAULT_FLAG;
  add(
      "dat_ep_connect", "null address", [=](World& w) { return connect(w, nullptr, kPatience, 0, nullptr, flag); }, 2);
  add(
      "dat_ep_connect", "timeout", [=](World& w) { return connect(w, w.address(), 0, 0, nullptr, flag); }, 4);
  for (const DAT_COUNT size : kWildCounts)
    add(
        "dat_ep_connect", "size",
        [=](World& w) { return connect(w, w.address(), kPatience, size, w.private_data, flag); }, 5);
  add(
      "dat_ep_connect", "null data", [=](World& w) { return connect(w, w.address(), kPatience, 8, nullptr, flag); }, 6);
  add(
      "dat_ep_connect", "flags",
      [=](World& w) { return connect(w, w.address(), kPatience, 0, nullptr, wild<DAT_CONNECT_FLAGS>()); }, 8);
}

using PostMessage = DAT_RETURN (*)(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET*, DAT_DTO_COOKIE, DAT_COMPLETION_FLAGS);
using PostRdma = DAT_RETURN (*)(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET*, DAT_DTO_COOKIE, const DAT_RMR_TRIPLET*,
                                DAT_COMPLETION_FLAGS);

void add_message_arguments(Table& table, const char* name, PostMessage post) {
  const auto add = [&table, name](const char* argument, Call call, int number) {
    table.push_back({name, argument, std::move(call), refuses(number)});
  };
  for (const DAT_COUNT count : kWildCounts)
    add(
        "count", [=](World& w) { return post(w.connected().ep, count, &w.segment, make_cookie(1), kDefault); }, 2);
  add(
      "null segments", [=](World& w) { return post(w.connected().ep, 1, nullptr, make_cookie(1), kDefault); }, 3);
  add(
      "length",
      [=](World& w) {
        DAT_LMR_TRIPLET segment = w.connected().memory->local(0, 64);
        segment.segment_length = 0xfffffff0u;
        return post(w.connected().ep, 1, &segment, make_cookie(1), kDefault);
      },
      3);
  add(
      "address",
      [=](World& w) {
        DAT_LMR_TRIPLET segment =
            make_local(reinterpret_cast<void*>(~std::uintptr_t{0} - 20), 64, w.connected().memory->lmr_context());
        return post(w.connected().ep, 1, &segment, make_cookie(1), kDefault);
      },
      3);
  add(
      "flags",
      [=](World& w) {
        DAT_LMR_TRIPLET segment = w.connected().memory->local(0, 64);
        return post(w.connected().ep, 1, &segment, make_cookie(1), wild<DAT_COMPLETION_FLAGS>());
      },
      5);
}

void add_rdma_arguments(Table& table, const char* name, PostRdma post) {
  const auto add = [&table, name](const char* argument, Call call, int number) {
    table.push_back({name, argument, std::move(call), refuses(number)});
  };
  const auto call = [post](World& w, DAT_COUNT count, DAT_LMR_TRIPLET segment, bool null_remote,
                           DAT_COMPLETION_FLAGS flags) {
    const DAT_RMR_TRIPLET remote = w.remote();
    return post(w.connected().ep, count, &segment, make_cookie(1), null_remote ? nullptr : &remote, flags);
  };
  for (const DAT_COUNT count : kWildCounts)
    add(
        "count", [=](World& w) { return call(w, count, w.segment, false, kDefault); }, 2);
  add(
      "null segments",
      [=](World& w) {
        const DAT_RMR_TRIPLET remote = w.remote();
        return post(w.connected().ep, 1, nullptr, make_cookie(1), &remote, kDefault);
      },
      3);
  add(
      "null remote", [=](World& w) { return call(w, 1, w.connected().memory->local(0, 64), true, kDefault); }, 5);
  add(
      "flags",
      [=](World& w) { return call(w, 1, w.connected().memory->local(0, 64), false, wild<DAT_COMPLETION_FLAGS>()); }, 6);
}

void add_memory_arguments(Table& table) {
  const auto create = [](World& w, DAT_MEM_TYPE type, DAT_VLEN length, int privileges, DAT_LMR_HANDLE* lmr) {
    DAT_LMR_CONTEXT context;
    return create_lmr(w.ia(), type, w.region, length, w.pz(), static_cast<DAT_MEM_PRIV_FLAGS>(privileges), lmr,
                      &context, nullptr, nullptr, nullptr);
  };
  const int all = DAT_MEM_PRIV_ALL_FLAG;
  table.push_back({"dat_lmr_create", "type",
                   [=](World& w) { return create(w, wild<DAT_MEM_TYPE>(), 64, all, &w.out.handle); }, refuses(2)});
  table.push_back({"dat_lmr_create", "length",
                   [=](World& w) { return create(w, DAT_MEM_TYPE_VIRTUAL, 0, all, &w.out.handle); },
                   fails_with(DAT_LENGTH_ERROR)});
  table.push_back({"dat_lmr_create", "wrapping length",
                   [=](World& w) { return create(w, DAT_MEM_TYPE_VIRTUAL, ~DAT_VLEN{0}, all, &w.out.handle); },
                   testing::Not(succeeds())});
  table.push_back({"dat_lmr_create", "privileges",
                   [=](World& w) { return create(w, DAT_MEM_TYPE_VIRTUAL, 64, 0x40000000, &w.out.handle); },
                   refuses(6)});
  table.push_back({"dat_lmr_create", "null",
                   [=](World& w) { return create(w, DAT_MEM_TYPE_VIRTUAL, 64, all, nullptr); },
                   refuses(kIsDat2 ? 8 : 7)});
  table.push_back({"dat_rmr_create", "null", [](World& w) { return dat_rmr_create(w.pz(), nullptr); }, refuses(2)});
}

void add_service_point_arguments(Table& table) {
  const auto add = [&table](const char* name, const char* argument, Call call, int number) {
    table.push_back({name, argument, std::move(call), refuses(number)});
  };
  add(
      "dat_psp_create", "flags",
      [](World& w) { return dat_psp_create(w.ia(), 91, w.evd(), wild<DAT_PSP_FLAGS>(), &w.out.handle); }, 4);
  add(
      "dat_psp_create", "null",
      [](World& w) { return dat_psp_create(w.ia(), 91, w.evd(), DAT_PSP_CONSUMER_FLAG, nullptr); }, 5);
  add(
      "dat_psp_create_any", "null qualifier",
      [](World& w) { return dat_psp_create_any(w.ia(), nullptr, w.evd(), DAT_PSP_CONSUMER_FLAG, &w.out.handle); }, 2);
  add(
      "dat_psp_create_any", "flags",
      [](World& w) {
        DAT_CONN_QUAL qualifier;
        return dat_psp_create_any(w.ia(), &qualifier, w.evd(), wild<DAT_PSP_FLAGS>(), &w.out.handle);
      },
      4);
  add(
      "dat_psp_create_any", "null",
      [](World& w) {
        DAT_CONN_QUAL qualifier;
        return dat_psp_create_any(w.ia(), &qualifier, w.evd(), DAT_PSP_CONSUMER_FLAG, nullptr);
      },
      5);
  add(
      "dat_rsp_create", "null", [](World& w) { return dat_rsp_create(w.ia(), 92, w.ep(), w.evd(), nullptr); }, 5);
  for (const DAT_COUNT size : kWildCounts)
    add(
        "dat_cr_accept", "size", [size](World& w) { return dat_cr_accept(w.cr(), w.ep(), size, w.private_data); }, 3);
  add(
      "dat_cr_accept", "null data", [](World& w) { return dat_cr_accept(w.cr(), w.ep(), 8, nullptr); }, 4);
#if SOFTDAT_DAT_MAJOR == 2
  for (const DAT_COUNT size : kWildCounts)
    add(
        "dat_cr_reject", "size", [size](World& w) { return dat_cr_reject(w.cr(), size, w.private_data); }, 2);
  add(
      "dat_cr_reject", "null data", [](World& w) { return dat_cr_reject(w.cr(), 8, nullptr); }, 3);
#endif
}

void add_shared_queue_arguments(Table& table) {
  const auto add = [&](const char* name, const char* argument, Call call, int number) {
    table.push_back({name, argument, std::move(call), refuses(number)});
  };
  add_query(table, "dat_srq_query", DAT_SRQ_FIELD_ALL, [](World& w, DAT_SRQ_PARAM_MASK mask, bool null) {
    return dat_srq_query(w.srq(), mask, null ? nullptr : &w.out.srq);
  });
  add(
      "dat_srq_create", "null attributes",
      [](World& w) { return dat_srq_create(w.ia(), w.pz(), nullptr, &w.out.handle); }, 3);
  add(
      "dat_srq_create", "null", [](World& w) { return dat_srq_create(w.ia(), w.pz(), &w.srq_attributes, nullptr); }, 4);
  add(
      "dat_ep_create_with_srq", "null attributes",
      [](World& w) {
        return dat_ep_create_with_srq(w.ia(), w.pz(), w.evd(), w.evd(), w.evd(), w.srq(), nullptr, &w.out.handle);
      },
      7);
  add(
      "dat_ep_create_with_srq", "null",
      [](World& w) {
        return dat_ep_create_with_srq(w.ia(), w.pz(), w.evd(), w.evd(), w.evd(), w.srq(), &w.ep_attributes, nullptr);
      },
      8);
  add(
      "dat_srq_post_recv", "null vector",
      [](World& w) { return dat_srq_post_recv(w.srq(), 1, nullptr, make_cookie(1)); }, 3);
  for (const DAT_COUNT count : kWildCounts) {
    add(
        "dat_srq_post_recv", "segments",
        [count](World& w) { return dat_srq_post_recv(w.srq(), count, &w.segment, make_cookie(1)); }, 2);
    add(
        "dat_srq_resize", "size", [count](World& w) { return dat_srq_resize(w.srq(), count); }, 2);
    add(
        "dat_srq_set_lw", "watermark", [count](World& w) { return dat_srq_set_lw(w.srq(), count); }, 2);
    add(
        "dat_srq_create", "receives",
        [count](World& w) {
          DAT_SRQ_ATTR attributes = w.srq_attributes;
          attributes.max_recv_dtos = count;
          return dat_srq_create(w.ia(), w.pz(), &attributes, &w.out.handle);
        },
        3);
  }
}

}  // namespace

std::vector<WildArgument> wild_arguments() {
  Table table;
  add_queries(table);
  add_adapter_arguments(table);
  add_dispatcher_arguments(table);
  add_endpoint_arguments(table);
  add_message_arguments(table, "dat_ep_post_send", dat_ep_post_send);
  add_message_arguments(table, "dat_ep_post_recv", dat_ep_post_recv);
  add_rdma_arguments(table, "dat_ep_post_rdma_write", dat_ep_post_rdma_write);
  add_rdma_arguments(table, "dat_ep_post_rdma_read", dat_ep_post_rdma_read);
  add_memory_arguments(table);
  add_service_point_arguments(table);
  add_shared_queue_arguments(table);
  return table;
}

std::vector<std::string> functions_without_handles() {
  return {"dat_ia_openv",
          "dat_strerror",
          "dat_registry_list_providers",
          "dat_registry_add_provider",
          "dat_registry_remove_provider",
          "dat_registry_providers_related",
          "dats_get_ia_handle",
          "dat_extension_op"};
}

}  // namespace softdat::conformance
