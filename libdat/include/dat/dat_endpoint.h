/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: endpoints (EP), their transfers, and shared receive queues (SRQ). */
#ifndef SOFTDAT_DAT12_DAT_ENDPOINT_H
#define SOFTDAT_DAT12_DAT_ENDPOINT_H

#include <dat/dat_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of service an endpoint gives. */
typedef enum dat_service_type {
  DAT_SERVICE_TYPE_RC = 0 /**< Reliable connection: in order, exactly once, or broken. */
} DAT_SERVICE_TYPE;

/** Where an endpoint is in its life. Those UNCONFIGURED have no EVDs or zone yet. */
typedef enum dat_ep_state {
  DAT_EP_STATE_UNCONNECTED = 0, /**< New, or reset: may connect, or accept a request. */
  DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 1,
  DAT_EP_STATE_RESERVED = 2, /**< Kept for a reserved service point. */
  DAT_EP_STATE_UNCONFIGURED_RESERVED = 3,
  DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 4, /**< A request has come to its reserved service point. */
  DAT_EP_STATE_UNCONFIGURED_PASSIVE = 5,
  DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 6,    /**< Connecting. */
  DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 7, /**< Made by the provider for a request that is not accepted yet. */
  DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 8,
  DAT_EP_STATE_CONNECTED = 9,           /**< Transfers go. */
  DAT_EP_STATE_DISCONNECT_PENDING = 10, /**< Gracefully closing; accepts no posts of requests. */
  DAT_EP_STATE_DISCONNECTED = 11,       /**< All posts are flushed; dat_ep_reset leads on. */
  DAT_EP_STATE_COMPLETION_PENDING = 12  /**< A request is accepted on it; the connection is coming up. */
} DAT_EP_STATE;
/** The name of the state in DAT 1.0. */
#define DAT_EP_STATE_ERROR DAT_EP_STATE_DISCONNECTED

/** What an endpoint can do. A NULL attribute pointer at creation takes the provider's defaults; queue depths and
 *  numbers of segments may be granted larger than asked for, see dat_ep_query. Sizes are bytes. */
typedef struct dat_ep_attr {
  DAT_SERVICE_TYPE service_type;
  DAT_VLEN max_message_size; /**< Bytes of a send. */
  DAT_VLEN max_rdma_size;    /**< Bytes of an RDMA read or write. */
  DAT_QOS qos;
  DAT_COMPLETION_FLAGS recv_completion_flags;    /**< Flags that receives may carry. */
  DAT_COMPLETION_FLAGS request_completion_flags; /**< Flags that all else may carry. */
  DAT_COUNT max_recv_dtos;                       /**< Receives outstanding. */
  DAT_COUNT max_request_dtos;                    /**< Sends, RDMA and binds outstanding. */
  DAT_COUNT max_recv_iov;                        /**< Segments of a receive. */
  DAT_COUNT max_request_iov;                     /**< Segments of a send. */
  DAT_COUNT max_rdma_read_in;                    /**< RDMA reads by the peer at once; 0 forbids them. */
  DAT_COUNT max_rdma_read_out;                   /**< RDMA reads of the peer at once; 0 forbids them. */
  DAT_COUNT srq_soft_hw;                         /**< See dat_ep_set_watermark. */
  DAT_COUNT max_rdma_read_iov;                   /**< Segments of an RDMA read. */
  DAT_COUNT max_rdma_write_iov;                  /**< Segments of an RDMA write. */
  DAT_COUNT ep_transport_specific_count;
  DAT_NAMED_ATTR* ep_transport_specific; /**< Array of that count; read during the call. */
  DAT_COUNT ep_provider_specific_count;
  DAT_NAMED_ATTR* ep_provider_specific; /**< Array of that count; read during the call. */
} DAT_EP_ATTR;

/** Everything dat_ep_query returns; dat_ep_modify takes the parts that may be changed. */
typedef struct dat_ep_param {
  DAT_IA_HANDLE ia_handle;
  DAT_EP_STATE ep_state;
  DAT_IA_ADDRESS_PTR local_ia_address_ptr; /**< Owned by the EP, as is the other. */
  DAT_PORT_QUAL local_port_qual;           /**< Known once connected, as the two below. */
  DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
  DAT_PORT_QUAL remote_port_qual;
  DAT_PZ_HANDLE pz_handle;
  DAT_EVD_HANDLE recv_evd_handle;
  DAT_EVD_HANDLE request_evd_handle;
  DAT_EVD_HANDLE connect_evd_handle;
  DAT_SRQ_HANDLE srq_handle; /**< Null unless it was created with one. */
  DAT_EP_ATTR ep_attr;
} DAT_EP_PARAM;

