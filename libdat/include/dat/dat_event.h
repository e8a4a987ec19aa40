/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: events and the queues they arrive on, event dispatchers (EVD). Creating an EVD and blocking on one
 * is in udat.h. */
#ifndef SOFTDAT_DAT12_DAT_EVENT_H
#define SOFTDAT_DAT12_DAT_EVENT_H

#include <dat/dat_connection.h>
#include <dat/dat_endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The streams of events that an EVD takes, see dat_evd_create(3). A stream begins to feed it when an EP, a service
 *  point or an IA is made with it. */
typedef enum dat_evd_flags {
  DAT_EVD_SOFTWARE_FLAG = 0x1,    /**< dat_evd_post_se. */
  DAT_EVD_CR_FLAG = 0x10,         /**< Connection requests. */
  DAT_EVD_DTO_FLAG = 0x20,        /**< Completions of transfers. */
  DAT_EVD_CONNECTION_FLAG = 0x40, /**< Connections established, refused, ended. */
  DAT_EVD_RMR_BIND_FLAG = 0x80,   /**< Completions of binds. */
  DAT_EVD_ASYNC_FLAG = 0x100,     /**< Errors of an IA's objects. */
  DAT_EVD_DEFAULT_FLAG = 0x1f0    /**< All but software events. */
} DAT_EVD_FLAGS;

/** How a transfer ended. After anything but success the endpoint is no longer connected, its outstanding work is
 *  flushed in order, and the contents of the local memory are undefined. SoftDAT never tells PARTIAL_PACKET. */
typedef enum dat_dto_completion_status {
  DAT_DTO_SUCCESS = 0,                /**< All bytes are where they belong. */
  DAT_DTO_ERR_FLUSHED = 1,            /**< Not begun, or cut off, because the connection ended. */
  DAT_DTO_ERR_LOCAL_LENGTH = 2,       /**< A message was longer than the receive. */
  DAT_DTO_ERR_LOCAL_EP = 3,           /**< The endpoint is inconsistent. */
  DAT_DTO_ERR_LOCAL_PROTECTION = 4,   /**< A local segment is no longer registered, or its memory is gone. */
  DAT_DTO_ERR_BAD_RESPONSE = 5,       /**< The peer's answer makes no sense. */
  DAT_DTO_ERR_REMOTE_ACCESS = 6,      /**< The peer's key, bounds, zone or rights forbid it. */
  DAT_DTO_ERR_REMOTE_RESPONDER = 7,   /**< The peer could not do it. */
  DAT_DTO_ERR_TRANSPORT = 8,          /**< The network gave up. */
  DAT_DTO_ERR_RECEIVER_NOT_READY = 9, /**< The peer had no receive posted, and the retries are used up. */
  DAT_DTO_ERR_PARTIAL_PACKET = 10,    /**< A packet was cut. */
  DAT_RMR_OPERATION_FAILED = 11       /**< A bind failed. */
} DAT_DTO_COMPLETION_STATUS;
/* Names of DAT 1.0 and 1.1. */
#define DAT_DTO_LENGTH_ERROR DAT_DTO_ERR_LOCAL_LENGTH
#define DAT_DTO_FAILURE DAT_DTO_ERR_FLUSHED

/** A send, receive, RDMA read or RDMA write has ended; its memory is the program's again. */
typedef struct dat_dto_completion_event_data {
  DAT_EP_HANDLE ep_handle;          /**< May have been freed since. */
  DAT_DTO_COOKIE user_cookie;       /**< The one given with the post. */
  DAT_DTO_COMPLETION_STATUS status; /**< DAT_DTO_SUCCESS, or why it failed. */
  DAT_VLEN transfered_length;       /**< Bytes, on success; in SoftDAT 0 after a failure. */
} DAT_DTO_COMPLETION_EVENT_DATA;

/** Older names for the status of a bind. */
#define DAT_RMR_BIND_SUCCESS DAT_DTO_SUCCESS
#define DAT_RMR_BIND_FAILURE DAT_DTO_ERR_FLUSHED
#define DAT_RMR_BIND_COMPLETION_STATUS DAT_DTO_COMPLETION_STATUS

