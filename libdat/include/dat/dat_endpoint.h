/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: endpoints (EP), their transfers, and shared receive queues (SRQ). */
#ifndef SOFTDAT_DAT12_DAT_ENDPOINT_H
#define SOFTDAT_DAT12_DAT_ENDPOINT_H

#include <dat/dat_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of service an endpoint gives. dat_ep_create(3) answers MODEL_NOT_SUPPORTED to another. */
typedef enum dat_service_type {
  DAT_SERVICE_TYPE_RC = 0 /**< Reliable connection: in order, exactly once, or broken. */
} DAT_SERVICE_TYPE;

/** The states of an endpoint; docs/STATES.md has the table of events that lead from one to another. dat_ep_query tells
 *  them all; dat_ep_get_status tells PASSIVE_CONNECTION_PENDING for COMPLETION_PENDING. SoftDAT never tells the
 *  UNCONFIGURED ones: an endpoint without PZ and EVDs has the plain state. */
typedef enum dat_ep_state {
  DAT_EP_STATE_UNCONNECTED = 0, /**< New, or reset: may connect, or accept a request. */
  DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 1,
  DAT_EP_STATE_RESERVED = 2, /**< Kept for a reserved service point. */
  DAT_EP_STATE_UNCONFIGURED_RESERVED = 3,
  DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 4, /**< A request has come to its reserved service point. */
  DAT_EP_STATE_UNCONFIGURED_PASSIVE = 5,
  DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 6,    /**< After dat_ep_connect; an event tells the outcome. */
  DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 7, /**< Made by the provider for a request that is not accepted yet. */
  DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 8,
  DAT_EP_STATE_CONNECTED = 9,           /**< Transfers go; dat_ep_disconnect, an error or the peer ends it. */
  DAT_EP_STATE_DISCONNECT_PENDING = 10, /**< Disconnecting gracefully: requests complete, new ones are refused. */
  DAT_EP_STATE_DISCONNECTED = 11,       /**< Over, refused or broken: all posts are flushed until dat_ep_reset. */
  DAT_EP_STATE_COMPLETION_PENDING = 12  /**< A request is accepted on it; the connection is coming up. */
} DAT_EP_STATE;
/** The name of the state in DAT 1.0. */
#define DAT_EP_STATE_ERROR DAT_EP_STATE_DISCONNECTED

/** The abilities of an endpoint. A NULL attribute pointer at creation takes the provider's defaults, and a count or
 *  size of 0 the default of that one, but for the numbers of RDMA reads. Queue depths and numbers of segments may be
 *  granted larger than asked for, see dat_ep_query; all else is granted as it is or refused. The program owns the
 *  structure; calls read it and keep no pointer. */
typedef struct dat_ep_attr {
  DAT_SERVICE_TYPE service_type;              /**< RC: DAT 1.2 has no other. */
  DAT_VLEN max_message_size;                  /**< Bytes of a send; SoftDAT does not enforce it. */
  DAT_VLEN max_rdma_size;                     /**< Bytes of an RDMA read or write; SoftDAT does not enforce it. */
  DAT_QOS qos;                                /**< See dat_ep_connect. */
  DAT_COMPLETION_FLAGS recv_completion_flags; /**< How receives notify: EVD_THRESHOLD, UNSIGNALLED or SOLICITED_WAIT. */
  DAT_COMPLETION_FLAGS request_completion_flags; /**< How all else notifies: EVD_THRESHOLD or UNSIGNALLED. */
  DAT_COUNT max_recv_dtos;                       /**< Receives outstanding. */
  DAT_COUNT max_request_dtos;                    /**< Sends, RDMA and binds outstanding. */
  DAT_COUNT max_recv_iov;                        /**< Segments of a receive. */
  DAT_COUNT max_request_iov;                     /**< Segments of a send. */
  DAT_COUNT max_rdma_read_in;                    /**< RDMA reads by the peer at once; 0 forbids them. */
  DAT_COUNT max_rdma_read_out;                   /**< RDMA reads of the peer at once; 0 forbids them. */
  DAT_COUNT srq_soft_hw;                         /**< Soft high watermark, see dat_ep_set_watermark. */
  DAT_COUNT max_rdma_read_iov;                   /**< Segments of an RDMA read. */
  DAT_COUNT max_rdma_write_iov;                  /**< Segments of an RDMA write. */
  DAT_COUNT ep_transport_specific_count;         /**< SoftDAT knows none and refuses any. */
  DAT_NAMED_ATTR* ep_transport_specific;         /**< Array of that count; read during the call. */
  DAT_COUNT ep_provider_specific_count;          /**< SoftDAT knows none and refuses any. */
  DAT_NAMED_ATTR* ep_provider_specific;          /**< Array of that count; read during the call. */
} DAT_EP_ATTR;

