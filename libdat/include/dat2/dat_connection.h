/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: the passive side of a connection: service points (PSP, RSP, CSP) and connection requests (CR). */
#ifndef SOFTDAT_DAT2_DAT_CONNECTION_H
#define SOFTDAT_DAT2_DAT_CONNECTION_H

#include <dat2/dat_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Public service points ---- */

/** The parameters of a public service point, as dat_psp_query(3) tells them. */
typedef struct dat_psp_param {
  DAT_IA_HANDLE ia_handle;   /**< The adapter it was made from. */
  DAT_CONN_QUAL conn_qual;   /**< The qualifier it listens at, host order. */
  DAT_EVD_HANDLE evd_handle; /**< Where requests arrive. */
  DAT_PSP_FLAGS psp_flags;   /**< Which side makes the endpoints. */
} DAT_PSP_PARAM;

/** One bit for each member of DAT_PSP_PARAM. */
typedef enum dat_psp_param_mask {
  DAT_PSP_FIELD_IA_HANDLE = 0x1,
  DAT_PSP_FIELD_CONN_QUAL = 0x2,
  DAT_PSP_FIELD_EVD_HANDLE = 0x4,
  DAT_PSP_FIELD_PSP_FLAGS = 0x8,
  DAT_PSP_FIELD_ALL = 0xf
} DAT_PSP_PARAM_MASK;

/** Listens for connection requests to a qualifier of the IA; all 64 bits of it count, and over TCP one below 65536 is
 *  also the port. When the call returns, peers can connect. Each request is a DAT_CONNECTION_REQUEST_EVENT on the EVD,
 *  which must have DAT_EVD_CR_FLAG. The EVD's queue is the backlog: a request that finds no room is refused to its
 *  peer, DAT_CONNECTION_EVENT_NON_PEER_REJECTED.
 *  Errors: INVALID_HANDLE (IA; EVD that takes no requests), INVALID_PARAMETER (unknown flags; NULL output),
 *  CONN_QUAL_IN_USE, INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED (psp_flags; SoftDAT has both).
 *  Threads: safe. Man page: dat_psp_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                                             DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                             DAT_PSP_HANDLE* psp_handle);

/** Like dat_psp_create on a qualifier that the provider chooses, unused and unprivileged, and stores in *conn_qual; the
 *  value on entry does not matter.
 *  Errors: as dat_psp_create, with CONN_QUAL_UNAVAILABLE in place of CONN_QUAL_IN_USE.
 *  Threads: safe. Man page: dat_psp_create_any(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual,
                                                 DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                                 DAT_PSP_HANDLE* psp_handle);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: safe. Man page: dat_psp_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask,
                                            DAT_PSP_PARAM* psp_param);

/** Stops listening and destroys the service point; its handle is void. Requests that have arrived stay valid and may be
 *  accepted, rejected or handed off; peers that ask later are refused as if nobody listened.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_psp_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_free(DAT_PSP_HANDLE psp_handle);

/* ---- Reserved service points ---- */

/** The parameters of a reserved service point, as dat_rsp_query(3) tells them. */
typedef struct dat_rsp_param {
  DAT_IA_HANDLE ia_handle;   /**< The adapter it was made from. */
  DAT_CONN_QUAL conn_qual;   /**< The qualifier it listens at, host order. */
  DAT_EVD_HANDLE evd_handle; /**< Where the request arrives. */
  DAT_EP_HANDLE ep_handle;   /**< The endpoint in reserve. */
} DAT_RSP_PARAM;

/** One bit for each member of DAT_RSP_PARAM. */
typedef enum dat_rsp_param_mask {
  DAT_RSP_FIELD_IA_HANDLE = 0x1,
  DAT_RSP_FIELD_CONN_QUAL = 0x2,
  DAT_RSP_FIELD_EVD_HANDLE = 0x4,
  DAT_RSP_FIELD_EP_HANDLE = 0x8,
  DAT_RSP_FIELD_ALL = 0xf
} DAT_RSP_PARAM_MASK;

/** Listens for one connection request, to be accepted on an unconnected endpoint that is reserved for it (null: the
 *  provider makes one, without PZ and EVDs). The endpoint is reserved until the request comes, and passive pending
 *  until that is accepted or rejected; no second request is let in. Once answered, the service point is used up and
 *  waits for dat_rsp_free.
 *  Errors: INVALID_HANDLE (IA, EP; EVD that takes no requests), INVALID_PARAMETER (NULL output), INVALID_STATE (the EP
 *  is not unconnected), CONN_QUAL_IN_USE, INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_rsp_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                                             DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE* rsp_handle);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: safe. Man page: dat_rsp_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask,
                                            DAT_RSP_PARAM* rsp_param);

/** Stops listening and destroys the service point; its handle is void. If no request has come, the program's endpoint
 *  is unconnected again, and one that the provider made is gone. If one has come, it keeps the endpoint until it is
 *  answered.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_rsp_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_free(DAT_RSP_HANDLE rsp_handle);

/* ---- Common service points ---- */

/** The parameters of a common service point, as dat_csp_query(3) tells them. Pointers belong to the service point and
 *  live as long. */
typedef struct dat_csp_param {
  DAT_IA_HANDLE ia_handle;        /**< The adapter it was made from. */
  DAT_COMM* comm;                 /**< Domain, type and protocol. */
  DAT_IA_ADDRESS_PTR address_ptr; /**< Address and port it listens on. */
  DAT_EVD_HANDLE evd_handle;      /**< Where requests arrive. */
} DAT_CSP_PARAM;

