// SPDX-License-Identifier: BSD-2-Clause
// libibverbs and librdmacm, found when the program runs: nothing of ours is linked with them, so a
// machine without them runs everything else. What their headers define inline goes through the
// device's own operations and needs no library.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace softdat::verbs {

struct LibraryNames {
  const char* verbs = "libibverbs.so.1";
  const char* cm = "librdmacm.so.1";
};

// clang-format off

// Calls of libibverbs that find devices, open them and ask about them.
struct DeviceCalls {
  decltype(&::ibv_get_device_list)  get_device_list;
  decltype(&::ibv_free_device_list) free_device_list;
  decltype(&::ibv_open_device)      open_device;
  decltype(&::ibv_close_device)     close_device;
  decltype(&::ibv_get_async_event)  get_async_event;
  decltype(&::ibv_ack_async_event)  ack_async_event;
  decltype(&::ibv_query_device)     query_device;
  decltype(&::ibv_query_port)       query_port;
};

// Calls of libibverbs for the objects of an open device.
struct ObjectCalls {
  decltype(&::ibv_alloc_pd)             alloc_pd;
  decltype(&::ibv_dealloc_pd)           dealloc_pd;
  decltype(&::ibv_reg_mr_iova)          reg_mr_iova;
  decltype(&::ibv_dereg_mr)             dereg_mr;
  decltype(&::ibv_create_comp_channel)  create_comp_channel;
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel;
  decltype(&::ibv_create_cq)            create_cq;
  decltype(&::ibv_resize_cq)            resize_cq;
  decltype(&::ibv_destroy_cq)           destroy_cq;
  decltype(&::ibv_get_cq_event)         get_cq_event;
  decltype(&::ibv_ack_cq_events)        ack_cq_events;
  decltype(&::ibv_create_srq)           create_srq;
  decltype(&::ibv_modify_srq)           modify_srq;
  decltype(&::ibv_destroy_srq)          destroy_srq;
  decltype(&::ibv_create_qp)            create_qp;
  decltype(&::ibv_modify_qp)            modify_qp;
  decltype(&::ibv_query_qp)             query_qp;
  decltype(&::ibv_destroy_qp)           destroy_qp;
  decltype(&::ibv_wc_status_str)        wc_status_str;
};

// Calls of librdmacm.
struct CmCalls {
  decltype(&::rdma_create_event_channel)  create_event_channel;
  decltype(&::rdma_destroy_event_channel) destroy_event_channel;
  decltype(&::rdma_get_cm_event)          get_cm_event;
  decltype(&::rdma_ack_cm_event)          ack_cm_event;
  decltype(&::rdma_create_id)             create_id;
  decltype(&::rdma_destroy_id)            destroy_id;
  decltype(&::rdma_bind_addr)             bind_addr;
  decltype(&::rdma_resolve_addr)          resolve_addr;
  decltype(&::rdma_resolve_route)         resolve_route;
  decltype(&::rdma_listen)                listen;
  decltype(&::rdma_connect)               connect;
  decltype(&::rdma_establish)             establish;
  decltype(&::rdma_accept)                accept;
  decltype(&::rdma_reject)                reject;
  decltype(&::rdma_reject_ece)            reject_ece;  // refuses without being a consumer's no
  decltype(&::rdma_disconnect)            disconnect;
  decltype(&::rdma_init_qp_attr)          init_qp_attr;
  decltype(&::rdma_notify)                notify;
  decltype(&::rdma_event_str)             event_str;
};

// clang-format on

// All calls, complete or not there. Never unloaded: the libraries' threads and handlers may outlive
// whoever used them last.
class Library {
 public:
  // In words for a person, why there is none: which file, which symbol.
  using Loaded = base::Result<std::unique_ptr<const Library>, std::string>;
  static Loaded load(const LibraryNames& names);

  // That of this process, loaded by the first who asks.
  static const Loaded& instance();

  DeviceCalls devices;
  ObjectCalls objects;
  CmCalls cm;

 private:
  Library() = default;
};

}  // namespace softdat::verbs
