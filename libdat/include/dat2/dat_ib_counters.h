/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0 extensions: counters of IAs, endpoints and event dispatchers. Present if the named attribute
 * DAT_IB_ATTR_COUNTERS is "TRUE". */
#ifndef SOFTDAT_DAT2_DAT_IB_COUNTERS_H
#define SOFTDAT_DAT2_DAT_IB_COUNTERS_H

#include <dat2/dat_ib_extensions.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Counters of an IA. All are 64 bits and count from its opening or the last reset. SoftDAT counts creations and frees,
 *  and those whose comment says what brings them; the others are always 0. */
typedef enum dat_ia_counters {
  /* Objects of the IA that were created and freed. */
  DCNT_IA_PZ_CREATE = 0,
  DCNT_IA_PZ_FREE = 1,
  DCNT_IA_LMR_CREATE = 2,
  DCNT_IA_LMR_FREE = 3,
  DCNT_IA_RMR_CREATE = 4,
  DCNT_IA_RMR_FREE = 5,
  DCNT_IA_PSP_CREATE = 6,     /**< By dat_psp_create and dat_psp_create_any. */
  DCNT_IA_PSP_CREATE_ANY = 7, /**< By dat_psp_create_any. */
  DCNT_IA_PSP_FREE = 8,
  DCNT_IA_RSP_CREATE = 9,
  DCNT_IA_RSP_FREE = 10,
  DCNT_IA_EVD_CREATE = 11,
  DCNT_IA_EVD_FREE = 12,
  DCNT_IA_EP_CREATE = 13,
  DCNT_IA_EP_FREE = 14,
  DCNT_IA_SRQ_CREATE = 15,
  DCNT_IA_SRQ_FREE = 16,
  /* Connection requests at service points, and the answers to them. */
  DCNT_IA_SP_CR = 17,          /**< Requests that arrived. */
  DCNT_IA_SP_CR_ACCEPTED = 18, /**< dat_cr_accept. */
  DCNT_IA_SP_CR_REJECTED = 19, /**< dat_cr_reject. */
  DCNT_IA_MEM_ALLOC = 20,
  DCNT_IA_MEM_ALLOC_DATA = 21,
  DCNT_IA_MEM_FREE = 22,
  /* Events on the asynchronous EVD. */
  DCNT_IA_ASYNC_ERROR = 23,    /**< All of them. */
  DCNT_IA_ASYNC_QP_ERROR = 24, /**< DAT_ASYNC_ERROR_EP_BROKEN. */
  DCNT_IA_ASYNC_CQ_ERROR = 25, /**< DAT_ASYNC_ERROR_EVD_OVERFLOW. */
  /* Connection management, by the names of InfiniBand's messages: REQ request, REP reply, RTU ready to use, REJ reject,
   * AH address handle, DREQ and DREP disconnect request and reply, MRA message receipt acknowledged. TX sent, RX
   * received. */
  DCNT_IA_CM_LISTEN = 26,      /**< PSPs and RSPs created. */
  DCNT_IA_CM_REQ_TX = 27,      /**< Connects that were begun. */
  DCNT_IA_CM_REQ_RX = 28,      /**< Requests that arrived. */
  DCNT_IA_CM_REP_TX = 29,      /**< Requests accepted. */
  DCNT_IA_CM_REP_RX = 30,      /**< ESTABLISHED on the connecting side. */
  DCNT_IA_CM_RTU_TX = 31,      /**< ESTABLISHED on the connecting side. */
  DCNT_IA_CM_RTU_RX = 32,      /**< ESTABLISHED on the accepting side. */
  DCNT_IA_CM_USER_REJ_TX = 33, /**< dat_cr_reject. */
  DCNT_IA_CM_USER_REJ_RX = 34, /**< PEER_REJECTED events. */
  DCNT_IA_CM_ACTIVE_EST = 35,  /**< ESTABLISHED on the connecting side. */
  DCNT_IA_CM_PASSIVE_EST = 36, /**< ESTABLISHED on the accepting side. */
  DCNT_IA_CM_AH_REQ_TX = 37,
  DCNT_IA_CM_AH_REQ_RX = 38,
  DCNT_IA_CM_AH_RESOLVED = 39, /**< Address handles for datagrams. */
  DCNT_IA_CM_DREQ_TX = 40,     /**< dat_ep_disconnect. */
  DCNT_IA_CM_DREQ_RX = 41,     /**< DISCONNECTED events. */
  DCNT_IA_CM_DREP_TX = 42,
  DCNT_IA_CM_DREP_RX = 43,
  DCNT_IA_CM_MRA_TX = 44,
  DCNT_IA_CM_MRA_RX = 45,
  DCNT_IA_CM_REQ_FULLQ_POLL = 46,
  /* Failures of connection management, by message. */
  DCNT_IA_CM_ERR = 47, /**< ACCEPT_COMPLETION_ERROR, BROKEN and UNREACHABLE events. */
  DCNT_IA_CM_ERR_REQ_FULLQ = 48,
  DCNT_IA_CM_ERR_REQ_DUP = 49,
  DCNT_IA_CM_ERR_REQ_RETRY = 50,
  DCNT_IA_CM_ERR_REP_DUP = 51,
  DCNT_IA_CM_ERR_REP_RETRY = 52,
  DCNT_IA_CM_ERR_RTU_DUP = 53,
  DCNT_IA_CM_ERR_RTU_RETRY = 54,
  DCNT_IA_CM_ERR_REFUSED = 55, /**< NON_PEER_REJECTED events. */
  DCNT_IA_CM_ERR_RESET = 56,
  DCNT_IA_CM_ERR_TIMEOUT = 57, /**< TIMED_OUT events. */
  DCNT_IA_CM_ERR_REJ_TX = 58,
  DCNT_IA_CM_ERR_REJ_RX = 59,
  DCNT_IA_CM_ERR_DREQ_DUP = 60,
  DCNT_IA_CM_ERR_DREQ_RETRY = 61,
  DCNT_IA_CM_ERR_DREP_DUP = 62,
  DCNT_IA_CM_ERR_DREP_RETRY = 63,
  DCNT_IA_CM_ERR_MRA_DUP = 64,
  DCNT_IA_CM_ERR_MRA_RETRY = 65,
  DCNT_IA_CM_ERR_UNEXPECTED = 66,
  /* Errors of the link. */
  DCNT_IA_LNK_ERR_RCV = 67,
  DCNT_IA_LNK_ERR_RCV_REM_PHYS = 68,
  DCNT_IA_LNK_ERR_RCV_CONSTRAINT = 69,
  DCNT_IA_LNK_ERR_XMT_DISCARDS = 70,
  DCNT_IA_LNK_ERR_XMT_CONTRAINT = 71, /**< Spelt so everywhere. */
  DCNT_IA_LNK_ERR_INTEGRITY = 72,
  DCNT_IA_LNK_ERR_EXC_BUF_OVERRUN = 73,
  DCNT_IA_LNK_WARN_RCV_SW_RELAY = 74,
  DCNT_IA_LNK_WARN_XMT_WAIT = 75,
  /* Diagnostics of the device, by receive (RQ) and send queue (SQ). */
  DCNT_IA_DIAG_ERR_RQ_RAE = 76,
  DCNT_IA_DIAG_ERR_RQ_OOS = 77,
  DCNT_IA_DIAG_ERR_RQ_RIRE = 78,
  DCNT_IA_DIAG_ERR_RQ_UDSDPRD = 79,
  DCNT_IA_DIAG_ERR_SQ_RAE = 80,
  DCNT_IA_DIAG_ERR_SQ_OOS = 81,
  DCNT_IA_DIAG_ERR_SQ_RIRE = 82,
  DCNT_IA_DIAG_ERR_SQ_RREE = 83,
  DCNT_IA_DIAG_ERR_SQ_TREE = 84,
  DCNT_IA_ALL_COUNTERS = 85 /**< How many there are; in a query, all of them. */
} DAT_IA_COUNTERS;