/** One bit for each member of DAT_CSP_PARAM. */
typedef enum dat_csp_param_mask {
  DAT_CSP_FIELD_IA_HANDLE = 0x1,
  DAT_CSP_FIELD_COMM = 0x2,
  DAT_CSP_FIELD_IA_ADDRESS = 0x4,
  DAT_CSP_FIELD_EVD_HANDLE = 0x8,
  DAT_CSP_FIELD_ALL = 0xf
} DAT_CSP_PARAM_MASK;

/** Listens on a socket address instead of a qualifier, so that programs that know only sockets' names can connect with
 *  dat_ep_common_connect. The address is the adapter's own or the wildcard, of the family that *communicator names;
 *  port 0 takes a free one, which dat_csp_query tells. Both are copied. The port is a qualifier of the IA, too.
 *  Requests come as those of dat_psp_create with DAT_PSP_CONSUMER_FLAG. New in DAT 2.0.
 *  Errors: INVALID_HANDLE (IA; EVD that takes no requests), INVALID_PARAMETER (NULL pointer; an address of another
 *  family or another adapter), PORT_IN_USE (also when no port is free), COMM_NOT_SUPPORTED (anything but TCP over the
 *  family of the adapter), INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_csp_create(3). */
DAT_EXPORT DAT_RETURN DAT_API dat_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM* communicator,
                                             DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd_handle,
                                             DAT_CSP_HANDLE* csp_handle);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too. New in
 *  DAT 2.0.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: safe. Man page: dat_csp_query(3). */
DAT_EXPORT DAT_RETURN DAT_API dat_csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK csp_param_mask,
                                            DAT_CSP_PARAM* csp_param);

/** Stops listening and destroys the service point; its handle is void and the port free. Requests that have arrived
 *  stay valid. New in DAT 2.0.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_csp_free(3). */
DAT_EXPORT DAT_RETURN DAT_API dat_csp_free(DAT_CSP_HANDLE csp_handle);

/* ---- Connection requests ---- */

/** A peer's connection request, as dat_cr_query(3) tells it. Pointers belong to the request and live until it is
 *  accepted, rejected or handed off. */
typedef struct dat_cr_param {
  DAT_IA_ADDRESS_PTR remote_ia_address_ptr; /**< The address of the peer's adapter. */
  DAT_PORT_QUAL remote_port_qual;           /**< The port that the peer's endpoint is bound to. */
  DAT_COUNT private_data_size;              /**< Bytes the peer sent along; some transports pad it, SoftDAT does not. */
  DAT_PVOID private_data;                   /**< Zero or more bytes; the program may write into them. */
  DAT_EP_HANDLE local_ep_handle;            /**< Null unless the provider made it, or it is an RSP's. */
} DAT_CR_PARAM;

/** One bit for each member of DAT_CR_PARAM. */
typedef enum dat_cr_param_mask {
  DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR = 0x1,
  DAT_CR_FIELD_REMOTE_PORT_QUAL = 0x2,
  DAT_CR_FIELD_PRIVATE_DATA_SIZE = 0x4,
  DAT_CR_FIELD_PRIVATE_DATA = 0x8,
  DAT_CR_FIELD_LOCAL_EP_HANDLE = 0x10,
  DAT_CR_FIELD_ALL = 0x1f
} DAT_CR_PARAM_MASK;

/** Tells which peer asks, and what private data came along; other members may be written too. Pointers live until the
 *  request is accepted, rejected or handed off.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: safe. Man page: dat_cr_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
                                           DAT_CR_PARAM* cr_param);

/** Accepts on an unconnected endpoint of the IA that has a PZ, or on the endpoint that the request brought along (then
 *  ep_handle is null or that one), and destroys the request. private_data_size bytes at private_data are copied and go
 *  to the peer; with size 0 the pointer may be NULL. The outcome is an event on the endpoint's connect EVD:
 *  DAT_CONNECTION_EVENT_ESTABLISHED, or _ACCEPT_COMPLETION_ERROR if the peer has gone, given up or timed out. A receive
 *  may complete before the former. After an error request, endpoint and peer are as they were.
 *  Errors: INVALID_HANDLE (CR, also if another thread answers it; EP), INVALID_PARAMETER (private data beyond
 *  max_private_data_size or NULL), INVALID_STATE (the EP's state; it has no PZ), INSUFFICIENT_RESOURCES (the request
 *  can be answered again).
 *  Threads: unsafe. Man page: dat_cr_accept(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                                            DAT_COUNT private_data_size, const DAT_PVOID private_data);

/** Refuses, and destroys the request. The peer gets DAT_CONNECTION_EVENT_PEER_REJECTED with private_data_size bytes of
 *  private_data, which are copied; with size 0 the pointer may be NULL. An endpoint that the program had reserved is
 *  unconnected again; one that the provider made for the request is gone.
 *  Errors: INVALID_HANDLE (also if another thread answers it), INVALID_PARAMETER (private data beyond
 *  max_private_data_size or NULL), INSUFFICIENT_RESOURCES (the request can be answered again).
 *  Threads: unsafe. Man page: dat_cr_reject(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size,
                                            const DAT_PVOID private_data);

/** Passes the request to the service point at another qualifier of the same IA in this process, and destroys it here.
 *  It arrives there as a new request with the same private data; the peer's time limit goes on. An endpoint that came
 *  with it goes as in dat_cr_reject.
 *  Errors: INVALID_HANDLE (also if another thread answers it), INVALID_PARAMETER (nobody listens there),
 *  INSUFFICIENT_RESOURCES, NOT_IMPLEMENTED (some providers).
 *  Threads: unsafe. Man page: dat_cr_handoff(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT2_DAT_CONNECTION_H */