/** A bind has ended: the new key is in force, or on failure the connection is broken. */
typedef struct dat_rmr_bind_completion_event_data {
  DAT_RMR_HANDLE rmr_handle;        /**< May have been freed since. */
  DAT_RMR_COOKIE user_cookie;       /**< The one given with the bind. */
  DAT_DTO_COMPLETION_STATUS status; /**< DAT_DTO_SUCCESS, or why not. */
} DAT_RMR_BIND_COMPLETION_EVENT_DATA;

/** The service point that a request came in on; dat_get_handle_type tells of which kind. May have been freed since. */
typedef union dat_sp_handle {
  DAT_RSP_HANDLE rsp_handle; /**< DAT_HANDLE_TYPE_RSP. */
  DAT_PSP_HANDLE psp_handle; /**< DAT_HANDLE_TYPE_PSP. */
} DAT_SP_HANDLE;

/** A peer asks for a connection. */
typedef struct dat_cr_arrival_event_data {
  DAT_SP_HANDLE sp_handle;                 /**< Where it came in. */
  DAT_IA_ADDRESS_PTR local_ia_address_ptr; /**< Belongs to the IA and lives until it is closed. */
  DAT_CONN_QUAL conn_qual;                 /**< The qualifier that the peer asked for, host order. */
  DAT_CR_HANDLE cr_handle;                 /**< The program's until accepted, rejected or handed off. */
} DAT_CR_ARRIVAL_EVENT_DATA;

/** A connection has come up, gone down, or could not be made. */
typedef struct dat_connection_event_data {
  DAT_EP_HANDLE ep_handle;     /**< May have been freed since. */
  DAT_COUNT private_data_size; /**< Bytes; 0 unless established on the connecting side. */
  DAT_PVOID private_data;      /**< Belongs to the EP; lives until it is freed or reset. */
} DAT_CONNECTION_EVENT_DATA;

/** An object has an error that no completion could report. On the asynchronous EVD of its IA. */
typedef struct dat_asynch_error_event_data {
  DAT_HANDLE dat_handle; /**< The object; its kind by dat_get_handle_type. */
  DAT_COUNT reason;      /**< An enumerator for that kind, below. */
} DAT_ASYNCH_ERROR_EVENT_DATA;

/* Values of reason, by the kind of handle the event names. */
/** With DAT_ASYNC_ERROR_IA_CATASTROPHIC. */
typedef enum ia_async_error_reason {
  DAT_IA_CATASTROPHIC_ERROR = 0, /**< The IA is lost: close it. */
  DAT_IA_OTHER_ERROR = 1
} DAT_IA_ASYNC_ERROR_REASON;

/** With DAT_ASYNC_ERROR_EP_BROKEN. */
typedef enum ep_async_error_reason {
  DAT_EP_TRANSFER_TO_ERROR = 0, /**< The connection ended: told for an EP with an SRQ, or that its peer broke. */
  DAT_EP_OTHER_ERROR = 1,
  DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT = 2 /**< The EP goes on working, see dat_ep_set_watermark. */
} DAT_EP_ASYNC_ERROR_REASON;

/** With DAT_ASYNC_ERROR_EVD_OVERFLOW, once until the EVD is resized. Events that found no room are lost, and a
 *  connection that lost a completion breaks. */
typedef enum ep_evd_error_reason { DAT_EVD_OVERFLOW_ERROR = 0, DAT_EVD_OTHER_ERROR = 1 } DAT_EVD_ASYNC_ERROR_REASON;

/** With DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR: the specification has no number for these queues. */
typedef enum ep_srq_error_reason {
  DAT_SRQ_TRANSFER_TO_ERROR = 0, /**< The queue is broken; SoftDAT never tells it. */
  DAT_SRQ_OTHER_ERROR = 1,
  DAT_SRQ_LOW_WATERMARK_EVENT = 2 /**< See dat_srq_set_lw. */
} DAT_SRQ_ASYNC_ERROR_REASON;

/** SoftDAT reports no errors of memory and zones. */
typedef enum lmr_async_error_reason { DAT_LMR_OTHER_ERROR = 0 } DAT_LMR_ASYNC_ERROR_REASON;