/** The parameters of an endpoint. dat_ep_query fills them in; dat_ep_modify takes those that may be changed. Addresses
 *  belong to the EP and live until it is connected anew or freed. */
typedef struct dat_ep_param {
  DAT_IA_HANDLE ia_handle;                  /**< The adapter it was made from. */
  DAT_EP_STATE ep_state;                    /**< The state now. */
  DAT_IA_ADDRESS_PTR local_ia_address_ptr;  /**< The address of its adapter. */
  DAT_PORT_QUAL local_port_qual;            /**< Known once a connection is asked for or requested. */
  DAT_IA_ADDRESS_PTR remote_ia_address_ptr; /**< The peer's, until the EP is disconnected. */
  DAT_PORT_QUAL remote_port_qual;           /**< The peer's, likewise. */
  DAT_PZ_HANDLE pz_handle;                  /**< Zone, or null. */
  DAT_EVD_HANDLE recv_evd_handle;           /**< Completions of receives; null discards them. */
  DAT_EVD_HANDLE request_evd_handle;        /**< Completions of all else; null discards them. */
  DAT_EVD_HANDLE connect_evd_handle;        /**< Connection events; null discards them. */
  DAT_SRQ_HANDLE srq_handle;                /**< Null unless it was created with one. */
  DAT_EP_ATTR ep_attr;                      /**< As granted. */
} DAT_EP_PARAM;

/** One bit for each member of DAT_EP_PARAM and DAT_EP_ATTR. From LOCAL_IA_ADDRESS_PTR to SRQ_HANDLE the bits are half
 *  those of DAT 2.0. */
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

/** Watermarks of receive buffers: no limit (-1), the default of the high ones, and no low watermark. */
#define DAT_WATERMARK_INFINITE DAT_CAST_(DAT_COUNT, ~0)
#define DAT_HW_DEFAULT DAT_WATERMARK_INFINITE
#define DAT_SRQ_LW_DEFAULT 0
/** A count that the provider cannot tell. SoftDAT tells all. */
#define DAT_VALUE_UNKNOWN (DAT_CAST_(DAT_COUNT, ~0) - 1)

/* ---- Life of an endpoint ---- */

