/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0 in user space: the header a program includes.
 *
 * Rules that hold for every call, unless its comment says otherwise:
 *  - It returns DAT_SUCCESS or an error (dat_error.h), and after an error nothing has changed: out parameters included.
 *  - "Threads: safe" calls may be made on the same objects from several threads at once, "unsafe" ones only if the
 *    provider's is_thread_safe attribute is DAT_TRUE, as SoftDAT's is.
 *  - Times are microseconds, lengths bytes, keys and addresses host order.
 *  - What a call is given it does not keep; what a query returns by pointer belongs to the object and lives as long.
 * "Man page" names the section 3DAT page of DAT 1.2, which is the specification of the call.
 * Calls that are new in 2.0 have none.
 */
#ifndef SOFTDAT_DAT2_UDAT_H
#define SOFTDAT_DAT2_UDAT_H

#include <dat2/dat.h>
#include <dat2/udat_config.h>
#include <dat2/udat_vendor_specific.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Local memory regions ---- */

/** Bytes in the cookie that names shared memory between processes. */
#define DAT_LMR_COOKIE_SIZE 40
/** Points at 40 bytes that all processes registering the same shared memory spell alike. */
typedef char (*DAT_LMR_COOKIE)[DAT_LMR_COOKIE_SIZE];

/** Memory that several processes register under one cookie. */
typedef struct dat_shared_memory {
  DAT_PVOID virtual_address;
  DAT_LMR_COOKIE shared_memory_id;
} DAT_SHARED_MEMORY;

/** What is to be registered; the memory type selects the member. */
typedef union dat_region_description {
  DAT_PVOID for_va;
  DAT_LMR_HANDLE for_lmr_handle;
  DAT_SHARED_MEMORY for_shared_memory;
} DAT_REGION_DESCRIPTION;

typedef struct dat_lmr_param {
  DAT_IA_HANDLE ia_handle;
  DAT_MEM_TYPE mem_type;
  DAT_REGION_DESCRIPTION region_desc;
  DAT_VLEN length;
  DAT_PZ_HANDLE pz_handle;
  DAT_MEM_PRIV_FLAGS mem_priv;
  DAT_VA_TYPE va_type;
  DAT_LMR_CONTEXT lmr_context;
  DAT_RMR_CONTEXT rmr_context;
  DAT_VLEN registered_size;
  DAT_VADDR registered_address;
} DAT_LMR_PARAM;
typedef enum dat_lmr_param_mask {
  DAT_LMR_FIELD_IA_HANDLE = 0x1,
  DAT_LMR_FIELD_MEM_TYPE = 0x2,
  DAT_LMR_FIELD_REGION_DESC = 0x4,
  DAT_LMR_FIELD_LENGTH = 0x8,
  DAT_LMR_FIELD_PZ_HANDLE = 0x10,
  DAT_LMR_FIELD_MEM_PRIV = 0x20,
  DAT_LMR_FIELD_VA_TYPE = 0x40,
  DAT_LMR_FIELD_LMR_CONTEXT = 0x80,
  DAT_LMR_FIELD_RMR_CONTEXT = 0x100,
  DAT_LMR_FIELD_REGISTERED_SIZE = 0x200,
  DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x400,
  DAT_LMR_FIELD_ALL = 0x7ff
} DAT_LMR_PARAM_MASK;

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
                                             DAT_REGION_DESCRIPTION region_description, DAT_VLEN length,
                                             DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
                                             DAT_VA_TYPE va_type, DAT_LMR_HANDLE* lmr_handle,
                                             DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context,
                                             DAT_VLEN* registered_length, DAT_VADDR* registered_address);

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask,
                                            DAT_LMR_PARAM* lmr_param);

/* ---- Event dispatchers ---- */

/** To dat_ia_open as asynchronous EVD: this process has opened the IA before and reads its errors there. */
#define DAT_EVD_ASYNC_EXISTS DAT_CAST_(DAT_EVD_HANDLE, 0x1)
/** From dat_ia_query for an IA that was opened with DAT_EVD_ASYNC_EXISTS. */
#define DAT_EVD_OUT_OF_SCOPE DAT_CAST_(DAT_EVD_HANDLE, 0x2)

DAT_EXPORT DAT_RETURN DAT_API dat_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen, DAT_CNO_HANDLE cno_handle,
                                             DAT_EVD_FLAGS evd_flags, DAT_EVD_HANDLE* evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_enable(DAT_EVD_HANDLE evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_disable(DAT_EVD_HANDLE evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                                           DAT_EVENT* event, DAT_COUNT* n_more_events);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle);

/* ---- Consumer notification objects ---- */

/** Called when the CNO triggers, with what was given and the EVD that did it (null when the CNO or its IA goes).
 *  Runs on a thread of the provider, one call at a time for a CNO; must not block. */
typedef void(DAT_API* DAT_AGENT_FUNC)(DAT_PVOID instance_data, DAT_EVD_HANDLE event_dispatcher);

/** Joins a CNO to the waiting facility of the program. The null agent stands for none. */
typedef struct dat_os_wait_proxy_agent {
  DAT_PVOID instance_data;
  DAT_AGENT_FUNC proxy_agent_func;
} DAT_OS_WAIT_PROXY_AGENT;
#if defined(__cplusplus) && __cplusplus >= 201103L
#define DAT_OS_WAIT_PROXY_AGENT_NULL (DAT_OS_WAIT_PROXY_AGENT{nullptr, nullptr})
#else
#define DAT_OS_WAIT_PROXY_AGENT_NULL \
  (DAT_OS_WAIT_PROXY_AGENT) {        \
    NULL, NULL                       \
  }
#endif

/** What a CNO tells besides waking dat_cno_wait. */
typedef enum dat_proxy_type { DAT_PROXY_TYPE_NONE = 0, DAT_PROXY_TYPE_AGENT = 1, DAT_PROXY_TYPE_FD = 2 } DAT_PROXY_TYPE;

typedef struct dat_cno_param {
  DAT_IA_HANDLE ia_handle;
  DAT_PROXY_TYPE proxy_type; /**< Selects the member of proxy. */
  union {
    DAT_OS_WAIT_PROXY_AGENT agent;
    DAT_FD fd; /**< Belongs to the CNO: never close it. */
    DAT_PVOID none;
  } proxy;
} DAT_CNO_PARAM;

/** DAT_CNO_FIELD_PROXY and _ALL are not unions of bits: the values are those that programs were built with. */
typedef enum dat_cno_param_mask {
  DAT_CNO_FIELD_IA_HANDLE = 0x1,
  DAT_CNO_FIELD_PROXY_TYPE = 0x2,
  DAT_CNO_FIELD_PROXY = 0x3,
  DAT_CNO_FIELD_ALL = 0x4
} DAT_CNO_PARAM_MASK;

DAT_EXPORT DAT_RETURN DAT_API dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                                             DAT_CNO_HANDLE* cno_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD* file_descriptor,
                                                DAT_CNO_HANDLE* cno_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask,
                                            DAT_CNO_PARAM* cno_param);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_free(DAT_CNO_HANDLE cno_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE* evd_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT2_UDAT_H */