typedef enum rmr_async_error_reason { DAT_RMR_OTHER_ERROR = 0 } DAT_RMR_ASYNC_ERROR_REASON;

typedef enum pz_async_error_reason { DAT_PZ_OTHER_ERROR = 0 } DAT_PZ_ASYNC_ERROR_REASON;

/** The payload of dat_evd_post_se. */
typedef struct dat_software_event_data {
  DAT_PVOID pointer; /**< The program's; DAT does not look at it. */
} DAT_SOFTWARE_EVENT_DATA;

/** The kind of an event; it selects the member of DAT_EVENT_DATA. The bits above the lowest byte name the stream. */
typedef enum dat_event_number {
  DAT_DTO_COMPLETION_EVENT = 0x1,                  /**< dto_completion_event_data. */
  DAT_RMR_BIND_COMPLETION_EVENT = 0x1001,          /**< rmr_completion_event_data. */
  DAT_CONNECTION_REQUEST_EVENT = 0x2001,           /**< cr_arrival_event_data. */
  DAT_CONNECTION_EVENT_ESTABLISHED = 0x4001,       /**< connect_event_data, as all of these. The EP is connected. */
  DAT_CONNECTION_EVENT_PEER_REJECTED = 0x4002,     /**< The peer's program refused: dat_cr_reject. */
  DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x4003, /**< No listener, no room in its queue, or no answer. */
  DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x4004, /**< After dat_cr_accept: the peer has gone. */
  DAT_CONNECTION_EVENT_DISCONNECTED = 0x4005,            /**< By either side's dat_ep_disconnect. */
  DAT_CONNECTION_EVENT_BROKEN = 0x4006,                  /**< By an error, or because the peer died. */
  DAT_CONNECTION_EVENT_TIMED_OUT = 0x4007,               /**< Not connected within the timeout. */
  DAT_CONNECTION_EVENT_UNREACHABLE = 0x4008,             /**< No way to the address, or nothing answers there. */
  DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x8001,                 /**< asynch_error_event_data, as all of these. */
  DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x8002,              /**< The device is lost; on the EVD of every opening of it. */
  DAT_ASYNC_ERROR_EP_BROKEN = 0x8003,                    /**< See DAT_EP_ASYNC_ERROR_REASON. */
  DAT_ASYNC_ERROR_TIMED_OUT = 0x8004,                    /**< SoftDAT never tells it. */
  DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x8005,      /**< Also the low watermark of an SRQ. */
  DAT_SOFTWARE_EVENT = 0x10001                           /**< software_event_data. */
} DAT_EVENT_NUMBER;

/** The member that event_number selects is filled; the others are undefined. */
typedef union dat_event_data {
  DAT_DTO_COMPLETION_EVENT_DATA dto_completion_event_data;      /**< DAT_DTO_COMPLETION_EVENT. */
  DAT_RMR_BIND_COMPLETION_EVENT_DATA rmr_completion_event_data; /**< DAT_RMR_BIND_COMPLETION_EVENT. */
  DAT_CR_ARRIVAL_EVENT_DATA cr_arrival_event_data;              /**< DAT_CONNECTION_REQUEST_EVENT. */
  DAT_CONNECTION_EVENT_DATA connect_event_data;                 /**< DAT_CONNECTION_EVENT_ESTABLISHED and its kin. */
  DAT_ASYNCH_ERROR_EVENT_DATA asynch_error_event_data;          /**< DAT_ASYNC_ERROR_EVD_OVERFLOW and its kin. */
  DAT_SOFTWARE_EVENT_DATA software_event_data;                  /**< DAT_SOFTWARE_EVENT. */
} DAT_EVENT_DATA;

/** An event, as dat_evd_wait and dat_evd_dequeue fill it in. The structure is the program's; handles and pointers in it
 *  are owned as their comments say. */
typedef struct dat_event {
  DAT_EVENT_NUMBER event_number; /**< Says which member of event_data is filled. */
  DAT_EVD_HANDLE evd_handle;     /**< The EVD it was on. */
  DAT_EVENT_DATA event_data;     /**< The payload. */
} DAT_EVENT;