/** Makes an unconnected endpoint. A null EVD discards the events of its kind; EVDs may be the same and shared with
 *  other endpoints. PZ and EVDs may be null and set by dat_ep_modify; without a PZ nothing can be posted or connected.
 *  Attributes are read during the call and may be NULL for defaults.
 *  Errors: INVALID_HANDLE (IA, PZ; EVD that does not take such events), INVALID_PARAMETER (attributes beyond the IA's,
 *  negative or contradictory; named attributes; NULL output), INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED (service
 *  type, quality of service).
 *  Threads: safe. Man page: dat_ep_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                            DAT_EVD_HANDLE recv_completion_evd_handle,
                                            DAT_EVD_HANDLE request_completion_evd_handle,
                                            DAT_EVD_HANDLE connect_evd_handle, const DAT_EP_ATTR* ep_attributes,
                                            DAT_EP_HANDLE* ep_handle);

/** Like dat_ep_create for an endpoint that takes its receive buffers from an SRQ as long as it lives, and cannot be
 *  posted receives itself. Attributes are required; max_recv_iov is ignored, and max_recv_dtos bounds the buffers it
 *  may hold. The PZ may differ from the SRQ's if srq_ep_pz_difference_supported is DAT_TRUE. The end of its connection
 *  is also a DAT_ASYNC_ERROR_EP_BROKEN on the asynchronous EVD.
 *  Errors: as dat_ep_create, and INVALID_HANDLE (SRQ), INVALID_PARAMETER (NULL attributes).
 *  Threads: safe. Man page: dat_ep_create_with_srq(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                                     DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
                                                     DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
                                                     const DAT_EP_ATTR* ep_attributes, DAT_EP_HANDLE* ep_handle);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Attributes are as granted.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: unsafe. Man page: dat_ep_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                                           DAT_EP_PARAM* ep_param);

/** Changes the parameters that the mask selects, all or none: attributes and EVDs before a connection is asked for or
 *  accepted, the PZ while unconnected or tentative; the IA, state, addresses, ports and SRQ never. Receives that are
 *  posted stay and complete on the new EVD; their completion flags change only while none is posted.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown or never modifiable bit; value that dat_ep_create refuses; NULL),
 *  INVALID_STATE (not in this state; posted receives forbid it), INSUFFICIENT_RESOURCES.
 *  Threads: unsafe. Man page: dat_ep_modify(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                                            const DAT_EP_PARAM* ep_param);

/** Takes a snapshot: the state, and for each side whether nothing is outstanding (DAT_TRUE exactly when every posted
 *  transfer has completed, suppressed completions included). Each pointer may be NULL.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_ep_get_status(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* ep_state, DAT_BOOLEAN* recv_idle,
                                                DAT_BOOLEAN* request_idle);

/** Makes a disconnected endpoint unconnected again; PZ, EVDs, attributes and SRQ stay. Completions not dequeued yet may
 *  be lost, and private data of connection events is no longer valid. No effect on an unconnected one, whose receives
 *  stay.
 *  Errors: INVALID_HANDLE, INVALID_STATE (any other state).
 *  Threads: unsafe. Man page: dat_ep_reset(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_reset(DAT_EP_HANDLE ep_handle);

/** Destroys the endpoint in any state but three, disconnecting it abruptly; its handle is void, and posted memory is
 *  the program's again when it returns. Completions not dequeued yet may be lost, or be dequeued and name a handle that
 *  is no longer valid.
 *  Errors: INVALID_HANDLE, INVALID_STATE (reserved: free the RSP first; passive or tentative pending: reject the
 *  request).
 *  Threads: unsafe. Man page: dat_ep_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_free(DAT_EP_HANDLE ep_handle);

/* ---- Connections ---- */

/** Asks for a connection to a service point at an address. Returns at once, the EP being active connection pending; the
 *  outcome is an event on the connect EVD: ESTABLISHED, PEER_REJECTED, NON_PEER_REJECTED, UNREACHABLE, or TIMED_OUT at
 *  the latest after timeout microseconds. After all but the first the EP is disconnected and its receives are flushed.
 *  private_data (at most max_private_data_size bytes; NULL with size 0) goes along with the request; it and the address
 *  are copied.
 *  Errors: INVALID_HANDLE, INVALID_STATE (not unconnected; no PZ), INVALID_ADDRESS (family; address of no single host),
 *  INVALID_PARAMETER (NULL address; timeout 0; private data; flags), INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED
 *  (quality of service).
 *  Threads: unsafe. Man page: dat_ep_connect(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
                                             DAT_CONN_QUAL remote_conn_qual, DAT_TIMEOUT timeout,
                                             DAT_COUNT private_data_size, const DAT_PVOID private_data,
                                             DAT_QOS quality_of_service, DAT_CONNECT_FLAGS connect_flags);

/** Like dat_ep_connect to the service point that ep_dup_handle is connected to, with its flags; the program there has
 *  to accept anew. ep_dup_handle is only looked at.
 *  Errors: as dat_ep_connect, and INVALID_STATE if ep_dup_handle is not connected, or was by its peer's request
 *  (EP_NOTREADY).
 *  Threads: unsafe. Man page: dat_ep_dup_connect(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE ep_dup_handle,
                                                 DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                                 const DAT_PVOID private_data, DAT_QOS quality_of_service);

/** Ends the connection, or the attempt at one. Graceful: requests posted before complete first, and new ones are
 *  refused. Abrupt: they are flushed. DAT_CONNECTION_EVENT_DISCONNECTED follows on both sides' connect EVDs. No effect
 *  on a disconnected one.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (flags), INVALID_STATE (unconnected, reserved, passive or tentative
 *  pending), INSUFFICIENT_RESOURCES (never from SoftDAT).
 *  Threads: unsafe. Man page: dat_ep_disconnect(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS close_flags);

/* ---- Transfers ----
 *
 * Every post is asynchronous: success means it is queued, the outcome is a completion on the EVD of its side.
 * The segment array may be reused when the call returns unless the provider's iov_ownership_on_return says
 * otherwise; the memory it describes belongs to the transfer until the completion. Work of one side completes in
 * the order it was posted. */

