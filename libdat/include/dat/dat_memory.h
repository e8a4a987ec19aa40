/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: protection zones (PZ), local memory regions (LMR) and remote memory regions (RMR).
 * Creating an LMR is in udat.h, since only user space registers virtual addresses. */
#ifndef SOFTDAT_DAT12_DAT_MEMORY_H
#define SOFTDAT_DAT12_DAT_MEMORY_H

#include <dat/dat_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Rights to memory. Local rights are for this process's own transfers, remote ones for the peer's RDMA. A call that
 *  needs a right the region lacks gets DAT_PRIVILEGES_VIOLATION; a peer that lacks one gets DAT_DTO_ERR_REMOTE_ACCESS,
 *  and its connection breaks. */
typedef enum dat_mem_priv_flags {
  DAT_MEM_PRIV_NONE_FLAG = 0,            /**< No transfer at all. */
  DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x1,    /**< Send from it, write from it. In SoftDAT local write implies it. */
  DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x2,   /**< The peer may read it. */
  DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x10,  /**< Receive into it, read into it. */
  DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x20, /**< The peer may write it. */
  DAT_MEM_PRIV_ALL_FLAG = 0x33,          /**< The four above. */
  DAT_MEM_PRIV_RO_DISABLE_FLAG = 0x100   /**< Solaris: strong ordering. No effect here. */
} DAT_MEM_PRIV_FLAGS;
/** Both rights to read, and both to write. */
#define DAT_MEM_PRIV_READ_FLAG (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG)
#define DAT_MEM_PRIV_WRITE_FLAG (DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/** One piece of local memory, which must lie inside the region that lmr_context names. The array of a post may be
 *  reused when the call returns if iov_ownership_on_return is DAT_IOV_CONSUMER, as SoftDAT's is. */
typedef struct dat_lmr_triplet {
  DAT_LMR_CONTEXT lmr_context; /**< From dat_lmr_create. */
  DAT_UINT32 pad;              /**< Ignored. */
  DAT_VADDR virtual_address;   /**< Address in this process. */
  DAT_VLEN segment_length;     /**< Bytes; 0 is a segment of nothing. */
} DAT_LMR_TRIPLET;

/** One piece of the peer's memory: its key, address and length as the peer told them, converted to host order. May be
 *  reused when the call returns. */
typedef struct dat_rmr_triplet {
  DAT_RMR_CONTEXT rmr_context; /**< From the peer's dat_lmr_create or dat_rmr_bind. */
  DAT_UINT32 pad;              /**< Ignored. */
  DAT_VADDR target_address;    /**< In the peer's address space. */
  DAT_VLEN segment_length;     /**< Bytes. */
} DAT_RMR_TRIPLET;

/* ---- Protection zones ---- */

/** The parameters of a protection zone, as dat_pz_query(3) tells them. */
typedef struct dat_pz_param {
  DAT_IA_HANDLE ia_handle; /**< The adapter it was made from. */
} DAT_PZ_PARAM;

/** One bit for each member of DAT_PZ_PARAM. */
typedef enum dat_pz_param_mask { DAT_PZ_FIELD_IA_HANDLE = 0x1, DAT_PZ_FIELD_ALL = 0x1 } DAT_PZ_PARAM_MASK;

/** Makes a protection zone. Endpoints and memory work together if they are of one zone: an endpoint's posts name only
 *  its regions, and its peer reaches only its regions and windows. A zone for each peer keeps their keys apart.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL output), INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_pz_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: safe. Man page: dat_pz_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
                                           DAT_PZ_PARAM* pz_param);

/** Destroys the zone; its handle is void.
 *  Errors: INVALID_HANDLE, INVALID_STATE (PZ_IN_USE: an EP, LMR, RMR or SRQ is in it).
 *  Threads: unsafe. Man page: dat_pz_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_free(DAT_PZ_HANDLE pz_handle);

/* ---- Local memory regions ---- */

