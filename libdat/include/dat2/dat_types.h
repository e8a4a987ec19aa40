/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: handles, cookies, addresses, keys and the flags that several objects share. */
#ifndef SOFTDAT_DAT2_DAT_TYPES_H
#define SOFTDAT_DAT2_DAT_TYPES_H

#include <dat2/dat_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A truth value. A call may refuse other numbers with INVALID_PARAMETER. */
typedef enum dat_boolean { DAT_FALSE = 0, DAT_TRUE = 1 } DAT_BOOLEAN;

/** Longest name of an IA, adapter, vendor or provider, terminating zero included. */
#define DAT_NAME_MAX_LENGTH 256
typedef char* DAT_NAME_PTR; /**< A zero-terminated name; the callee neither keeps nor changes it. */

/** A named attribute of a transport, vendor or provider. Both strings are zero-terminated. In a query they belong to
 *  the object that was asked and live as long; in DAT_EP_ATTR they belong to the program and are read during the
 *  call. */
typedef struct dat_named_attr {
  const char* name;  /**< For example "DAT_IB_TRANSPORT_MTU". */
  const char* value; /**< Always text: "TRUE", "4096". */
} DAT_NAMED_ATTR;

/** Eight bytes that belong to the program. DAT stores and returns them and never looks inside; memory behind a pointer
 *  stays the program's. */
typedef union dat_context {
  DAT_PVOID as_ptr;
  DAT_UINT64 as_64; /**< 0 here clears all eight bytes. */
  DAT_UVERYLONG as_index;
} DAT_CONTEXT;
typedef DAT_CONTEXT DAT_DTO_COOKIE; /**< Given with a post, returned in its completion; need not be unique. */
typedef DAT_CONTEXT DAT_RMR_COOKIE; /**< Given with a bind, returned in its completion; need not be unique. */

/** A time limit in microseconds. A wait with 0 only looks; DAT_TIMEOUT_INFINITE waits without end. dat_ep_connect(3)
 *  refuses 0. */
typedef DAT_UINT32 DAT_TIMEOUT;
#define DAT_TIMEOUT_INFINITE DAT_CAST_(DAT_TIMEOUT, ~0U)

/** Names an object of the provider. Valid from the creating call to the freeing one, in this process only; a child made
 *  by fork(2) has none of its parent's. SoftDAT answers DAT_INVALID_HANDLE to a handle that is null, freed, of another
 *  kind or random; other providers may crash. A program's DAT_IA_HANDLE is a small integer in DAT 2.0, and a pointer in
 *  1.2. */
typedef DAT_PVOID DAT_HANDLE;
typedef DAT_HANDLE DAT_CR_HANDLE;                /**< Connection request. */
typedef DAT_HANDLE DAT_EP_HANDLE;                /**< Endpoint: one end of a connection. */
typedef DAT_HANDLE DAT_EVD_HANDLE;               /**< Event dispatcher: a queue of events. */
typedef DAT_HANDLE DAT_IA_HANDLE;                /**< Interface adapter: an open device. */
typedef DAT_HANDLE DAT_LMR_HANDLE;               /**< Local memory region: registered memory. */
typedef DAT_HANDLE DAT_PSP_HANDLE;               /**< Public service point: a listener for any number of peers. */
typedef DAT_HANDLE DAT_PZ_HANDLE;                /**< Protection zone: what may be used together. */
typedef DAT_HANDLE DAT_RMR_HANDLE;               /**< Remote memory region: a window to a part of an LMR. */
typedef DAT_HANDLE DAT_RSP_HANDLE;               /**< Reserved service point: a listener for one connection. */
typedef DAT_HANDLE DAT_SRQ_HANDLE;               /**< Shared receive queue. */
typedef DAT_HANDLE DAT_CSP_HANDLE;               /**< Common service point: a listener on a socket address. */
typedef DAT_HANDLE DAT_CNO_HANDLE;               /**< Consumer notification object: waits on many EVDs. */
#define DAT_HANDLE_NULL DAT_CAST_(DAT_HANDLE, 0) /**< No object. Allowed only where the call says what it means. */