/** One bit per field of DAT_EP_PARAM and DAT_EP_ATTR. */
typedef DAT_UINT64 DAT_EP_PARAM_MASK;
#define DAT_EP_FIELD_IA_HANDLE UINT64_C(0x1)
#define DAT_EP_FIELD_EP_STATE UINT64_C(0x2)
#define DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR UINT64_C(0x4)
#define DAT_EP_FIELD_LOCAL_PORT_QUAL UINT64_C(0x8)
#define DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR UINT64_C(0x10)
#define DAT_EP_FIELD_REMOTE_PORT_QUAL UINT64_C(0x20)
#define DAT_EP_FIELD_PZ_HANDLE UINT64_C(0x40)
#define DAT_EP_FIELD_RECV_EVD_HANDLE UINT64_C(0x80)
#define DAT_EP_FIELD_REQUEST_EVD_HANDLE UINT64_C(0x100)
#define DAT_EP_FIELD_CONNECT_EVD_HANDLE UINT64_C(0x200)
#define DAT_EP_FIELD_SRQ_HANDLE UINT64_C(0x400)
#define DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE UINT64_C(0x1000)
#define DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE UINT64_C(0x2000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE UINT64_C(0x4000)
#define DAT_EP_FIELD_EP_ATTR_QOS UINT64_C(0x8000)
#define DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS UINT64_C(0x10000)
#define DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS UINT64_C(0x20000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS UINT64_C(0x40000)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS UINT64_C(0x80000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV UINT64_C(0x100000)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV UINT64_C(0x200000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN UINT64_C(0x400000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT UINT64_C(0x800000)
#define DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW UINT64_C(0x1000000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV UINT64_C(0x2000000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV UINT64_C(0x4000000)
#define DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR UINT64_C(0x8000000)
#define DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR UINT64_C(0x10000000)
#define DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR UINT64_C(0x20000000)
#define DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR UINT64_C(0x40000000)
#define DAT_EP_FIELD_EP_ATTR_ALL UINT64_C(0x7ffff000)
#define DAT_EP_FIELD_ALL UINT64_C(0x7ffff7ff)

/** Watermarks of receive buffers: no limit, the provider's own limit, no low watermark. */
#define DAT_WATERMARK_INFINITE DAT_CAST_(DAT_COUNT, ~0)
#define DAT_HW_DEFAULT DAT_WATERMARK_INFINITE
#define DAT_SRQ_LW_DEFAULT 0
/** A count that the provider cannot tell. */
#define DAT_VALUE_UNKNOWN (DAT_CAST_(DAT_COUNT, ~0) - 1)

/* ---- Life of an endpoint ---- */

/** Makes an unconnected endpoint. A null EVD discards the events of its kind; EVDs may be the same and shared with
 *  other endpoints. Attributes may be NULL for defaults.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (attributes beyond the IA's, or contradictory), INSUFFICIENT_RESOURCES,
 *  MODEL_NOT_SUPPORTED.
 *  Threads: safe. Man page: dat_ep_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                            DAT_EVD_HANDLE recv_completion_evd_handle,
                                            DAT_EVD_HANDLE request_completion_evd_handle,
                                            DAT_EVD_HANDLE connect_evd_handle, const DAT_EP_ATTR* ep_attributes,
                                            DAT_EP_HANDLE* ep_handle);

/** Like dat_ep_create for an endpoint that takes its receive buffers from an SRQ, and cannot be posted receives
 *  itself. Attributes are required.
 *  Errors: Those of dat_ep_create; INVALID_PARAMETER also for a PZ that does not match the SRQ's.
 *  Threads: safe. Man page: dat_ep_create_with_srq(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                                     DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
                                                     DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
                                                     const DAT_EP_ATTR* ep_attributes, DAT_EP_HANDLE* ep_handle);

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: unsafe. Man page: dat_ep_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                                           DAT_EP_PARAM* ep_param);

/** Changes the parameters that the mask selects, all or none: attributes and EVDs before a connection is asked for or
 *  accepted, the PZ while unconnected or tentative; the IA, state, addresses and ports never.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown, unsupported or never modifiable), INVALID_STATE (not in this
 *  state).
 *  Threads: unsafe. Man page: dat_ep_modify(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                                            const DAT_EP_PARAM* ep_param);

/** Takes a snapshot: the state, and for each side whether nothing is outstanding (DAT_TRUE exactly when every posted
 *  transfer has completed). Each pointer may be NULL.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_ep_get_status(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* ep_state, DAT_BOOLEAN* recv_idle,
                                                DAT_BOOLEAN* request_idle);

/** Makes a disconnected endpoint unconnected again. Completions not dequeued yet may be lost. No effect on an
 *  unconnected one.
 *  Errors: INVALID_HANDLE, INVALID_STATE (any other state).
 *  Threads: unsafe. Man page: dat_ep_reset(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_reset(DAT_EP_HANDLE ep_handle);

/** Destroys the endpoint in any state but three, disconnecting it abruptly. Completions not dequeued yet may be lost,
 *  or be dequeued and name a handle that is no longer valid.
 *  Errors: INVALID_HANDLE, INVALID_STATE (reserved, passive pending, tentative pending).
 *  Threads: unsafe. Man page: dat_ep_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_free(DAT_EP_HANDLE ep_handle);

/* ---- Connections ---- */

