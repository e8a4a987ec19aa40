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

/** Which streams of events an EVD takes. */
typedef enum dat_evd_flags {
  DAT_EVD_SOFTWARE_FLAG = 0x1,    /**< dat_evd_post_se. */
  DAT_EVD_CR_FLAG = 0x10,         /**< Connection requests. */
  DAT_EVD_DTO_FLAG = 0x20,        /**< Completions of transfers. */
  DAT_EVD_CONNECTION_FLAG = 0x40, /**< Connections up, down, failed. */
  DAT_EVD_RMR_BIND_FLAG = 0x80,   /**< Completions of binds. */
  DAT_EVD_ASYNC_FLAG = 0x100,     /**< Errors of an IA's objects. */
  DAT_EVD_DEFAULT_FLAG = 0x1f0,   /**< All but software events. */
  DAT_EVD_EXTENSION_BASE = 0x200  /**< First value of an extension's own. */
} DAT_EVD_FLAGS;

/** How a transfer ended. After anything but success the endpoint is no longer connected, and what it had
 *  outstanding is flushed in order. */
typedef enum dat_dto_completion_status {
  DAT_DTO_SUCCESS = 0,
  DAT_DTO_ERR_FLUSHED = 1,            /**< Not begun, or cut off, because the connection ended. */
  DAT_DTO_ERR_LOCAL_LENGTH = 2,       /**< A message was longer than the receive, or a segment too long. */
  DAT_DTO_ERR_LOCAL_EP = 3,           /**< The endpoint is inconsistent. */
  DAT_DTO_ERR_LOCAL_PROTECTION = 4,   /**< A local segment is not registered so. */
  DAT_DTO_ERR_BAD_RESPONSE = 5,       /**< The peer answered nonsense. */
  DAT_DTO_ERR_REMOTE_ACCESS = 6,      /**< The peer's key, bounds or rights forbid it. */
  DAT_DTO_ERR_REMOTE_RESPONDER = 7,   /**< The peer could not do it. */
  DAT_DTO_ERR_TRANSPORT = 8,          /**< The network gave up. */
  DAT_DTO_ERR_RECEIVER_NOT_READY = 9, /**< The peer had no receive posted, and the retries are used up. */
  DAT_DTO_ERR_PARTIAL_PACKET = 10,    /**< A packet was cut. */
  DAT_RMR_OPERATION_FAILED = 11,      /**< A bind failed. */
  DAT_DTO_ERR_LOCAL_MM_ERROR = 12     /**< Memory management failed. */
} DAT_DTO_COMPLETION_STATUS;
/* Names of DAT 1.0 and 1.1. */
#define DAT_DTO_LENGTH_ERROR DAT_DTO_ERR_LOCAL_LENGTH
#define DAT_DTO_FAILURE DAT_DTO_ERR_FLUSHED

/** A send, receive, RDMA read or RDMA write has ended. */
typedef struct dat_dto_completion_event_data {
  DAT_EP_HANDLE ep_handle;
  DAT_DTO_COOKIE user_cookie;       /**< Of the post. */
  DAT_DTO_COMPLETION_STATUS status; /**< What follows is meaningful on success only. */
  DAT_SEG_LENGTH transfered_length; /**< Bytes. */
  DAT_DTOS operation;               /**< A DAT_DTOS; other providers leave it 0. */
  DAT_RMR_CONTEXT rmr_context;      /**< Of DAT_DTO_RECEIVE_WITH_INVALIDATE. */
} DAT_DTO_COMPLETION_EVENT_DATA;

#define DAT_RMR_BIND_SUCCESS DAT_DTO_SUCCESS
#define DAT_RMR_BIND_FAILURE DAT_DTO_ERR_FLUSHED
#define DAT_RMR_BIND_COMPLETION_STATUS DAT_DTO_COMPLETION_STATUS

/** A bind has ended. */
typedef struct dat_rmr_bind_completion_event_data {
  DAT_RMR_HANDLE rmr_handle;
  DAT_RMR_COOKIE user_cookie; /**< Of the bind. */
  DAT_DTO_COMPLETION_STATUS status;
} DAT_RMR_BIND_COMPLETION_EVENT_DATA;

/** The service point a request came in on; dat_get_handle_type tells of which kind. */
typedef union dat_sp_handle {
  DAT_RSP_HANDLE rsp_handle;
  DAT_PSP_HANDLE psp_handle;
  DAT_CSP_HANDLE csp_handle;
} DAT_SP_HANDLE;

/** Somebody wants a connection. */
typedef struct dat_cr_arrival_event_data {
  DAT_SP_HANDLE sp_handle;
  DAT_IA_ADDRESS_PTR local_ia_address_ptr; /**< Owned by the IA. */
  DAT_CONN_QUAL conn_qual;
  DAT_CR_HANDLE cr_handle;   /**< Belongs to the consumer until accepted, rejected or handed off. */
  DAT_BOOLEAN truncate_flag; /**< The private data did not fit. */
} DAT_CR_ARRIVAL_EVENT_DATA;

/** A connection has come up, gone down, or failed to be. */
typedef struct dat_connection_event_data {
  DAT_EP_HANDLE ep_handle;
  DAT_COUNT private_data_size; /**< Bytes; 0 unless established or rejected by the peer. */
  DAT_PVOID private_data;      /**< Lives until the EP is freed, reset or connected again. */
} DAT_CONNECTION_EVENT_DATA;

/** An object has an error that no completion could report. */
typedef struct dat_asynch_error_event_data {
  DAT_HANDLE dat_handle; /**< What has the error; its kind by dat_get_handle_type. */
  DAT_COUNT reason;      /**< An enumerator of that kind's reasons, below. */
} DAT_ASYNCH_ERROR_EVENT_DATA;

