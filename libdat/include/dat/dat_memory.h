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
  DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x1,
  DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x2,
  DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x10,
  DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x20,
  DAT_MEM_PRIV_ALL_FLAG = 0x33,
  DAT_MEM_PRIV_RO_DISABLE_FLAG = 0x100
} DAT_MEM_PRIV_FLAGS;
#define DAT_MEM_PRIV_READ_FLAG (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG)
#define DAT_MEM_PRIV_WRITE_FLAG (DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/** One piece of local memory. The whole must lie inside the region that lmr_context names. */
typedef struct dat_lmr_triplet {
  DAT_LMR_CONTEXT lmr_context;
  DAT_UINT32 pad;
  DAT_VADDR virtual_address;
  DAT_VLEN segment_length;
} DAT_LMR_TRIPLET;

/** One piece of the peer's memory. The peer's key, address and length, converted to host order. */
typedef struct dat_rmr_triplet {
  DAT_RMR_CONTEXT rmr_context;
  DAT_UINT32 pad;
  DAT_VADDR target_address;
  DAT_VLEN segment_length;
} DAT_RMR_TRIPLET;

/* ---- Protection zones ---- */

typedef struct dat_pz_param {
  DAT_IA_HANDLE ia_handle;
} DAT_PZ_PARAM;
typedef enum dat_pz_param_mask { DAT_PZ_FIELD_IA_HANDLE = 0x1, DAT_PZ_FIELD_ALL = 0x1 } DAT_PZ_PARAM_MASK;

DAT_EXPORT DAT_RETURN DAT_API dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
                                           DAT_PZ_PARAM* pz_param);

DAT_EXPORT DAT_RETURN DAT_API dat_pz_free(DAT_PZ_HANDLE pz_handle);

/* ---- Local memory regions ---- */

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_free(DAT_LMR_HANDLE lmr_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                                     DAT_VLEN num_segments);

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                                      DAT_VLEN num_segments);

/* ---- Remote memory regions ---- */

typedef struct dat_rmr_param {
  DAT_IA_HANDLE ia_handle;
  DAT_PZ_HANDLE pz_handle;
  DAT_LMR_TRIPLET lmr_triplet;
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

DAT_EXPORT DAT_RETURN DAT_API dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask,
                                            DAT_RMR_PARAM* rmr_param);

DAT_EXPORT DAT_RETURN DAT_API dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET* lmr_triplet,
                                           DAT_MEM_PRIV_FLAGS mem_priv, DAT_EP_HANDLE ep_handle,
                                           DAT_RMR_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags,
                                           DAT_RMR_CONTEXT* context);

DAT_EXPORT DAT_RETURN DAT_API dat_rmr_free(DAT_RMR_HANDLE rmr_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_MEMORY_H */
