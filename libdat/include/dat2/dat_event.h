/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: events and the queues they arrive on, event dispatchers (EVD). Creating an EVD and blocking on one
 * is in udat.h. */
#ifndef SOFTDAT_DAT2_DAT_EVENT_H
#define SOFTDAT_DAT2_DAT_EVENT_H

#include <dat2/dat_connection.h>
#include <dat2/dat_endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which streams of events an EVD takes, and who may feed it. */
typedef enum dat_evd_flags {
  DAT_EVD_SOFTWARE_FLAG = 0x1,
  DAT_EVD_CR_FLAG = 0x10,
  DAT_EVD_DTO_FLAG = 0x20,
  DAT_EVD_CONNECTION_FLAG = 0x40,
  DAT_EVD_RMR_BIND_FLAG = 0x80,
  DAT_EVD_ASYNC_FLAG = 0x100,
  DAT_EVD_DEFAULT_FLAG = 0x1f0,
  DAT_EVD_EXTENSION_BASE = 0x200
} DAT_EVD_FLAGS;

/** How a transfer ended. After anything but success the endpoint is no longer connected, and what it had
 *  outstanding is flushed in order. */
typedef enum dat_dto_completion_status {
  DAT_DTO_SUCCESS = 0,
  DAT_DTO_ERR_FLUSHED = 1,
  DAT_DTO_ERR_LOCAL_LENGTH = 2,
  DAT_DTO_ERR_LOCAL_EP = 3,
  DAT_DTO_ERR_LOCAL_PROTECTION = 4,
  DAT_DTO_ERR_BAD_RESPONSE = 5,
  DAT_DTO_ERR_REMOTE_ACCESS = 6,
  DAT_DTO_ERR_REMOTE_RESPONDER = 7,
  DAT_DTO_ERR_TRANSPORT = 8,
  DAT_DTO_ERR_RECEIVER_NOT_READY = 9,
  DAT_DTO_ERR_PARTIAL_PACKET = 10,
  DAT_RMR_OPERATION_FAILED = 11,
  DAT_DTO_ERR_LOCAL_MM_ERROR = 12
} DAT_DTO_COMPLETION_STATUS;
/* Names of DAT 1.0 and 1.1. */
#define DAT_DTO_LENGTH_ERROR DAT_DTO_ERR_LOCAL_LENGTH
#define DAT_DTO_FAILURE DAT_DTO_ERR_FLUSHED

/** A send, receive, RDMA read or RDMA write has ended. */
typedef struct dat_dto_completion_event_data {
  DAT_EP_HANDLE ep_handle;
  DAT_DTO_COOKIE user_cookie;
  DAT_DTO_COMPLETION_STATUS status;
  DAT_SEG_LENGTH transfered_length;
  DAT_DTOS operation;
  DAT_RMR_CONTEXT rmr_context;
} DAT_DTO_COMPLETION_EVENT_DATA;

#define DAT_RMR_BIND_SUCCESS DAT_DTO_SUCCESS
#define DAT_RMR_BIND_FAILURE DAT_DTO_ERR_FLUSHED
#define DAT_RMR_BIND_COMPLETION_STATUS DAT_DTO_COMPLETION_STATUS

/** A bind has ended. */
typedef struct dat_rmr_bind_completion_event_data {
  DAT_RMR_HANDLE rmr_handle;
  DAT_RMR_COOKIE user_cookie;
  DAT_DTO_COMPLETION_STATUS status;
} DAT_RMR_BIND_COMPLETION_EVENT_DATA;

/** The service point a request came in on; which one, the consumer knows from the EVD or dat_get_handle_type. */
typedef union dat_sp_handle {
  DAT_RSP_HANDLE rsp_handle;
  DAT_PSP_HANDLE psp_handle;
  DAT_CSP_HANDLE csp_handle;
} DAT_SP_HANDLE;

/** Somebody wants a connection. */
typedef struct dat_cr_arrival_event_data {
  DAT_SP_HANDLE sp_handle;
  DAT_IA_ADDRESS_PTR local_ia_address_ptr;
  DAT_CONN_QUAL conn_qual;
  DAT_CR_HANDLE cr_handle;
  DAT_BOOLEAN truncate_flag;
} DAT_CR_ARRIVAL_EVENT_DATA;

/** A connection has come up, gone down, or failed to be. */
typedef struct dat_connection_event_data {
  DAT_EP_HANDLE ep_handle;
  DAT_COUNT private_data_size;
  DAT_PVOID private_data;
} DAT_CONNECTION_EVENT_DATA;

/** An object has an error that no completion could report. */
typedef struct dat_asynch_error_event_data {
  DAT_HANDLE dat_handle;
  DAT_COUNT reason;
} DAT_ASYNCH_ERROR_EVENT_DATA;

