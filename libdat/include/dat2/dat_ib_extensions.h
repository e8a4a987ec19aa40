/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0 extensions of InfiniBand: atomics, RDMA write with immediate data, unreliable datagrams, and opening an IA
 * only to ask for its attributes. Version 2.0.9. dat_ib_collectives.h and dat_ib_counters.h hold the rest.
 *
 * Everything here goes through dat_extension_op. An IA has these if its extension_supported attribute is
 * DAT_EXTENSION_IB; which of them, the named attributes below say: present with the value "TRUE", or absent. An
 * operation that the provider lacks is answered with DAT_NOT_IMPLEMENTED or DAT_MODEL_NOT_SUPPORTED.
 * Errors are told as in udat.h; arguments are counted as those of dat_extension_op: the object, the operation, then the
 * others in their order. Threads: a portable program serialises these calls on one object; SoftDAT takes them from any
 * thread at any time. Man page: dat_ib_extensions(3). */
#ifndef SOFTDAT_DAT2_DAT_IB_EXTENSIONS_H
#define SOFTDAT_DAT2_DAT_IB_EXTENSIONS_H

#include <dat2/udat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The value of extension_version in DAT_IA_ATTR. */
#define DAT_IB_EXTENSION_VERSION 209

/* Names of provider_specific_attr; the value is "TRUE" or the name is missing. */
#define DAT_IB_ATTR_COUNTERS "DAT_COUNTERS"              /**< dat_ib_query_counters and its kin. */
#define DAT_IB_ATTR_FETCH_AND_ADD "DAT_IB_FETCH_AND_ADD" /**< dat_ib_post_fetch_and_add. */
#define DAT_IB_ATTR_CMP_AND_SWAP "DAT_IB_CMP_AND_SWAP"   /**< dat_ib_post_cmp_and_swap. */
#define DAT_IB_ATTR_IMMED_DATA "DAT_IB_IMMED_DATA"       /**< dat_ib_post_rdma_write_immed. */
#define DAT_IB_ATTR_UD "DAT_IB_UD"                       /**< Datagrams: DAT_IB_SERVICE_TYPE_UD. */

/** Numbers of the events that these operations bring. They come on an EVD with DAT_IB_EVD_EXTENSION_FLAG beside
 *  DAT_EVD_DTO_FLAG; SoftDAT does not insist on the former. */
typedef enum dat_ib_event_number {
  DAT_IB_DTO_EVENT = 0x40000,                       /**< A completion; type says of which operation. */
  DAT_IB_UD_CONNECTION_REQUEST_EVENT = 0x40001,     /**< cr_arrival_event_data is filled too. */
  DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED = 0x40002, /**< remote_ah is filled; connect_event_data, too. */
  DAT_IB_UD_CONNECTION_REJECT_EVENT = 0x40003,      /**< Rejected, by the program or because nobody listens. */
  DAT_IB_UD_CONNECTION_ERROR_EVENT = 0x40004,       /**< The exchange failed otherwise. */
  DAT_IB_COLLECTIVE_EVENT = 0x40005                 /**< A collective has ended; never from SoftDAT. */
} DAT_IB_EVENT_NUMBER;