/** Sends the bytes of the segments, in order, into one receive of the peer; 0 segments send an empty message. A peer
 *  that has no receive posted holds the send up or breaks the connection, as the transport has it; a message longer
 *  than the receive breaks it. On a disconnected EP the send is flushed.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (too many segments; NULL array; a segment outside its LMR; flags),
 *  INVALID_STATE (neither connected nor disconnected), PROTECTION_VIOLATION (another zone), PRIVILEGES_VIOLATION (no
 *  LMR; no local read), INSUFFICIENT_RESOURCES (max_request_dtos outstanding).
 *  Threads: unsafe. Man page: dat_ep_post_send(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

/** Gives memory for one message of the peer, in any state of the endpoint; on a disconnected one it is flushed. A
 *  longer message breaks the connection with DAT_DTO_ERR_LOCAL_LENGTH; transfered_length tells of a shorter one.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (too many segments; NULL array; a segment outside its LMR; flags),
 *  INVALID_STATE (it has an SRQ; no PZ), PROTECTION_VIOLATION (another zone), PRIVILEGES_VIOLATION (no LMR; no local
 *  write), INSUFFICIENT_RESOURCES (max_recv_dtos outstanding).
 *  Threads: unsafe. Man page: dat_ep_post_recv(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

/** Reads the peer's memory into the segments, in order; they must hold at least the length of remote_iov. The peer's
 *  program sees nothing of it. At most max_rdma_read_out are under way, more wait. A later request that uses what was
 *  read takes DAT_COMPLETION_BARRIER_FENCE_FLAG.
 *  Errors: as dat_ep_post_send, with PRIVILEGES_VIOLATION for no local write; LENGTH_ERROR (the segments hold less than
 *  remote_iov has); INSUFFICIENT_RESOURCES also with max_rdma_read_out 0. What the peer forbids is a completion with
 *  DAT_DTO_ERR_REMOTE_ACCESS.
 *  Threads: unsafe. Man page: dat_ep_post_rdma_read(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                    DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                                    const DAT_RMR_TRIPLET* remote_iov,
                                                    DAT_COMPLETION_FLAGS completion_flags);

/** Writes the bytes of the segments, in order, to the peer's memory; remote_iov must have room for them. The peer's
 *  program sees nothing of it; bytes land in ascending order. A send posted later arrives after them.
 *  Errors: as dat_ep_post_send; LENGTH_ERROR (remote_iov holds less than the segments have). What the peer forbids is a
 *  completion with DAT_DTO_ERR_REMOTE_ACCESS.
 *  Threads: unsafe. Man page: dat_ep_post_rdma_write(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                     DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                                     const DAT_RMR_TRIPLET* remote_iov,
                                                     DAT_COMPLETION_FLAGS completion_flags);

/** Tells how many receive buffers the endpoint has taken and not completed, and how many completions they stand for at
 *  most. Either is DAT_VALUE_UNKNOWN if the provider cannot say cheaply; each pointer may be NULL. In SoftDAT both are
 *  known and equal. With an SRQ a buffer is taken when a message needs it, otherwise when it is posted.
 *  Errors: INVALID_HANDLE, MODEL_NOT_SUPPORTED (neither is known; never from SoftDAT).
 *  Threads: unsafe. Man page: dat_ep_recv_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT* nbufs_allocated,
                                                DAT_COUNT* bufs_alloc_span);

/** Arms two alarms on the receive buffers taken and not completed: above the soft one an asynchronous event, once for
 *  each call; above the hard one the connection breaks. Either may happen during the call. DAT_WATERMARK_INFINITE, the
 *  default, disarms. Valid in every state.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (below -1), MODEL_NOT_SUPPORTED (never from SoftDAT).
 *  Threads: unsafe. Man page: dat_ep_set_watermark(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark,
                                                   DAT_COUNT hard_high_watermark);

/* ---- Shared receive queues ---- */