/** The kind of object that a handle names, see dat_get_handle_type(3). */
typedef enum dat_handle_type {
  DAT_HANDLE_TYPE_CR = 0,
  DAT_HANDLE_TYPE_EP = 1,
  DAT_HANDLE_TYPE_EVD = 2,
  DAT_HANDLE_TYPE_IA = 3,
  DAT_HANDLE_TYPE_LMR = 4,
  DAT_HANDLE_TYPE_PSP = 5,
  DAT_HANDLE_TYPE_PZ = 6,
  DAT_HANDLE_TYPE_RMR = 7,
  DAT_HANDLE_TYPE_RSP = 8,
  DAT_HANDLE_TYPE_CNO = 9,
  DAT_HANDLE_TYPE_SRQ = 10,
  DAT_HANDLE_TYPE_CSP = 11,
  DAT_HANDLE_TYPE_EXTENSION_BASE = 12 /**< First value for extensions; see DAT_IB_HANDLE_TYPE. */
} DAT_HANDLE_TYPE;

/** The address of an adapter. A call that is given one looks at the family and copies what it needs; one that a query
 *  returns belongs to the object that was asked. */
typedef DAT_SOCK_ADDR* DAT_IA_ADDRESS_PTR;
typedef DAT_UINT64 DAT_CONN_QUAL; /**< Where a service point listens on its IA: 64 bits, host order. */
typedef DAT_UINT64 DAT_PORT_QUAL; /**< Names the port that an endpoint is bound to; not a connection qualifier. */

/** Keys and places of memory. Keys are numbers of one adapter and are void once the region or window is freed. */
typedef DAT_UINT32 DAT_LMR_CONTEXT; /**< Key to a local region, for the local side of a transfer. Host order. */
typedef DAT_UINT32 DAT_RMR_CONTEXT; /**< Key to memory for a peer, 0 for none. Host order: convert to send it. */
typedef DAT_UINT64 DAT_VLEN;        /**< A length in bytes. */
typedef DAT_UINT64 DAT_VADDR;       /**< An address in the process that owns the memory, or an offset if zero based. */
typedef DAT_UINT32 DAT_SEG_LENGTH;  /**< Length in bytes of one segment. */

/** How a completion is made and noticed. In the attributes of an EP the flags say what its posts may carry and how
 *  waiters learn of completions; in a post they hold for that post. A post answers INVALID_PARAMETER to a flag that is
 *  unknown or is not for that call. Man pages: dat_ep_create(3), dat_ep_post_send(3). */
typedef enum dat_completion_flags {
  DAT_COMPLETION_DEFAULT_FLAG = 0,                /**< Each post completes with an event that wakes waiters. */
  DAT_COMPLETION_SUPPRESS_FLAG = 0x1,             /**< No event if it succeeds; a failure has one. */
  DAT_COMPLETION_SOLICITED_WAIT_FLAG = 0x2,       /**< Wakes the peer that waits for solicited completions only. */
  DAT_COMPLETION_UNSIGNALLED_FLAG = 0x4,          /**< An event that wakes nobody; the EP must be made for it. */
  DAT_COMPLETION_BARRIER_FENCE_FLAG = 0x8,        /**< Starts after all earlier RDMA reads have completed. */
  DAT_COMPLETION_EVD_THRESHOLD_FLAG = 0x10,       /**< EP attribute only: waits may use thresholds above 1. */
  DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG = 0x20 /**< Starts after earlier invalidations; SoftDAT refuses it. */
} DAT_COMPLETION_FLAGS;