/* Values of reason, by the kind of handle the event names. */
typedef enum ia_async_error_reason {
  DAT_IA_CATASTROPHIC_ERROR = 0, /**< The IA is lost: close it. */
  DAT_IA_OTHER_ERROR = 1
} DAT_IA_ASYNC_ERROR_REASON;

typedef enum ep_async_error_reason {
  DAT_EP_TRANSFER_TO_ERROR = 0, /**< The endpoint was broken. */
  DAT_EP_OTHER_ERROR = 1,
  DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT = 2 /**< See dat_ep_set_watermark. */
} DAT_EP_ASYNC_ERROR_REASON;

typedef enum evd_async_error_reason { DAT_EVD_OVERFLOW_ERROR = 0, DAT_EVD_OTHER_ERROR = 1 } DAT_EVD_ASYNC_ERROR_REASON;

typedef enum srq_async_error_reason {
  DAT_SRQ_TRANSFER_TO_ERROR = 0,
  DAT_SRQ_OTHER_ERROR = 1,
  DAT_SRQ_LOW_WATERMARK_EVENT = 2 /**< See dat_srq_set_lw. */
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
  DAT_DTO_COMPLETION_EVENT = 0x1,                  /**< dto_completion_event_data. */
  DAT_RMR_BIND_COMPLETION_EVENT = 0x1001,          /**< rmr_completion_event_data. */
  DAT_CONNECTION_REQUEST_EVENT = 0x2001,           /**< cr_arrival_event_data. */
  DAT_CONNECTION_EVENT_ESTABLISHED = 0x4001,       /**< connect_event_data, as all of these. The EP is connected. */
  DAT_CONNECTION_EVENT_PEER_REJECTED = 0x4002,     /**< dat_cr_reject. */
  DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x4003, /**< Nobody listens, or the peer has no resources. */
  DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x4004, /**< After dat_cr_accept: the peer has gone. */
  DAT_CONNECTION_EVENT_DISCONNECTED = 0x4005,            /**< By either side's dat_ep_disconnect. */
  DAT_CONNECTION_EVENT_BROKEN = 0x4006,                  /**< By an error, or because the peer died. */
  DAT_CONNECTION_EVENT_TIMED_OUT = 0x4007,               /**< Not connected within the timeout. */
  DAT_CONNECTION_EVENT_UNREACHABLE = 0x4008,             /**< No way to the address. */
  DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x8001,                 /**< asynch_error_event_data, as all of these. */
  DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x8002,
  DAT_ASYNC_ERROR_EP_BROKEN = 0x8003,
  DAT_ASYNC_ERROR_TIMED_OUT = 0x8004,
  DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x8005,
  DAT_HA_DOWN_TO_1 = 0x8101,
  DAT_HA_UP_TO_MULTI_PATH = 0x8102,
  DAT_SOFTWARE_EVENT = 0x10001,  /**< software_event_data. */
  DAT_EXTENSION_EVENT = 0x20000, /**< First number of extensions. */
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
  DAT_EVD_HANDLE evd_handle; /**< The EVD it was on. */
  DAT_EVENT_DATA event_data;
  DAT_UINT64 event_extension_data[8]; /**< Of extension events. */
} DAT_EVENT;

/** Bits of the state of an EVD: one each of enabled/disabled and waitable/unwaitable. */
typedef enum dat_evd_state {
  DAT_EVD_STATE_ENABLED = 0x1, /**< Events trigger the CNO. */
  DAT_EVD_STATE_DISABLED = 0x2,
  DAT_EVD_STATE_WAITABLE = 0x4,
  DAT_EVD_STATE_UNWAITABLE = 0x8,        /**< dat_evd_wait is refused. */
  DAT_EVD_STATE_CONFIG_NOTIFY = 0x10,    /**< Unsignalled completions feed it: threshold 1 only. */
  DAT_EVD_STATE_CONFIG_SOLICITED = 0x20, /**< Solicited completions feed it: threshold 1 only. */
  DAT_EVD_STATE_CONFIG_THRESHOLD = 0x30  /**< Any threshold. */
} DAT_EVD_STATE;

typedef struct dat_evd_param {
  DAT_IA_HANDLE ia_handle;
  DAT_COUNT evd_qlen;        /**< What it really holds, at least what was asked for. */
  DAT_EVD_STATE evd_state;   /**< Bits of DAT_EVD_STATE. */
  DAT_CNO_HANDLE cno_handle; /**< Null if none. */
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

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: unsafe. Man page: dat_evd_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask,
                                            DAT_EVD_PARAM* evd_param);

/** Changes how many events the queue holds at least; loses none.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER, INSUFFICIENT_RESOURCES, INVALID_STATE (more are queued, or waited for).
 *  Threads: unsafe. Man page: dat_evd_resize(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen);

/** Puts a copy of the event's software_event_data on an EVD with DAT_EVD_SOFTWARE_FLAG; the number must be
 *  DAT_SOFTWARE_EVENT.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER, QUEUE_FULL (no overflow is reported).
 *  Threads: unsafe. Man page: dat_evd_post_se(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event);

/** Takes the oldest event without waiting. Any number of threads may: each event goes to exactly one, and those of one
 *  stream come in order.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (no place), QUEUE_EMPTY (a bare type without class from some providers),
 *  INVALID_STATE (EVD_WAITER: a thread is blocked in dat_evd_wait).
 *  Threads: safe. Man page: dat_evd_dequeue(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event);

/** Destroys the EVD with the events on it. A waiter is woken with DAT_ABORT.
 *  Errors: INVALID_HANDLE, INVALID_STATE (EVD_IN_USE: an EP, service point or the IA feeds it).
 *  Threads: unsafe. Man page: dat_evd_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_free(DAT_EVD_HANDLE evd_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT2_DAT_EVENT_H */