/** Asks for a connection to a service point at an address. Returns at once; the outcome is an event on the connect
 *  EVD, DAT_CONNECTION_EVENT_TIMED_OUT at the latest after timeout microseconds. private_data (at most
 *  max_private_data_size bytes, copied) goes along with the request.
 *  Errors: INVALID_HANDLE, INVALID_STATE (unless unconnected), INVALID_ADDRESS, INVALID_PARAMETER (private data,
 *  flags), INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED (quality of service, multipath).
 *  Threads: unsafe. Man page: dat_ep_connect(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
                                             DAT_CONN_QUAL remote_conn_qual, DAT_TIMEOUT timeout,
                                             DAT_COUNT private_data_size, const DAT_PVOID private_data,
                                             DAT_QOS quality_of_service, DAT_CONNECT_FLAGS connect_flags);

/** Like dat_ep_connect to the service point that ep_dup_handle is connected to.
 *  Errors: Those of dat_ep_connect; INVALID_STATE also if ep_dup_handle is not connected.
 *  Threads: unsafe. Man page: dat_ep_dup_connect(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE ep_dup_handle,
                                                 DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                                 const DAT_PVOID private_data, DAT_QOS quality_of_service);

/** Ends the connection, or the attempt at one. Graceful: requests posted before complete first. Abrupt: they are
 *  flushed. DAT_CONNECTION_EVENT_DISCONNECTED follows on both sides' connect EVDs. No effect on a disconnected one.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (flags), INVALID_STATE (unconnected, reserved, passive or tentative
 *  pending), INSUFFICIENT_RESOURCES.
 *  Threads: unsafe. Man page: dat_ep_disconnect(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS close_flags);

/* ---- Transfers ----
 *
 * Every post is asynchronous: success means it is queued, the outcome is a completion on the EVD of its side.
 * The segment array may be reused when the call returns unless the provider's iov_ownership_on_return says
 * otherwise; the memory it describes belongs to the transfer until the completion. Work of one side completes in
 * the order it was posted. */

/** Sends the bytes of the segments, in order, into one receive of the peer. If the peer has none posted, the send
 *  waits for one.
 *  Errors: INVALID_HANDLE, INVALID_STATE (neither connected nor disconnected; then it is flushed), INVALID_PARAMETER
 *  (segment outside its LMR, too many, flags), PROTECTION_VIOLATION (another zone), PRIVILEGES_VIOLATION (no local
 *  read), INSUFFICIENT_RESOURCES (max_request_dtos outstanding).
 *  Threads: unsafe. Man page: dat_ep_post_send(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

/** Gives memory for one message of the peer, in any state of the endpoint. A longer message breaks the connection;
 *  transfered_length tells of a shorter one.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (segment outside its LMR, too many, flags), INVALID_STATE (it has an SRQ),
 *  PROTECTION_VIOLATION, PRIVILEGES_VIOLATION (no local write), INSUFFICIENT_RESOURCES (max_recv_dtos outstanding).
 *  Threads: unsafe. Man page: dat_ep_post_recv(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

/** Reads the peer's memory into the segments, in order. The peer sees nothing of it.
 *  Errors: Those of dat_ep_post_send, with PRIVILEGES_VIOLATION for no local write; LENGTH_ERROR (the segments hold
 *  less than remote_iov has). What the peer forbids is a completion with DAT_DTO_ERR_REMOTE_ACCESS.
 *  Threads: unsafe. Man page: dat_ep_post_rdma_read(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                    DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                                    const DAT_RMR_TRIPLET* remote_iov,
                                                    DAT_COMPLETION_FLAGS completion_flags);

/** Writes the bytes of the segments, in order, to the peer's memory. The peer sees nothing of it; bytes land in
 *  ascending order.
 *  Errors: Those of dat_ep_post_send; LENGTH_ERROR (remote_iov holds less than the segments have). What the peer
 *  forbids is a completion with DAT_DTO_ERR_REMOTE_ACCESS.
 *  Threads: unsafe. Man page: dat_ep_post_rdma_write(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                     DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                                     const DAT_RMR_TRIPLET* remote_iov,
                                                     DAT_COMPLETION_FLAGS completion_flags);

/** Tells how many receive buffers the endpoint has taken and not completed, and how many completions they stand for at
 *  most. Either is DAT_VALUE_UNKNOWN if the provider cannot say cheaply; each pointer may be NULL.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER, MODEL_NOT_SUPPORTED (neither is known).
 *  Threads: unsafe. Man page: dat_ep_recv_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT* nbufs_allocated,
                                                DAT_COUNT* bufs_alloc_span);

/** Arms two alarms on the receive buffers taken and not completed: above the soft one an asynchronous event, once;
 *  above the hard one the connection breaks. DAT_WATERMARK_INFINITE disarms.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER, MODEL_NOT_SUPPORTED.
 *  Threads: unsafe. Man page: dat_ep_set_watermark(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark,
                                                   DAT_COUNT hard_high_watermark);

/* ---- Shared receive queues ---- */

