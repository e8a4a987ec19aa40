/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: protection zones (PZ), local memory regions (LMR) and remote memory regions (RMR).
 * Creating an LMR is in udat.h, since only user space registers virtual addresses. */
#ifndef SOFTDAT_DAT12_DAT_MEMORY_H
#define SOFTDAT_DAT12_DAT_MEMORY_H

#include <dat/dat_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What memory may be used for. Local rights are for this process's own transfers, remote ones for the peer's
 *  RDMA. A call that needs a right the region lacks gets DAT_PRIVILEGES_VIOLATION; a peer breaks its connection. */
typedef enum dat_mem_priv_flags {
  DAT_MEM_PRIV_NONE_FLAG = 0,
  DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x1,    /**< Send from it, write from it. */
  DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x2,   /**< The peer may read it. */
  DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x10,  /**< Receive into it, read into it. */
  DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x20, /**< The peer may write it. */
  DAT_MEM_PRIV_ALL_FLAG = 0x33,
  DAT_MEM_PRIV_RO_DISABLE_FLAG = 0x100 /**< Solaris: strong ordering. No effect here. */
} DAT_MEM_PRIV_FLAGS;
#define DAT_MEM_PRIV_READ_FLAG (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG)
#define DAT_MEM_PRIV_WRITE_FLAG (DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/** One piece of local memory. The whole must lie inside the region that lmr_context names. */
typedef struct dat_lmr_triplet {
  DAT_LMR_CONTEXT lmr_context;
  DAT_UINT32 pad;            /**< Ignored. */
  DAT_VADDR virtual_address; /**< Address, or offset in a zero based region. */
  DAT_VLEN segment_length;   /**< Bytes; 0 is a segment of nothing. */
} DAT_LMR_TRIPLET;

/** One piece of the peer's memory. The peer's key, address and length, converted to host order. */
typedef struct dat_rmr_triplet {
  DAT_RMR_CONTEXT rmr_context; /**< From the peer's dat_lmr_create or dat_rmr_bind. */
  DAT_UINT32 pad;              /**< Ignored. */
  DAT_VADDR target_address;    /**< In the peer's address space. */
  DAT_VLEN segment_length;     /**< Bytes. */
} DAT_RMR_TRIPLET;

/* ---- Protection zones ---- */

typedef struct dat_pz_param {
  DAT_IA_HANDLE ia_handle;
} DAT_PZ_PARAM;

typedef enum dat_pz_param_mask { DAT_PZ_FIELD_IA_HANDLE = 0x1, DAT_PZ_FIELD_ALL = 0x1 } DAT_PZ_PARAM_MASK;

/** Makes a protection zone: endpoints and memory work together if they are of the same one.
 *  Errors: INSUFFICIENT_RESOURCES, INVALID_HANDLE, INVALID_PARAMETER.
 *  Threads: safe. Man page: dat_pz_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle);

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: safe. Man page: dat_pz_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
                                           DAT_PZ_PARAM* pz_param);

/** Destroys the zone.
 *  Errors: INVALID_HANDLE, INVALID_STATE (PZ_IN_USE: an EP, LMR, RMR or SRQ is in it).
 *  Threads: unsafe. Man page: dat_pz_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_free(DAT_PZ_HANDLE pz_handle);

/* ---- Local memory regions ---- */

/** Ends the registration. When it returns, no peer and no thread of the provider touches the memory again, and its
 *  keys are void: a transfer that uses them fails.
 *  Errors: INVALID_HANDLE, INVALID_STATE (LMR_IN_USE: an RMR is bound to it).
 *  Threads: unsafe. Man page: dat_lmr_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_free(DAT_LMR_HANDLE lmr_handle);

/** Makes what this process has written visible to a peer's RDMA read that comes later. A no-op unless lmr_sync_req is
 *  DAT_TRUE, but the segments are checked all the same.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (a segment outside its LMR).
 *  Threads: unsafe. Man page: dat_lmr_sync_rdma_read(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                                     DAT_VLEN num_segments);

/** Makes what a peer's RDMA write has put here visible to this process. Otherwise like dat_lmr_sync_rdma_read.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (a segment outside its LMR).
 *  Threads: unsafe. Man page: dat_lmr_sync_rdma_write(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                                      DAT_VLEN num_segments);

/* ---- Remote memory regions ---- */

typedef struct dat_rmr_param {
  DAT_IA_HANDLE ia_handle;
  DAT_PZ_HANDLE pz_handle;
  DAT_LMR_TRIPLET lmr_triplet; /**< What it is bound to; of length 0 when unbound. */
  DAT_MEM_PRIV_FLAGS mem_priv;
  DAT_RMR_CONTEXT rmr_context;
} DAT_RMR_PARAM;

typedef enum dat_rmr_param_mask {
  DAT_RMR_FIELD_IA_HANDLE = 0x1,
  DAT_RMR_FIELD_PZ_HANDLE = 0x2,
  DAT_RMR_FIELD_LMR_TRIPLET = 0x4,
  DAT_RMR_FIELD_MEM_PRIV = 0x8,
  DAT_RMR_FIELD_RMR_CONTEXT = 0x10,
  DAT_RMR_FIELD_ALL = 0x1f
} DAT_RMR_PARAM_MASK;

/** Makes a window without memory in a zone; dat_rmr_bind gives it memory and a key.
 *  Errors: INSUFFICIENT_RESOURCES, INVALID_HANDLE, MODEL_NOT_SUPPORTED.
 *  Threads: safe. Man page: dat_rmr_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle);

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: unsafe. Man page: dat_rmr_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask,
                                            DAT_RMR_PARAM* rmr_param);

/** Posts a bind of the window to a part of an LMR and returns its new key at once; the old key dies when the bind
 *  completes. Length 0 unbinds. Completes on the EP's request EVD with a DAT_RMR_BIND_COMPLETION_EVENT; requests
 *  posted to this EP later do not start before it is done, so the key may be sent right away on the same connection.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (outside the LMR; UNSIGNALLED not enabled), INVALID_STATE (EP neither
 *  connected nor disconnected), PRIVILEGES_VIOLATION (rights beyond the LMR's), PROTECTION_VIOLATION (another zone),
 *  INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED.
 *  Threads: unsafe. Man page: dat_rmr_bind(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET* lmr_triplet,
                                           DAT_MEM_PRIV_FLAGS mem_priv, DAT_EP_HANDLE ep_handle,
                                           DAT_RMR_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags,
                                           DAT_RMR_CONTEXT* context);

/** Destroys the window, unbinding it first if need be.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_rmr_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_free(DAT_RMR_HANDLE rmr_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_MEMORY_H */