/** Numbers of the operations, for dat_extension_op(3). SoftDAT answers NOT_IMPLEMENTED to the collectives. */
typedef enum dat_ib_op {
  DAT_IB_FETCH_AND_ADD_OP = 0,
  DAT_IB_CMP_AND_SWAP_OP = 0x1,
  DAT_IB_RDMA_WRITE_IMMED_OP = 0x2,
  DAT_IB_UD_SEND_OP = 0x3,
  DAT_IB_QUERY_COUNTERS_OP = 0x4,
  DAT_IB_PRINT_COUNTERS_OP = 0x5,
  DAT_IB_COLLECTIVE_CREATE_MEMBER_OP = 0x6,
  DAT_IB_COLLECTIVE_FREE_MEMBER_OP = 0x7,
  DAT_IB_COLLECTIVE_CREATE_GROUP_OP = 0x8,
  DAT_IB_COLLECTIVE_FREE_GROUP_OP = 0x9,
  DAT_IB_COLLECTIVE_SET_CLOCK_OP = 0xa,
  DAT_IB_COLLECTIVE_READ_CLOCK_OP = 0xb,
  DAT_IB_COLLECTIVE_SCATTER_OP = 0xc,
  DAT_IB_COLLECTIVE_SCATTERV_OP = 0xd,
  DAT_IB_COLLECTIVE_GATHER_OP = 0xe,
  DAT_IB_COLLECTIVE_GATHERV_OP = 0xf,
  DAT_IB_COLLECTIVE_ALLGATHER_OP = 0x10,
  DAT_IB_COLLECTIVE_ALLGATHERV_OP = 0x11,
  DAT_IB_COLLECTIVE_ALLTOALL_OP = 0x12,
  DAT_IB_COLLECTIVE_ALLTOALLV_OP = 0x13,
  DAT_IB_COLLECTIVE_REDUCE_OP = 0x14,
  DAT_IB_COLLECTIVE_ALLREDUCE_OP = 0x15,
  DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP = 0x16,
  DAT_IB_COLLECTIVE_SCAN_OP = 0x17,
  DAT_IB_COLLECTIVE_BROADCAST_OP = 0x18,
  DAT_IB_COLLECTIVE_BARRIER_OP = 0x19,
  DAT_IB_START_COUNTERS_OP = 0x1a,
  DAT_IB_STOP_COUNTERS_OP = 0x1b,
  DAT_IB_UD_CM_FREE_OP = 0x1c,
  DAT_IB_UD_AH_FREE_OP = 0x1d,
  DAT_IB_OPEN_QUERY_OP = 0x1000, /**< DAT_OPEN_EXTENSION_BASE. */
  DAT_IB_CLOSE_QUERY_OP = 0x2000 /**< DAT_CLOSE_EXTENSION_BASE. */
} DAT_IB_OP;

/** The meaning of an extension event. */
typedef enum dat_ib_ext_type {
  DAT_IB_FETCH_AND_ADD = 0,         /**< To the side that posted it. */
  DAT_IB_CMP_AND_SWAP = 1,          /**< To the side that posted it. */
  DAT_IB_RDMA_WRITE_IMMED = 2,      /**< To the sender. */
  DAT_IB_RDMA_WRITE_IMMED_DATA = 3, /**< To the receiver, whose receive it consumed; val.immed. */
  DAT_IB_RECV_IMMED_DATA = 4,       /**< A message with immediate data; val.immed. */
  DAT_IB_UD_CONNECT_REQUEST = 5,    /**< To the side that listens. */
  DAT_IB_UD_REMOTE_AH = 6,          /**< remote_ah, to the side that connected. */
  DAT_IB_UD_PASSIVE_REMOTE_AH = 7,  /**< remote_ah, to the side that accepted. */
  DAT_IB_UD_SEND = 8,               /**< To the sender of a datagram. */
  DAT_IB_UD_RECV = 9,               /**< To its receiver. */
  DAT_IB_UD_CONNECT_REJECT = 10,
  DAT_IB_UD_CONNECT_ERROR = 11,
  DAT_IB_COLLECTIVE_CREATE_STATUS = 12, /**< coll, as all of these. */
  DAT_IB_COLLECTIVE_CREATE_DATA = 13,
  DAT_IB_COLLECTIVE_CLOCK_SET_STATUS = 14,
  DAT_IB_COLLECTIVE_SCATTER_STATUS = 15,
  DAT_IB_COLLECTIVE_SCATTERV_STATUS = 16,
  DAT_IB_COLLECTIVE_GATHER_STATUS = 17,
  DAT_IB_COLLECTIVE_GATHERV_STATUS = 18,
  DAT_IB_COLLECTIVE_ALLGATHER_STATUS = 19,
  DAT_IB_COLLECTIVE_ALLGATHERV_STATUS = 20,
  DAT_IB_COLLECTIVE_ALLTOALL_STATUS = 21,
  DAT_IB_COLLECTIVE_ALLTOALLV_STATUS = 22,
  DAT_IB_COLLECTIVE_REDUCE_STATUS = 23,
  DAT_IB_COLLECTIVE_ALLREDUCE_STATUS = 24,
  DAT_IB_COLLECTIVE_REDUCE_SCATTER_STATUS = 25,
  DAT_IB_COLLECTIVE_SCAN_STATUS = 26,
  DAT_IB_COLLECTIVE_BROADCAST_STATUS = 27,
  DAT_IB_COLLECTIVE_BARRIER_STATUS = 28
} DAT_IB_EXT_TYPE;

/** How the operation of an extension event ended. */
typedef enum dat_ib_status { DAT_OP_SUCCESS = 0, DAT_IB_OP_ERR = 1, DAT_IB_COLL_COMP_ERR = 2 } DAT_IB_STATUS;