typedef enum dat_srq_state {
  DAT_SRQ_STATE_OPERATIONAL = 0,
  DAT_SRQ_STATE_ERROR = 1 /**< Broken: every post fails. */
} DAT_SRQ_STATE;

/** What is wanted of a new queue. */
typedef struct dat_srq_attr {
  DAT_COUNT max_recv_dtos; /**< Buffers posted at once. */
  DAT_COUNT max_recv_iov;  /**< Segments of a buffer. */
  DAT_COUNT low_watermark; /**< See dat_srq_set_lw. */
} DAT_SRQ_ATTR;

typedef struct dat_srq_param {
  DAT_IA_HANDLE ia_handle;
  DAT_SRQ_STATE srq_state;
  DAT_PZ_HANDLE pz_handle;
  DAT_COUNT max_recv_dtos;
  DAT_COUNT max_recv_iov;
  DAT_COUNT low_watermark;
  DAT_COUNT available_dto_count;   /**< Posted and not taken by an EP, or DAT_VALUE_UNKNOWN. */
  DAT_COUNT outstanding_dto_count; /**< Posted and not completed, or DAT_VALUE_UNKNOWN. */
} DAT_SRQ_PARAM;

typedef enum dat_srq_param_mask {
  DAT_SRQ_FIELD_IA_HANDLE = 0x1,
  DAT_SRQ_FIELD_SRQ_STATE = 0x2,
  DAT_SRQ_FIELD_PZ_HANDLE = 0x4,
  DAT_SRQ_FIELD_MAX_RECV_DTO = 0x8,
  DAT_SRQ_FIELD_MAX_RECV_IOV = 0x10,
  DAT_SRQ_FIELD_LOW_WATERMARK = 0x20,
  DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT = 0x40,
  DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT = 0x80,
  DAT_SRQ_FIELD_ALL = 0xff
} DAT_SRQ_PARAM_MASK;

/** Makes a queue of receive buffers that several endpoints take from.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (attributes), INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED.
 *  Threads: safe. Man page: dat_srq_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* srq_attr,
                                             DAT_SRQ_HANDLE* srq_handle);

/** Destroys the queue; buffers left in it are the consumer's again, without completions.
 *  Errors: INVALID_HANDLE, INVALID_STATE (SRQ_IN_USE: an endpoint takes from it).
 *  Threads: unsafe. Man page: dat_srq_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_free(DAT_SRQ_HANDLE srq_handle);

/** Gives memory for one message to any of the endpoints. The completion is on the receive EVD of the one that took it.
 *  Errors: Those of dat_ep_post_recv.
 *  Threads: unsafe. Man page: dat_srq_post_recv(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                                                DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie);

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: unsafe. Man page: dat_srq_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
                                            DAT_SRQ_PARAM* srq_param);

/** Changes how many buffers the queue holds; loses none.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER, INSUFFICIENT_RESOURCES, INVALID_STATE (more are posted; below the low
 *  watermark).
 *  Threads: unsafe. Man page: dat_srq_resize(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto);

/** Arms an asynchronous event, once, for when fewer buffers than this are left.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (above max_recv_dtos), MODEL_NOT_SUPPORTED.
 *  Threads: unsafe. Man page: dat_srq_set_lw(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_ENDPOINT_H */