/** Bits of the state of an EVD: one each of enabled/disabled and waitable/unwaitable, and which thresholds dat_evd_wait
 *  takes. */
typedef enum dat_evd_state {
  DAT_EVD_STATE_ENABLED = 0x1,           /**< Events trigger the CNO. */
  DAT_EVD_STATE_DISABLED = 0x2,          /**< Events do not trigger the CNO. */
  DAT_EVD_STATE_WAITABLE = 0x4,          /**< dat_evd_wait is allowed. */
  DAT_EVD_STATE_UNWAITABLE = 0x8,        /**< dat_evd_wait is refused. */
  DAT_EVD_STATE_CONFIG_NOTIFY = 0x10,    /**< Unsignalled completions feed it: threshold 1 only. */
  DAT_EVD_STATE_CONFIG_SOLICITED = 0x20, /**< Solicited completions feed it: threshold 1 only. */
  DAT_EVD_STATE_CONFIG_THRESHOLD = 0x30  /**< Any threshold. */
} DAT_EVD_STATE;

/** The parameters of an event dispatcher, as dat_evd_query(3) tells them. */
typedef struct dat_evd_param {
  DAT_IA_HANDLE ia_handle;   /**< The adapter it was made from. */
  DAT_COUNT evd_qlen;        /**< Events it really holds, at least as many as asked for. */
  DAT_EVD_STATE evd_state;   /**< Bits of DAT_EVD_STATE. */
  DAT_CNO_HANDLE cno_handle; /**< Null if none. */
  DAT_EVD_FLAGS evd_flags;   /**< The streams it takes. */
} DAT_EVD_PARAM;

/** One bit for each member of DAT_EVD_PARAM. */
typedef enum dat_evd_param_mask {
  DAT_EVD_FIELD_IA_HANDLE = 0x1,
  DAT_EVD_FIELD_EVD_QLEN = 0x2,
  DAT_EVD_FIELD_EVD_STATE = 0x4,
  DAT_EVD_FIELD_CNO = 0x8,
  DAT_EVD_FIELD_EVD_FLAGS = 0x10,
  DAT_EVD_FIELD_ALL = 0x1f
} DAT_EVD_PARAM_MASK;

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: unsafe. Man page: dat_evd_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask,
                                            DAT_EVD_PARAM* evd_param);

/** Changes how many events the queue holds at least, larger or smaller; loses none. A thread that waits stays so.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (not positive; beyond max_evd_qlen), INSUFFICIENT_RESOURCES, INVALID_STATE
 *  (more are queued; EVD_WAITER: more are waited for).
 *  Threads: unsafe. Man page: dat_evd_resize(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen);

/** Puts a copy of the event's software_event_data on an EVD with DAT_EVD_SOFTWARE_FLAG; the number must be
 *  DAT_SOFTWARE_EVENT. Wakes a waiter or triggers the CNO, as any event. Software events keep their order.
 *  Errors: INVALID_HANDLE (also an EVD without that flag), INVALID_PARAMETER (NULL; another number), QUEUE_FULL (no
 *  overflow is reported).
 *  Threads: unsafe. Man page: dat_evd_post_se(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event);

/** Takes the oldest event without waiting, also from a disabled or unwaitable EVD. Any number of threads may: each
 *  event goes to exactly one, and those of one stream come in order.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL event), QUEUE_EMPTY (without the class on an EVD of completions:
 *  compare the type), INVALID_STATE (EVD_WAITER: a thread is blocked in dat_evd_wait).
 *  Threads: safe. Man page: dat_evd_dequeue(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event);

/** Destroys the EVD with the events on it; its handle is void. A waiter is woken with DAT_ABORT, requests on it are
 *  refused to their peers, and if it was the last of its CNO, that CNO's waiters get a null handle.
 *  Errors: INVALID_HANDLE, INVALID_STATE (EVD_IN_USE: an EP, service point or the IA feeds it).
 *  Threads: unsafe. Man page: dat_evd_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_free(DAT_EVD_HANDLE evd_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_EVENT_H */
