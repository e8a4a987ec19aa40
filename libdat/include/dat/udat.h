/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2 in user space: the header a program includes.
 *
 * Rules that hold for every call, unless its comment says otherwise:
 *  - It returns DAT_SUCCESS or an error (dat_error.h), and after an error nothing has changed: out parameters included.
 *  - "Threads: safe" calls may be made on the same objects from several threads at once, "unsafe" ones only if the
 *    provider's is_thread_safe attribute is DAT_TRUE, as SoftDAT's is.
 *  - Times are microseconds, lengths bytes, keys and addresses host order.
 *  - What a call is given it does not keep; what a query returns by pointer belongs to the object and lives as long.
 * "Man page" names the section 3DAT page of DAT 1.2, which is the specification of the call.
 */
#ifndef SOFTDAT_DAT12_UDAT_H
#define SOFTDAT_DAT12_UDAT_H

#include <dat/dat.h>
#include <dat/udat_config.h>
#include <dat/udat_vendor_specific.h>

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
  DAT_PVOID virtual_address; /**< Where this process has it. */
  DAT_LMR_COOKIE shared_memory_id;
} DAT_SHARED_MEMORY;

/** What is to be registered; the memory type selects the member. */
typedef union dat_region_description {
  DAT_PVOID for_va;                    /**< DAT_MEM_TYPE_VIRTUAL: first byte. */
  DAT_LMR_HANDLE for_lmr_handle;       /**< DAT_MEM_TYPE_LMR. */
  DAT_SHARED_MEMORY for_shared_memory; /**< DAT_MEM_TYPE_SHARED_VIRTUAL. */
} DAT_REGION_DESCRIPTION;

typedef struct dat_lmr_param {
  DAT_IA_HANDLE ia_handle;
  DAT_MEM_TYPE mem_type;
  DAT_REGION_DESCRIPTION region_desc;
  DAT_VLEN length; /**< Bytes asked for. */
  DAT_PZ_HANDLE pz_handle;
  DAT_MEM_PRIV_FLAGS mem_priv;
  DAT_LMR_CONTEXT lmr_context;
  DAT_RMR_CONTEXT rmr_context;  /**< 0 without remote rights. */
  DAT_VLEN registered_size;     /**< Bytes really covered, at least length. */
  DAT_VADDR registered_address; /**< Where that begins. */
} DAT_LMR_PARAM;

typedef enum dat_lmr_param_mask {
  DAT_LMR_FIELD_IA_HANDLE = 0x1,
  DAT_LMR_FIELD_MEM_TYPE = 0x2,
  DAT_LMR_FIELD_REGION_DESC = 0x4,
  DAT_LMR_FIELD_LENGTH = 0x8,
  DAT_LMR_FIELD_PZ_HANDLE = 0x10,
  DAT_LMR_FIELD_MEM_PRIV = 0x20,
  DAT_LMR_FIELD_LMR_CONTEXT = 0x40,
  DAT_LMR_FIELD_RMR_CONTEXT = 0x80,
  DAT_LMR_FIELD_REGISTERED_SIZE = 0x100,
  DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x200,
  DAT_LMR_FIELD_ALL = 0x3ff
} DAT_LMR_PARAM_MASK;

/** Registers memory and returns its keys: lmr_context for local segments, rmr_context (0 without remote rights) to
 *  give to peers. The memory must stay mapped until dat_lmr_free; registering it twice is fine. The last two pointers
 *  may be NULL: they tell what was really covered.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (length, address, rights), INVALID_STATE (memory that is not shared as
 *  claimed), MODEL_NOT_SUPPORTED (mem_type), INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_lmr_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
                                             DAT_REGION_DESCRIPTION region_description, DAT_VLEN length,
                                             DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
                                             DAT_LMR_HANDLE* lmr_handle, DAT_LMR_CONTEXT* lmr_context,
                                             DAT_RMR_CONTEXT* rmr_context, DAT_VLEN* registered_length,
                                             DAT_VADDR* registered_address);

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: unsafe. Man page: dat_lmr_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask,
                                            DAT_LMR_PARAM* lmr_param);

/* ---- Event dispatchers ---- */

/** To dat_ia_open as asynchronous EVD: this process has opened the IA before and reads its errors there. */
#define DAT_EVD_ASYNC_EXISTS DAT_CAST_(DAT_EVD_HANDLE, 0x1)
/** From dat_ia_query for an IA that was opened with DAT_EVD_ASYNC_EXISTS. */
#define DAT_EVD_OUT_OF_SCOPE DAT_CAST_(DAT_EVD_HANDLE, 0x2)