/** The operation that a completion tells of, in DAT_DTO_COMPLETION_EVENT_DATA.operation. */
typedef enum dat_dtos {
  DAT_DTO_SEND = 0,                    /**< dat_ep_post_send, also with invalidation. */
  DAT_DTO_RDMA_WRITE = 1,              /**< dat_ep_post_rdma_write. */
  DAT_DTO_RDMA_READ = 2,               /**< dat_ep_post_rdma_read, dat_ep_post_rdma_read_to_rmr. */
  DAT_DTO_RECEIVE = 3,                 /**< dat_ep_post_recv, dat_srq_post_recv. */
  DAT_DTO_RECEIVE_WITH_INVALIDATE = 4, /**< A receive; rmr_context is the key that the sender voided. */
  DAT_DTO_BIND_MW = 5,                 /**< A bind; SoftDAT tells it by DAT_RMR_BIND_COMPLETION_EVENT. */
  DAT_DTO_LMR_FMR = 6,                 /**< Kernel only. */
  DAT_DTO_LMR_INVALIDATE = 7,          /**< Kernel only. */
  DAT_DTO_EXTENSION_BASE = 8           /**< First value for extensions; see DAT_IB_DTOS. */
} DAT_DTOS;

/** Load balancing between the paths of a highly available IA; SoftDAT has DAT_HA_LB_NONE. */
typedef DAT_UINT32 DAT_HA_LB;
#define DAT_HA_LB_NONE DAT_CAST_(DAT_HA_LB, 0)      /**< No balancing. */
#define DAT_HA_LB_INTERCOMM DAT_CAST_(DAT_HA_LB, 1) /**< Different connections may take different paths. */
#define DAT_HA_LB_INTRACOMM DAT_CAST_(DAT_HA_LB, 2) /**< One connection may use several paths. */

/** Quality of service wanted of a connection: BEST_EFFORT, or a union of the others. A provider may offer the first
 *  only, and answers MODEL_NOT_SUPPORTED to what it does not know. SoftDAT grants all and treats them alike. */
typedef enum dat_qos {
  DAT_QOS_BEST_EFFORT = 0, /**< No wish. */
  DAT_QOS_HIGH_THROUGHPUT = 1,
  DAT_QOS_LOW_LATENCY = 2,
  DAT_QOS_ECONOMY = 4,
  DAT_QOS_PREMIUM = 8
} DAT_QOS;

/** Whether a connection may use several paths, see dat_ep_connect(3). SoftDAT has one path. */
typedef enum dat_connect_flags {
  DAT_CONNECT_DEFAULT_FLAG = 0,             /**< One path. */
  DAT_CONNECT_MULTIPATH_FLAG = 0x1,         /**< Several paths if possible. */
  DAT_CONNECT_MULTIPATH_REQUIRED_FLAG = 0x2 /**< Several, or MODEL_NOT_SUPPORTED. */
} DAT_CONNECT_FLAGS;
/** The name of the flag in DAT 1.2. */
#define DAT_CONNECT_MULTIPATH_REQUESTED_FLAG DAT_CONNECT_MULTIPATH_FLAG

/** How dat_ia_close(3) and dat_ep_disconnect(3) treat what is still going on. */
typedef enum dat_close_flags {
  DAT_CLOSE_ABRUPT_FLAG = 0,  /**< Now: outstanding work is flushed, and objects that are left are destroyed. */
  DAT_CLOSE_GRACEFUL_FLAG = 1 /**< Requests already posted complete first; an IA must have no objects left. */
} DAT_CLOSE_FLAGS;
#define DAT_CLOSE_DEFAULT DAT_CLOSE_ABRUPT_FLAG

/** Which side makes the endpoint that a connection request is accepted on, see dat_psp_create(3). */
typedef enum dat_psp_flags {
  DAT_PSP_CONSUMER_FLAG = 0, /**< The program, which names one in dat_cr_accept. */
  DAT_PSP_PROVIDER_FLAG = 1  /**< The provider; it is local_ep_handle of the request. */
} DAT_PSP_FLAGS;

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT2_DAT_TYPES_H */