/* Values of reason, by the kind of handle the event names. */
typedef enum ia_async_error_reason { DAT_IA_CATASTROPHIC_ERROR = 0, DAT_IA_OTHER_ERROR = 1 } DAT_IA_ASYNC_ERROR_REASON;
typedef enum ep_async_error_reason {
  DAT_EP_TRANSFER_TO_ERROR = 0,
  DAT_EP_OTHER_ERROR = 1,
  DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT = 2
} DAT_EP_ASYNC_ERROR_REASON;
typedef enum evd_async_error_reason { DAT_EVD_OVERFLOW_ERROR = 0, DAT_EVD_OTHER_ERROR = 1 } DAT_EVD_ASYNC_ERROR_REASON;
typedef enum srq_async_error_reason {
  DAT_SRQ_TRANSFER_TO_ERROR = 0,
  DAT_SRQ_OTHER_ERROR = 1,
  DAT_SRQ_LOW_WATERMARK_EVENT = 2
} DAT_SRQ_ASYNC_ERROR_REASON;
typedef enum lmr_async_error_reason { DAT_LMR_OTHER_ERROR = 0 } DAT_LMR_ASYNC_ERROR_REASON;
typedef enum rmr_async_error_reason { DAT_RMR_OTHER_ERROR = 0 } DAT_RMR_ASYNC_ERROR_REASON;
typedef enum pz_async_error_reason { DAT_PZ_OTHER_ERROR = 0 } DAT_PZ_ASYNC_ERROR_REASON;

/** What dat_evd_post_se was given. */
typedef struct dat_software_event_data {
  DAT_PVOID pointer;
} DAT_SOFTWARE_EVENT_DATA;

/** What happened. The bits above the lowest byte name the stream. */
typedef enum dat_event_number {
  DAT_DTO_COMPLETION_EVENT = 0x1,
  DAT_RMR_BIND_COMPLETION_EVENT = 0x1001,
  DAT_CONNECTION_REQUEST_EVENT = 0x2001,
  DAT_CONNECTION_EVENT_ESTABLISHED = 0x4001,
  DAT_CONNECTION_EVENT_PEER_REJECTED = 0x4002,
  DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x4003,
  DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x4004,
  DAT_CONNECTION_EVENT_DISCONNECTED = 0x4005,
  DAT_CONNECTION_EVENT_BROKEN = 0x4006,
  DAT_CONNECTION_EVENT_TIMED_OUT = 0x4007,
  DAT_CONNECTION_EVENT_UNREACHABLE = 0x4008,
  DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x8001,
  DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x8002,
  DAT_ASYNC_ERROR_EP_BROKEN = 0x8003,
  DAT_ASYNC_ERROR_TIMED_OUT = 0x8004,
  DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x8005,
  DAT_HA_DOWN_TO_1 = 0x8101,
  DAT_HA_UP_TO_MULTI_PATH = 0x8102,
  DAT_SOFTWARE_EVENT = 0x10001,
  DAT_EXTENSION_EVENT = 0x20000,
  DAT_IB_EXTENSION_RANGE_BASE = 0x40000,
  DAT_IW_EXTENSION_RANGE_BASE = 0x80000
} DAT_EVENT_NUMBER;

/** The part that event_number selects. */
typedef union dat_event_data {
  DAT_DTO_COMPLETION_EVENT_DATA dto_completion_event_data;
  DAT_RMR_BIND_COMPLETION_EVENT_DATA rmr_completion_event_data;
  DAT_CR_ARRIVAL_EVENT_DATA cr_arrival_event_data;
  DAT_CONNECTION_EVENT_DATA connect_event_data;
  DAT_ASYNCH_ERROR_EVENT_DATA asynch_error_event_data;
  DAT_SOFTWARE_EVENT_DATA software_event_data;
} DAT_EVENT_DATA;

/** Filled by dat_evd_wait and dat_evd_dequeue; the caller's memory. */
typedef struct dat_event {
  DAT_EVENT_NUMBER event_number;
  DAT_EVD_HANDLE evd_handle;
  DAT_EVENT_DATA event_data;
  DAT_UINT64 event_extension_data[8];
} DAT_EVENT;

/** Bits of the state of an EVD: one each of enabled/disabled and waitable/unwaitable. */
typedef enum dat_evd_state {
  DAT_EVD_STATE_ENABLED = 0x1,
  DAT_EVD_STATE_DISABLED = 0x2,
  DAT_EVD_STATE_WAITABLE = 0x4,
  DAT_EVD_STATE_UNWAITABLE = 0x8,
  DAT_EVD_STATE_CONFIG_NOTIFY = 0x10,
  DAT_EVD_STATE_CONFIG_SOLICITED = 0x20,
  DAT_EVD_STATE_CONFIG_THRESHOLD = 0x30
} DAT_EVD_STATE;

typedef struct dat_evd_param {
  DAT_IA_HANDLE ia_handle;
  DAT_COUNT evd_qlen;
  DAT_EVD_STATE evd_state;
  DAT_CNO_HANDLE cno_handle;
  DAT_EVD_FLAGS evd_flags;
} DAT_EVD_PARAM;
typedef enum dat_evd_param_mask {
  DAT_EVD_FIELD_IA_HANDLE = 0x1,
  DAT_EVD_FIELD_EVD_QLEN = 0x2,
  DAT_EVD_FIELD_EVD_STATE = 0x4,
  DAT_EVD_FIELD_CNO = 0x8,
  DAT_EVD_FIELD_EVD_FLAGS = 0x10,
  DAT_EVD_FIELD_ALL = 0x1f
} DAT_EVD_PARAM_MASK;

DAT_EXPORT DAT_RETURN DAT_API dat_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask,
                                            DAT_EVD_PARAM* evd_param);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_free(DAT_EVD_HANDLE evd_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT2_DAT_EVENT_H */