/** Counters of an endpoint, since its creation or the last reset. Those ending in _DATA count bytes. Posts that are
 *  refused and receives that fail are not counted. */
typedef enum dat_ep_counters {
  DCNT_EP_CONNECT = 0,    /**< Connects that were begun. */
  DCNT_EP_DISCONNECT = 1, /**< dat_ep_disconnect. */
  DCNT_EP_POST_SEND = 2,  /**< Sends. */
  DCNT_EP_POST_SEND_DATA = 3,
  DCNT_EP_POST_SEND_UD = 4, /**< Datagrams. */
  DCNT_EP_POST_SEND_UD_DATA = 5,
  DCNT_EP_POST_RECV = 6,
  DCNT_EP_POST_RECV_DATA = 7,
  DCNT_EP_POST_WRITE = 8, /**< RDMA writes; _IMM with immediate data. */
  DCNT_EP_POST_WRITE_DATA = 9,
  DCNT_EP_POST_WRITE_IMM = 10,
  DCNT_EP_POST_WRITE_IMM_DATA = 11,
  DCNT_EP_POST_READ = 12, /**< RDMA reads. */
  DCNT_EP_POST_READ_DATA = 13,
  DCNT_EP_POST_CMP_SWAP = 14,
  DCNT_EP_POST_FETCH_ADD = 15,
  DCNT_EP_RECV = 16, /**< Messages received. */
  DCNT_EP_RECV_DATA = 17,
  DCNT_EP_RECV_UD = 18, /**< Datagrams received. */
  DCNT_EP_RECV_UD_DATA = 19,
  DCNT_EP_RECV_IMM = 20, /**< Messages received with immediate data. */
  DCNT_EP_RECV_IMM_DATA = 21,
  DCNT_EP_RECV_RDMA_IMM = 22, /**< RDMA writes of the peer with immediate data. */
  DCNT_EP_RECV_RDMA_IMM_DATA = 23,
  DCNT_EP_ALL_COUNTERS = 24 /**< How many there are; in a query, all of them. */
} DAT_EP_COUNTERS;

