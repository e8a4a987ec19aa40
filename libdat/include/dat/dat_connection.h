/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: the passive side of a connection: service points (PSP, RSP) and connection requests (CR). */
#ifndef SOFTDAT_DAT12_DAT_CONNECTION_H
#define SOFTDAT_DAT12_DAT_CONNECTION_H

#include <dat/dat_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Public service points ---- */

typedef struct dat_psp_param {
  DAT_IA_HANDLE ia_handle;
  DAT_CONN_QUAL conn_qual;
  DAT_EVD_HANDLE evd_handle;
  DAT_PSP_FLAGS psp_flags;
} DAT_PSP_PARAM;

typedef enum dat_psp_param_mask {
  DAT_PSP_FIELD_IA_HANDLE = 0x1,
  DAT_PSP_FIELD_CONN_QUAL = 0x2,
  DAT_PSP_FIELD_EVD_HANDLE = 0x4,
  DAT_PSP_FIELD_PSP_FLAGS = 0x8,
  DAT_PSP_FIELD_ALL = 0xf
} DAT_PSP_PARAM_MASK;

/** Listens for connection requests to a qualifier of the IA. Each is an event on the EVD; more than that has room for
 *  are refused to the peer.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER, CONN_QUAL_IN_USE, MODEL_NOT_SUPPORTED (psp_flags),
 *  INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_psp_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                                             DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                             DAT_PSP_HANDLE* psp_handle);

/** Like dat_psp_create on a qualifier that the provider chooses and returns.
 *  Errors: Those of dat_psp_create, with CONN_QUAL_UNAVAILABLE instead.
 *  Threads: safe. Man page: dat_psp_create_any(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual,
                                                 DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                                 DAT_PSP_HANDLE* psp_handle);

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: safe. Man page: dat_psp_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask,
                                            DAT_PSP_PARAM* psp_param);

/** Stops listening. Requests that have arrived stay valid, and may be accepted.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_psp_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_free(DAT_PSP_HANDLE psp_handle);

/* ---- Reserved service points ---- */

typedef struct dat_rsp_param {
  DAT_IA_HANDLE ia_handle;
  DAT_CONN_QUAL conn_qual;
  DAT_EVD_HANDLE evd_handle;
  DAT_EP_HANDLE ep_handle; /**< The endpoint in reserve. */
} DAT_RSP_PARAM;

typedef enum dat_rsp_param_mask {
  DAT_RSP_FIELD_IA_HANDLE = 0x1,
  DAT_RSP_FIELD_CONN_QUAL = 0x2,
  DAT_RSP_FIELD_EVD_HANDLE = 0x4,
  DAT_RSP_FIELD_EP_HANDLE = 0x8,
  DAT_RSP_FIELD_ALL = 0xf
} DAT_RSP_PARAM_MASK;

/** Listens for one connection request, to be accepted on an unconnected endpoint that is reserved for it (null: the
 *  provider makes one). The endpoint is reserved until the request comes, and passive pending until that is accepted
 *  or rejected.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER, INVALID_STATE (the EP is not unconnected), CONN_QUAL_IN_USE,
 *  INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_rsp_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                                             DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE* rsp_handle);

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: safe. Man page: dat_rsp_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask,
                                            DAT_RSP_PARAM* rsp_param);

/** Stops listening. The endpoint is the consumer's again, unconnected, unless a request came.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_rsp_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_free(DAT_RSP_HANDLE rsp_handle);

/* ---- Connection requests ---- */

typedef struct dat_cr_param {
  DAT_IA_ADDRESS_PTR remote_ia_address_ptr; /**< Lives as long as the request. */
  DAT_PORT_QUAL remote_port_qual;
  DAT_COUNT private_data_size;   /**< Bytes the peer sent along; padding included on some transports. */
  DAT_PVOID private_data;        /**< Lives as long as the request. */
  DAT_EP_HANDLE local_ep_handle; /**< Null unless the PSP's provider made it, or it is an RSP's. */
} DAT_CR_PARAM;

typedef enum dat_cr_param_mask {
  DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR = 0x1,
  DAT_CR_FIELD_REMOTE_PORT_QUAL = 0x2,
  DAT_CR_FIELD_PRIVATE_DATA_SIZE = 0x4,
  DAT_CR_FIELD_PRIVATE_DATA = 0x8,
  DAT_CR_FIELD_LOCAL_EP_HANDLE = 0x10,
  DAT_CR_FIELD_ALL = 0x1f
} DAT_CR_PARAM_MASK;

/** Tells who asks, and what private data came along; the pointers live until the request is accepted, rejected or
 *  handed off.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: safe. Man page: dat_cr_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
                                           DAT_CR_PARAM* cr_param);

/** Accepts on an unconnected endpoint, or on the request's own (then ep_handle is null or that one), and destroys the
 *  request. private_data (copied) goes to the peer. DAT_CONNECTION_EVENT_ESTABLISHED, or _ACCEPT_COMPLETION_ERROR,
 *  follows on the connect EVD.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (private data). Request and endpoint stay as they were.
 *  Threads: unsafe. Man page: dat_cr_accept(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                                            DAT_COUNT private_data_size, const DAT_PVOID private_data);

/** Refuses, and destroys the request. The peer gets DAT_CONNECTION_EVENT_PEER_REJECTED.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_cr_reject(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_reject(DAT_CR_HANDLE cr_handle);

/** Passes the request to the service point at another qualifier of the same IA, and destroys it here.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (nobody listens there), NOT_IMPLEMENTED.
 *  Threads: unsafe. Man page: dat_cr_handoff(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_CONNECTION_H */