/** The states of a shared receive queue. SoftDAT's queues are always operational. The values of ERROR and OPERATIONAL
 *  are exchanged between DAT 1.2 and 2.0. */
typedef enum dat_srq_state {
  DAT_SRQ_STATE_OPERATIONAL = 0, /**< Endpoints take buffers from it. */
  DAT_SRQ_STATE_ERROR = 1        /**< Broken: every post fails. */
} DAT_SRQ_STATE;

/** The wishes for a new queue; read during the call. */
typedef struct dat_srq_attr {
  DAT_COUNT max_recv_dtos; /**< Buffers posted at once; more may be granted. */
  DAT_COUNT max_recv_iov;  /**< Segments of a buffer; 0 leaves the choice to the provider. */
  DAT_COUNT low_watermark; /**< DAT_SRQ_LW_DEFAULT; see dat_srq_set_lw. */
} DAT_SRQ_ATTR;

/** The parameters of a shared receive queue, as dat_srq_query(3) tells them. Counts are numbers of buffers. */
typedef struct dat_srq_param {
  DAT_IA_HANDLE ia_handle;         /**< The adapter it was made from. */
  DAT_SRQ_STATE srq_state;         /**< SoftDAT: operational. */
  DAT_PZ_HANDLE pz_handle;         /**< The zone of its buffers. */
  DAT_COUNT max_recv_dtos;         /**< Buffers that may be posted, as granted. */
  DAT_COUNT max_recv_iov;          /**< Segments of a buffer, as granted. */
  DAT_COUNT low_watermark;         /**< The last that was set. */
  DAT_COUNT available_dto_count;   /**< Posted and not taken by an EP, or DAT_VALUE_UNKNOWN. */
  DAT_COUNT outstanding_dto_count; /**< Posted, and the completion not dequeued; or DAT_VALUE_UNKNOWN. */
} DAT_SRQ_PARAM;

/** One bit for each member of DAT_SRQ_PARAM. */
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

/** Makes a queue of receive buffers that several endpoints take from. Each buffer must be long enough for every
 *  message.
 *  Errors: INVALID_HANDLE (IA, PZ), INVALID_PARAMETER (attributes NULL, negative or beyond the IA's; low watermark
 *  above max_recv_dtos; NULL output), INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED (the device has no SRQs).
 *  Threads: safe. Man page: dat_srq_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* srq_attr,
                                             DAT_SRQ_HANDLE* srq_handle);

/** Destroys the queue; buffers left in it are the program's again, without completions.
 *  Errors: INVALID_HANDLE, INVALID_STATE (SRQ_IN_USE: an endpoint takes from it).
 *  Threads: unsafe. Man page: dat_srq_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_free(DAT_SRQ_HANDLE srq_handle);

/** Gives memory for one message to any of the endpoints. The completion is on the receive EVD of the one that took it.
 *  Buffers of an endpoint that is disconnected are flushed if it had taken them, and stay in the queue otherwise.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (too many segments; NULL array; a segment outside its LMR),
 *  PROTECTION_VIOLATION (another zone than the SRQ's), PRIVILEGES_VIOLATION (no LMR; no local write),
 *  INSUFFICIENT_RESOURCES (max_recv_dtos posted and not dequeued).
 *  Threads: unsafe. Man page: dat_srq_post_recv(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                                                DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: unsafe. Man page: dat_srq_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
                                            DAT_SRQ_PARAM* srq_param);

/** Changes how many buffers the queue holds at least; loses neither buffers nor messages.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (not positive; beyond max_recv_per_srq), INSUFFICIENT_RESOURCES,
 *  INVALID_STATE (more are posted and not dequeued; below the low watermark).
 *  Threads: unsafe. Man page: dat_srq_resize(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto);

/** Arms an asynchronous event, once for each call, for when fewer buffers than this are left; that may be during the
 *  call. DAT_SRQ_LW_DEFAULT disarms. The event has the queue's handle, the number
 *  DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR and the reason DAT_SRQ_LOW_WATERMARK_EVENT.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (negative, or above max_recv_dtos), MODEL_NOT_SUPPORTED (never from
 *  SoftDAT).
 *  Threads: unsafe. Man page: dat_srq_set_lw(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_ENDPOINT_H */