/** Counters of an event dispatcher, since its creation or the last reset. */
typedef enum dat_evd_counters {
  DCNT_EVD_WAIT = 0,               /**< Calls of dat_evd_wait. */
  DCNT_EVD_WAIT_BLOCKED = 1,       /**< How often a waiter fell asleep. */
  DCNT_EVD_WAIT_NOTIFY = 2,        /**< How often an event woke it. */
  DCNT_EVD_DEQUEUE = 3,            /**< Calls of dat_evd_dequeue: the sum of the next two. */
  DCNT_EVD_DEQUEUE_FOUND = 4,      /**< Dequeues that took an event. */
  DCNT_EVD_DEQUEUE_NOT_FOUND = 5,  /**< Dequeues that found nothing. */
  DCNT_EVD_DEQUEUE_POLL = 6,       /**< Dequeues that polled the device, the queue being empty. */
  DCNT_EVD_DEQUEUE_POLL_FOUND = 7, /**< Polls that brought an event. */
  DCNT_EVD_CONN_CALLBACK = 8,      /**< Connection events put on it. */
  DCNT_EVD_DTO_CALLBACK = 9,       /**< Notifications of completions by the device. */
  DCNT_EVD_ALL_COUNTERS = 10       /**< How many there are; in a query, all of them. */
} DAT_EVD_COUNTERS;

/** Groups of IA counters that are sampled on request. SoftDAT always counts the first, and answers NOT_IMPLEMENTED to
 *  the others. */
typedef enum dat_ia_counter_type {
  DCNT_IA_CM = 0,  /**< Connection management. */
  DCNT_IA_LNK = 1, /**< Errors of the link. */
  DCNT_IA_DIAG = 2 /**< Diagnostics of the device. */
} DAT_IA_COUNTER_TYPE;
typedef DAT_IA_COUNTER_TYPE DAT_COUNTER_TYPE;

#ifdef __cplusplus
}
#endif

/** Copies counter cntr of an IA, EP or EVD to p_cntrs_out, or with an ALL_COUNTERS value all of them, for which it must
 *  have room; sets to 0 afterwards if reset is not 0. Counters of one moment are not consistent with each other.
 *  Errors: INVALID_HANDLE (neither IA, EP nor EVD), INVALID_PARAMETER (no such counter; NULL output). */
#define dat_ib_query_counters(dat_handle, cntr, p_cntrs_out, reset)                                \
  dat_extension_op(DAT_CAST_(DAT_HANDLE, dat_handle), DAT_CAST_(DAT_IB_OP, DAT_QUERY_COUNTERS_OP), \
                   DAT_CAST_(int, cntr), DAT_CAST_(DAT_UINT64*, p_cntrs_out), DAT_CAST_(int, reset))

/** Like dat_ib_query_counters, to standard output, one line a counter. */
#define dat_ib_print_counters(dat_handle, cntr, reset)                                             \
  dat_extension_op(DAT_CAST_(DAT_HANDLE, dat_handle), DAT_CAST_(DAT_IB_OP, DAT_PRINT_COUNTERS_OP), \
                   DAT_CAST_(int, cntr), DAT_CAST_(int, reset))

/** Begins sampling a DAT_COUNTER_TYPE of an IA.
 *  Errors: INVALID_HANDLE (no IA), INVALID_PARAMETER (no such group), NOT_IMPLEMENTED (a group that is not counted). */
#define dat_ib_start_counter(dat_handle, type)                                                        \
  dat_extension_op(DAT_CAST_(DAT_HANDLE, dat_handle), DAT_CAST_(DAT_IB_OP, DAT_IB_START_COUNTERS_OP), \
                   DAT_CAST_(DAT_COUNTER_TYPE, type))

/** Ends what dat_ib_start_counter began; errors likewise. */
#define dat_ib_stop_counter(dat_handle, type)                                                        \
  dat_extension_op(DAT_CAST_(DAT_HANDLE, dat_handle), DAT_CAST_(DAT_IB_OP, DAT_IB_STOP_COUNTERS_OP), \
                   DAT_CAST_(DAT_COUNTER_TYPE, type))

/* Older names. */
#define DAT_ATTR_COUNTERS DAT_IB_ATTR_COUNTERS
#define dat_query_counters dat_ib_query_counters
#define dat_print_counters dat_ib_print_counters
#define DAT_QUERY_COUNTERS_OP DAT_IB_QUERY_COUNTERS_OP
#define DAT_PRINT_COUNTERS_OP DAT_IB_PRINT_COUNTERS_OP

#endif /* SOFTDAT_DAT2_DAT_IB_COUNTERS_H */