/** Types of return values beyond DAT_RETURN_TYPE. */
typedef enum dat_ib_return { DAT_IB_ERR = 0x10000000, DAT_IB_COLLECTIVE_ERR = 0x10000001 } DAT_IB_RETURN;

/** Values of DAT_DTO_COMPLETION_EVENT_DATA.operation beyond DAT_DTOS. */
typedef enum dat_ib_dtos {
  DAT_IB_DTO_RDMA_WRITE_IMMED = 8, /**< An RDMA write with immediate data, to the sender. */
  DAT_IB_DTO_RECV_IMMED = 9,       /**< The receive that such a write consumed. */
  DAT_IB_DTO_FETCH_ADD = 10,
  DAT_IB_DTO_CMP_SWAP = 11,
  DAT_IB_DTO_RECV_MSG_IMMED = 12, /**< The receive of a message with immediate data. */
  DAT_IB_DTO_SEND_UD = 13,
  DAT_IB_DTO_RECV_UD = 14,
  DAT_IB_DTO_RECV_UD_IMMED = 15, /**< Never from SoftDAT, nor the next. */
  DAT_IB_DTO_COLLECTIVES = 16
} DAT_IB_DTOS;

/** Beyond DAT_HANDLE_TYPE: what dat_get_handle_type(3) tells of an address handle, and of a group. */
typedef enum dat_ib_handle_type { DAT_IB_HANDLE_TYPE_EXT = 12, DAT_IB_HANDLE_TYPE_COLLECTIVE = 13 } DAT_IB_HANDLE_TYPE;

/** Beyond DAT_EVD_FLAGS. */
typedef enum dat_ib_evd_extension_flags {
  DAT_IB_EVD_EXTENSION_FLAG = 512 /**< The EVD takes extension events. */
} DAT_IB_EVD_EXTENSION_FLAGS;

/** Beyond DAT_MEM_PRIV_FLAGS. */
typedef enum dat_ib_mem_priv_flags {
  DAT_IB_MEM_PRIV_REMOTE_ATOMIC = 64 /**< The peer may do atomics on it. */
} DAT_IB_MEM_PRIV_FLAGS;

/** Beyond DAT_SERVICE_TYPE. */
typedef enum dat_ib_service_type {
  DAT_IB_SERVICE_TYPE_UD = 1 /**< Unreliable datagram. */
} DAT_IB_SERVICE_TYPE;

/** The address handle behind DAT_IB_ADDR_HANDLE: the provider's, opaque. */
struct ibv_ah;

/** The destination of a datagram: filled by DAT_IB_UD_REMOTE_AH and DAT_IB_UD_PASSIVE_REMOTE_AH events. The program
 *  copies the structure as it likes and frees ah once, by dat_ib_ud_ah_free. */
typedef struct dat_ib_addr_handle {
  struct ibv_ah* ah;      /**< The provider's; for dat_ib_ud_ah_free. */
  DAT_UINT32 qpn;         /**< Queue pair number of the peer. */
  DAT_SOCK_ADDR6 ia_addr; /**< Address of its IA. */
} DAT_IB_ADDR_HANDLE;

/** Four bytes that travel with an operation, host order on both sides. */
typedef struct dat_ib_immed_data {
  DAT_UINT32 data; /**< Four bytes as they were given. */
} DAT_IB_IMMED_DATA;

/** The payload of a collective's event. */
typedef struct dat_ib_collective_event_data {
  DAT_HANDLE handle;   /**< The group. */
  DAT_CONTEXT context; /**< The user_context of the call. */
} DAT_IB_COLLECTIVE_EVENT_DATA;

/** Lies in event_extension_data of a DAT_EVENT whose number is a DAT_IB_EVENT_NUMBER: cast its address. Completions
 *  fill dto_completion_event_data as usual too. */
typedef struct dat_ib_extension_event_data {
  DAT_IB_EXT_TYPE type; /**< Which of the following is meant. */
  DAT_IB_STATUS status; /**< DAT_OP_SUCCESS, or DAT_IB_OP_ERR. */
  union {
    DAT_IB_IMMED_DATA immed; /**< For DAT_IB_RDMA_WRITE_IMMED_DATA and DAT_IB_RECV_IMMED_DATA. */
  } val;
  __extension__ union {
    DAT_IB_ADDR_HANDLE remote_ah;      /**< For DAT_IB_UD_REMOTE_AH and DAT_IB_UD_PASSIVE_REMOTE_AH. */
    DAT_IB_COLLECTIVE_EVENT_DATA coll; /**< For the collectives. */
  };
  DAT_CONTEXT context; /**< Names a datagram exchange, see dat_ib_ud_cm_free. */
} DAT_IB_EXTENSION_EVENT_DATA;