/** Ends the registration; the handle and both keys are void. When it returns, no peer and no thread of the provider
 *  touches the memory through this region: a transfer that has not finished fails with DAT_DTO_ERR_LOCAL_PROTECTION, a
 *  peer's with DAT_DTO_ERR_REMOTE_ACCESS. The memory stays the program's, to be freed afterwards.
 *  Errors: INVALID_HANDLE, INVALID_STATE (LMR_IN_USE: an RMR is bound to it, or a bind to it is posted).
 *  Threads: unsafe. Man page: dat_lmr_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_free(DAT_LMR_HANDLE lmr_handle);

/** Makes what this process has written visible to a peer's RDMA read that comes later. Needed only if lmr_sync_req is
 *  DAT_TRUE; SoftDAT's is DAT_FALSE, and the segments are checked all the same. They may be of different LMRs and PZs
 *  of the IA, and are read during the call.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL array; a segment outside its LMR or of none; more than 2^31-1
 *  segments).
 *  Threads: unsafe. Man page: dat_lmr_sync_rdma_read(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                                     DAT_VLEN num_segments);

/** Makes what a peer's RDMA write has put here visible to this process. Otherwise like dat_lmr_sync_rdma_read.
 *  Errors: as dat_lmr_sync_rdma_read.
 *  Threads: unsafe. Man page: dat_lmr_sync_rdma_write(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                                      DAT_VLEN num_segments);

/* ---- Remote memory regions ---- */

/** The parameters of a remote memory region, as dat_rmr_query(3) tells them. */
typedef struct dat_rmr_param {
  DAT_IA_HANDLE ia_handle;     /**< The adapter it was made from. */
  DAT_PZ_HANDLE pz_handle;     /**< The zone it was made in. */
  DAT_LMR_TRIPLET lmr_triplet; /**< The memory it is bound to; length 0 when unbound. */
  DAT_MEM_PRIV_FLAGS mem_priv; /**< Rights of peers. */
  DAT_RMR_CONTEXT rmr_context; /**< The key for peers; 0 when unbound. */
} DAT_RMR_PARAM;

/** One bit for each member of DAT_RMR_PARAM. */
typedef enum dat_rmr_param_mask {
  DAT_RMR_FIELD_IA_HANDLE = 0x1,
  DAT_RMR_FIELD_PZ_HANDLE = 0x2,
  DAT_RMR_FIELD_LMR_TRIPLET = 0x4,
  DAT_RMR_FIELD_MEM_PRIV = 0x8,
  DAT_RMR_FIELD_RMR_CONTEXT = 0x10,
  DAT_RMR_FIELD_ALL = 0x1f
} DAT_RMR_PARAM_MASK;

/** Makes a window without memory and key in a zone; dat_rmr_bind gives it both. Its key serves all endpoints of the
 *  zone. Creating is slow, binding quick.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL output), INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED (the device has
 *  no windows).
 *  Threads: safe. Man page: dat_rmr_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: unsafe. Man page: dat_rmr_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask,
                                            DAT_RMR_PARAM* rmr_param);

/** Posts a bind of the window to a part of an LMR and returns its new key at once; the old key dies when the bind
 *  completes. Length 0 unbinds; *context is then undefined. Remote read needs an LMR with local read, remote write one
 *  with local write; remote rights of the LMR do not matter. Completes on the EP's request EVD with a
 *  DAT_RMR_BIND_COMPLETION_EVENT; requests posted to this EP later do not start before it is done, so the key may be
 *  sent on that connection right away, and elsewhere after the completion. On a disconnected EP it is flushed. Flags:
 *  SUPPRESS, UNSIGNALLED, BARRIER_FENCE.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (outside the LMR; unknown rights or flags; UNSIGNALLED not enabled; NULL),
 *  INVALID_STATE (EP neither connected nor disconnected), PRIVILEGES_VIOLATION (rights that the LMR lacks),
 *  PROTECTION_VIOLATION (RMR, LMR and EP not of one PZ), INSUFFICIENT_RESOURCES (max_request_dtos outstanding; no key
 *  left), MODEL_NOT_SUPPORTED (the device cannot).
 *  Threads: unsafe. Man page: dat_rmr_bind(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET* lmr_triplet,
                                           DAT_MEM_PRIV_FLAGS mem_priv, DAT_EP_HANDLE ep_handle,
                                           DAT_RMR_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags,
                                           DAT_RMR_CONTEXT* context);

/** Destroys the window, unbinding it first if need be; handle and key are void when it returns. A peer's RDMA that
 *  comes later gets DAT_DTO_ERR_REMOTE_ACCESS, and its connection breaks.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_rmr_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_free(DAT_RMR_HANDLE rmr_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_MEMORY_H */
