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

DAT_EXPORT DAT_RETURN DAT_API dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                                             DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                             DAT_PSP_HANDLE* psp_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual,
                                                 DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                                 DAT_PSP_HANDLE* psp_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask,
                                            DAT_PSP_PARAM* psp_param);

DAT_EXPORT DAT_RETURN DAT_API dat_psp_free(DAT_PSP_HANDLE psp_handle);

/* ---- Reserved service points ---- */

typedef struct dat_rsp_param {
  DAT_IA_HANDLE ia_handle;
  DAT_CONN_QUAL conn_qual;
  DAT_EVD_HANDLE evd_handle;
  DAT_EP_HANDLE ep_handle;
} DAT_RSP_PARAM;
typedef enum dat_rsp_param_mask {
  DAT_RSP_FIELD_IA_HANDLE = 0x1,
  DAT_RSP_FIELD_CONN_QUAL = 0x2,
  DAT_RSP_FIELD_EVD_HANDLE = 0x4,
  DAT_RSP_FIELD_EP_HANDLE = 0x8,
  DAT_RSP_FIELD_ALL = 0xf
} DAT_RSP_PARAM_MASK;

DAT_EXPORT DAT_RETURN DAT_API dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                                             DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE* rsp_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask,
                                            DAT_RSP_PARAM* rsp_param);

DAT_EXPORT DAT_RETURN DAT_API dat_rsp_free(DAT_RSP_HANDLE rsp_handle);

/* ---- Connection requests ---- */

typedef struct dat_cr_param {
  DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
  DAT_PORT_QUAL remote_port_qual;
  DAT_COUNT private_data_size;
  DAT_PVOID private_data;
  DAT_EP_HANDLE local_ep_handle;
} DAT_CR_PARAM;
typedef enum dat_cr_param_mask {
  DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR = 0x1,
  DAT_CR_FIELD_REMOTE_PORT_QUAL = 0x2,
  DAT_CR_FIELD_PRIVATE_DATA_SIZE = 0x4,
  DAT_CR_FIELD_PRIVATE_DATA = 0x8,
  DAT_CR_FIELD_LOCAL_EP_HANDLE = 0x10,
  DAT_CR_FIELD_ALL = 0x1f
} DAT_CR_PARAM_MASK;

DAT_EXPORT DAT_RETURN DAT_API dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
                                           DAT_CR_PARAM* cr_param);

DAT_EXPORT DAT_RETURN DAT_API dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                                            DAT_COUNT private_data_size, const DAT_PVOID private_data);

DAT_EXPORT DAT_RETURN DAT_API dat_cr_reject(DAT_CR_HANDLE cr_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_CONNECTION_H */