/** The name of an extended return value, in *message; static text, never to be freed.
 *  Errors: INVALID_PARAMETER (value has no name).
 *  Threads: safe. */
static inline DAT_RETURN dat_strerror_extension(DAT_IB_RETURN value, const char** message) {
  const char* minor;
  if (DAT_GET_TYPE(value) != DAT_IB_ERR) return dat_strerror(value, message, &minor);
  *message = DAT_GET_SUBTYPE(value) == DAT_GET_SUBTYPE(DAT_IB_COLLECTIVE_ERR) ? "DAT_IB_COLLECTIVE_ERR" : "DAT_IB_ERR";
  return DAT_SUCCESS;
}

/** The name of an extended event's status, in *message; static text, never to be freed.
 *  Errors: INVALID_PARAMETER (value has no name).
 *  Threads: safe. */
static inline DAT_RETURN dat_strerror_ext_status(DAT_IB_STATUS value, const char** message) {
  switch (value) {
    case DAT_OP_SUCCESS:
      *message = "DAT_OP_SUCCESS";
      return DAT_SUCCESS;
    case DAT_IB_OP_ERR:
      *message = "DAT_IB_OP_ERR";
      return DAT_SUCCESS;
    case DAT_IB_COLL_COMP_ERR:
      *message = "DAT_IB_COLL_COMP_ERR";
      return DAT_SUCCESS;
  }
  *message = "unknown extension status";
  return DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG1;
}

#ifdef __cplusplus
}
#endif

/** Adds add_val to eight bytes of the peer, which must be aligned to eight and allow remote atomics, and puts what they
 *  were before into lbuf, eight bytes. All host order. Indivisible with respect to other such operations on these
 *  bytes. Counts among the RDMA reads of the EP and completes like one.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL buffer; segment outside its LMR; flags), LENGTH_ERROR (a buffer
 *  below eight bytes), INVALID_STATE (neither connected nor disconnected), PRIVILEGES_VIOLATION, PROTECTION_VIOLATION
 *  (lbuf), INSUFFICIENT_RESOURCES (max_request_dtos outstanding), MODEL_NOT_SUPPORTED (the device or the EP cannot). */
#define dat_ib_post_fetch_and_add(ep, add_val, lbuf, cookie, rbuf, flgs)                        \
  dat_extension_op(DAT_CAST_(DAT_EP_HANDLE, ep), DAT_CAST_(DAT_IB_OP, DAT_IB_FETCH_AND_ADD_OP), \
                   DAT_CAST_(DAT_UINT64, add_val), DAT_CAST_(DAT_LMR_TRIPLET*, lbuf), (cookie), \
                   DAT_CAST_(DAT_RMR_TRIPLET*, rbuf), DAT_CAST_(DAT_COMPLETION_FLAGS, flgs))

/** Puts swap_val into eight bytes of the peer if they equal cmp_val, and what they were before into lbuf. Otherwise,
 *  errors included, like dat_ib_post_fetch_and_add. */
#define dat_ib_post_cmp_and_swap(ep, cmp_val, swap_val, lbuf, cookie, rbuf, flgs)                                      \
  dat_extension_op(DAT_CAST_(DAT_EP_HANDLE, ep), DAT_CAST_(DAT_IB_OP, DAT_IB_CMP_AND_SWAP_OP),                         \
                   DAT_CAST_(DAT_UINT64, cmp_val), DAT_CAST_(DAT_UINT64, swap_val), DAT_CAST_(DAT_LMR_TRIPLET*, lbuf), \
                   (cookie), DAT_CAST_(DAT_RMR_TRIPLET*, rbuf), DAT_CAST_(DAT_COMPLETION_FLAGS, flgs))

/** An RDMA write that also consumes a receive of the peer, which completes with idata and the length written after the
 *  bytes are there.
 *  Errors: as dat_ep_post_rdma_write(3). */
