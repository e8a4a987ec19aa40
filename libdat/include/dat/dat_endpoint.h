/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: endpoints (EP), their transfers, and shared receive queues (SRQ). */
#ifndef SOFTDAT_DAT12_DAT_ENDPOINT_H
#define SOFTDAT_DAT12_DAT_ENDPOINT_H

#include <dat/dat_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of service an endpoint gives. */
typedef enum dat_service_type { DAT_SERVICE_TYPE_RC = 0 } DAT_SERVICE_TYPE;

/** Where an endpoint is in its life; dat_ep_get_status(3DAT) has the diagram. */
typedef enum dat_ep_state {
  DAT_EP_STATE_UNCONNECTED = 0,
  DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 1,
  DAT_EP_STATE_RESERVED = 2,
  DAT_EP_STATE_UNCONFIGURED_RESERVED = 3,
  DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 4,
  DAT_EP_STATE_UNCONFIGURED_PASSIVE = 5,
  DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 6,
  DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 7,
  DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 8,
  DAT_EP_STATE_CONNECTED = 9,
  DAT_EP_STATE_DISCONNECT_PENDING = 10,
  DAT_EP_STATE_DISCONNECTED = 11,
  DAT_EP_STATE_COMPLETION_PENDING = 12
} DAT_EP_STATE;
/** The name of the state in DAT 1.0. */
#define DAT_EP_STATE_ERROR DAT_EP_STATE_DISCONNECTED

/** What an endpoint can do. A NULL attribute pointer at creation takes the provider's defaults; what was granted,
 *  at least what was asked for, is read back by dat_ep_query. */
typedef struct dat_ep_attr {
  DAT_SERVICE_TYPE service_type;
  DAT_VLEN max_message_size;
  DAT_VLEN max_rdma_size;
  DAT_QOS qos;
  DAT_COMPLETION_FLAGS recv_completion_flags;
  DAT_COMPLETION_FLAGS request_completion_flags;
  DAT_COUNT max_recv_dtos;
  DAT_COUNT max_request_dtos;
  DAT_COUNT max_recv_iov;
  DAT_COUNT max_request_iov;
  DAT_COUNT max_rdma_read_in;
  DAT_COUNT max_rdma_read_out;
  DAT_COUNT srq_soft_hw;
  DAT_COUNT max_rdma_read_iov;
  DAT_COUNT max_rdma_write_iov;
  DAT_COUNT ep_transport_specific_count;
  DAT_NAMED_ATTR* ep_transport_specific;
  DAT_COUNT ep_provider_specific_count;
  DAT_NAMED_ATTR* ep_provider_specific;
} DAT_EP_ATTR;

/** Everything dat_ep_query returns; dat_ep_modify takes the parts that may be changed. */
typedef struct dat_ep_param {
  DAT_IA_HANDLE ia_handle;
  DAT_EP_STATE ep_state;
  DAT_IA_ADDRESS_PTR local_ia_address_ptr;
  DAT_PORT_QUAL local_port_qual;
  DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
  DAT_PORT_QUAL remote_port_qual;
  DAT_PZ_HANDLE pz_handle;
  DAT_EVD_HANDLE recv_evd_handle;
  DAT_EVD_HANDLE request_evd_handle;
  DAT_EVD_HANDLE connect_evd_handle;
  DAT_SRQ_HANDLE srq_handle;
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

DAT_EXPORT DAT_RETURN DAT_API dat_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                            DAT_EVD_HANDLE recv_completion_evd_handle,
                                            DAT_EVD_HANDLE request_completion_evd_handle,
                                            DAT_EVD_HANDLE connect_evd_handle, const DAT_EP_ATTR* ep_attributes,
                                            DAT_EP_HANDLE* ep_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                                     DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
                                                     DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
                                                     const DAT_EP_ATTR* ep_attributes, DAT_EP_HANDLE* ep_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                                           DAT_EP_PARAM* ep_param);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                                            const DAT_EP_PARAM* ep_param);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* ep_state, DAT_BOOLEAN* recv_idle,
                                                DAT_BOOLEAN* request_idle);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_reset(DAT_EP_HANDLE ep_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_free(DAT_EP_HANDLE ep_handle);

/* ---- Connections ---- */

DAT_EXPORT DAT_RETURN DAT_API dat_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
                                             DAT_CONN_QUAL remote_conn_qual, DAT_TIMEOUT timeout,
                                             DAT_COUNT private_data_size, const DAT_PVOID private_data,
                                             DAT_QOS quality_of_service, DAT_CONNECT_FLAGS connect_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE ep_dup_handle,
                                                 DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                                 const DAT_PVOID private_data, DAT_QOS quality_of_service);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS close_flags);

/* ---- Transfers ----
 *
 * Every post is asynchronous: success means it is queued, the outcome is a completion on the EVD of its side.
 * The segment array may be reused when the call returns unless the provider's iov_ownership_on_return says
 * otherwise; the memory it describes belongs to the transfer until the completion. Work of one side completes in
 * the order it was posted. */

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                    DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                                    const DAT_RMR_TRIPLET* remote_iov,
                                                    DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                     DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                                     const DAT_RMR_TRIPLET* remote_iov,
                                                     DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT* nbufs_allocated,
                                                DAT_COUNT* bufs_alloc_span);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark,
                                                   DAT_COUNT hard_high_watermark);

/* ---- Shared receive queues ---- */

typedef enum dat_srq_state { DAT_SRQ_STATE_OPERATIONAL = 0, DAT_SRQ_STATE_ERROR = 1 } DAT_SRQ_STATE;

/** What is wanted of a new queue. */
typedef struct dat_srq_attr {
  DAT_COUNT max_recv_dtos;
  DAT_COUNT max_recv_iov;
  DAT_COUNT low_watermark;
} DAT_SRQ_ATTR;

typedef struct dat_srq_param {
  DAT_IA_HANDLE ia_handle;
  DAT_SRQ_STATE srq_state;
  DAT_PZ_HANDLE pz_handle;
  DAT_COUNT max_recv_dtos;
  DAT_COUNT max_recv_iov;
  DAT_COUNT low_watermark;
  DAT_COUNT available_dto_count;
  DAT_COUNT outstanding_dto_count;
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

DAT_EXPORT DAT_RETURN DAT_API dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* srq_attr,
                                             DAT_SRQ_HANDLE* srq_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_free(DAT_SRQ_HANDLE srq_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                                                DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
                                            DAT_SRQ_PARAM* srq_param);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_ENDPOINT_H */