/** Makes a queue of at least evd_min_qlen events for the streams of evd_flags, enabled and waitable. cno_handle may be
 *  null. When it overflows the IA's asynchronous EVD hears of it.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (queue length, flags), INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED
 *  (streams that cannot be merged).
 *  Threads: safe. */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen, DAT_CNO_HANDLE cno_handle,
                                             DAT_EVD_FLAGS evd_flags, DAT_EVD_HANDLE* evd_handle);

/** Triggers another CNO from now on, or none if cno_handle is null.
 *  Errors: INVALID_HANDLE (either).
 *  Threads: unsafe. Man page: dat_evd_modify_cno(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle);

/** Lets events trigger the CNO again. No effect on a thread in dat_evd_wait, nor on an enabled EVD.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_evd_enable(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_enable(DAT_EVD_HANDLE evd_handle);

/** Keeps events from triggering the CNO; they are queued all the same.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_evd_disable(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_disable(DAT_EVD_HANDLE evd_handle);

/** Waits until threshold events are queued, takes one and tells in *n_more_events how many are left. One thread at a
 *  time: while it waits others can neither wait nor dequeue, and the CNO is not triggered. On timeout the events stay
 *  queued and *n_more_events counts them. threshold is 1 .. queue length, and 1 if an endpoint feeds the EVD
 *  unsignalled or solicited completions.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (threshold; no place), TIMEOUT_EXPIRED, INVALID_STATE (another waiter;
 *  unwaitable, also when made so meanwhile; threshold), ABORT (the EVD or IA goes), INTERRUPTED_CALL (a signal).
 *  Threads: safe. Man page: dat_evd_wait(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                                           DAT_EVENT* event, DAT_COUNT* n_more_events);

/** Refuses dat_evd_wait from now on; a blocked waiter is woken with DAT_INVALID_STATE. Dequeuing goes on.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_evd_set_unwaitable(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle);

/** Allows dat_evd_wait again.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_evd_clear_unwaitable(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle);

/* ---- Consumer notification objects ---- */

/** Called once when the CNO triggers, with what was given and the EVD that did it (null when the IA goes or the last
 *  EVD of the CNO is freed). Runs on a thread of the provider and must not block. */
typedef void(DAT_API* DAT_AGENT_FUNC)(DAT_PVOID instance_data, DAT_EVD_HANDLE event_dispatcher);

/** Joins a CNO to the waiting facility of the program. The null agent stands for none. */
typedef struct dat_os_wait_proxy_agent {
  DAT_PVOID instance_data; /**< Handed to the function, never read. */
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

typedef struct dat_cno_param {
  DAT_IA_HANDLE ia_handle;
  DAT_OS_WAIT_PROXY_AGENT agent;
} DAT_CNO_PARAM;

typedef enum dat_cno_param_mask {
  DAT_CNO_FIELD_IA_HANDLE = 0x1,
  DAT_CNO_FIELD_AGENT = 0x2,
  DAT_CNO_FIELD_ALL = 0x3
} DAT_CNO_PARAM_MASK;

/** Makes an object that any number of EVDs trigger. agent, unless it is the null agent, is called at the first trigger
 *  and then no longer: dat_cno_modify_agent sets it again.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (agent), INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_cno_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                                             DAT_CNO_HANDLE* cno_handle);

/** Sets the agent for the next trigger, or none if it is the null agent.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (agent).
 *  Threads: unsafe. Man page: dat_cno_modify_agent(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent);

/** Tells the parameters that the mask selects.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown bit; no place).
 *  Threads: unsafe. Man page: dat_cno_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask,
                                            DAT_CNO_PARAM* cno_param);

/** Destroys it.
 *  Errors: INVALID_HANDLE, INVALID_STATE (CNO_IN_USE: an EVD refers to it, or a thread waits on it).
 *  Threads: unsafe. Man page: dat_cno_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_free(DAT_CNO_HANDLE cno_handle);

/** Waits for a trigger, or returns at once for one that nobody has seen. *evd_handle is a hint: dequeue from it, and
 *  look at the others of the CNO too. All waiters are woken with a null handle when the IA goes or the last EVD is
 *  freed.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER, QUEUE_EMPTY (timeout; *evd_handle is null), INTERRUPTED_CALL (a signal).
 *  Threads: safe. Man page: dat_cno_wait(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_UDAT_H */