#define dat_ib_post_rdma_write_immed(ep, size, lbuf, cookie, rbuf, idata, flgs)                    \
  dat_extension_op(DAT_CAST_(DAT_EP_HANDLE, ep), DAT_CAST_(DAT_IB_OP, DAT_IB_RDMA_WRITE_IMMED_OP), \
                   DAT_CAST_(DAT_COUNT, size), DAT_CAST_(DAT_LMR_TRIPLET*, lbuf), (cookie),        \
                   DAT_CAST_(DAT_RMR_TRIPLET*, rbuf), DAT_CAST_(DAT_UINT32, idata),                \
                   DAT_CAST_(DAT_COMPLETION_FLAGS, flgs))

/** Sends a datagram to *ah_ptr from an endpoint of DAT_IB_SERVICE_TYPE_UD; at most 4096 bytes. It may be lost, and is
 *  if the peer has no receive that is long enough.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (count; segments; an address handle that is not live; flags), LENGTH_ERROR
 *  (too long), INVALID_STATE (no exchange made yet), PRIVILEGES_VIOLATION, PROTECTION_VIOLATION, INSUFFICIENT_RESOURCES
 *  (max_request_dtos outstanding), MODEL_NOT_SUPPORTED (an endpoint for connections). */
#define dat_ib_post_send_ud(ep, segments, lbuf, ah_ptr, cookie, flgs)                     \
  dat_extension_op(DAT_CAST_(DAT_EP_HANDLE, ep), DAT_CAST_(DAT_IB_OP, DAT_IB_UD_SEND_OP), \
                   DAT_CAST_(DAT_COUNT, segments), DAT_CAST_(DAT_LMR_TRIPLET*, lbuf),     \
                   DAT_CAST_(DAT_IB_ADDR_HANDLE*, ah_ptr), (cookie), DAT_CAST_(DAT_COMPLETION_FLAGS, flgs))

/** Receives on a datagram endpoint are posted as any others; the first 40 bytes of each are the network's, and the
 *  datagram follows. */
#define dat_ib_post_recv_ud dat_ep_post_recv

/** Ends the exchange by which an address handle was obtained; cm is the context of its event. Address handles stay
 *  valid.
 *  Errors: INVALID_HANDLE (no EP), INVALID_PARAMETER (no exchange of this EP, or freed already). */
#define dat_ib_ud_cm_free(ep, cm) \
  dat_extension_op(DAT_CAST_(DAT_EP_HANDLE, ep), DAT_CAST_(DAT_IB_OP, DAT_IB_UD_CM_FREE_OP), (cm))

/** Frees an address handle; no send to it may be outstanding.
 *  Errors: INVALID_HANDLE (no EP), INVALID_PARAMETER (not a live address handle). */
#define dat_ib_ud_ah_free(ep, ah)                                                            \
  dat_extension_op(DAT_CAST_(DAT_EP_HANDLE, ep), DAT_CAST_(DAT_IB_OP, DAT_IB_UD_AH_FREE_OP), \
                   DAT_CAST_(DAT_IB_ADDR_HANDLE*, ah))

/** Opens an IA by name just far enough to tell its attributes; *ia_handle is for dat_ib_close_query only.
 *  Errors: PROVIDER_NOT_FOUND, INVALID_PARAMETER (NULL name or output; unknown mask bit). */
#define dat_ib_open_query(name, ia_handle, ia_mask, ia_attr, prov_mask, prov_attr)         \
  dat_extension_op(DAT_CAST_(DAT_HANDLE, 0), DAT_CAST_(DAT_IB_OP, DAT_IB_OPEN_QUERY_OP),   \
                   DAT_CAST_(DAT_NAME_PTR, name), DAT_CAST_(DAT_HANDLE*, ia_handle),       \
                   DAT_CAST_(DAT_IA_ATTR_MASK, ia_mask), DAT_CAST_(DAT_IA_ATTR*, ia_attr), \
                   DAT_CAST_(DAT_PROVIDER_ATTR_MASK, prov_mask), DAT_CAST_(DAT_PROVIDER_ATTR*, prov_attr))

/** Ends what dat_ib_open_query began.
 *  Errors: INVALID_HANDLE (not from dat_ib_open_query, or closed already). */
#define dat_ib_close_query(ia_handle) \
  dat_extension_op(DAT_CAST_(DAT_HANDLE, ia_handle), DAT_CAST_(DAT_IB_OP, DAT_IB_CLOSE_QUERY_OP))

#include <dat2/dat_ib_collectives.h>
#include <dat2/dat_ib_counters.h>

#endif /* SOFTDAT_DAT2_DAT_IB_EXTENSIONS_H */
