/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2 in user space: the header a program includes.
 *
 * Rules that hold for every call, unless its comment says otherwise (dat(3) says more):
 *  - It returns DAT_SUCCESS or an error (dat_error.h), and after an error nothing has changed: out parameters included.
 *    "Errors" lists the types without the prefix DAT_, and in brackets what brings them; docs/ERRORS.md adds subtypes.
 *  - "Threads: safe" calls may be made on the same objects from several threads at once. A portable program makes
 *    "unsafe" ones so only if the provider's is_thread_safe attribute is DAT_TRUE. SoftDAT takes every call from every
 *    thread at any time (docs/THREADS.md), except in a signal handler.
 *  - Times are microseconds, lengths bytes, keys and addresses host order.
 *  - A call keeps no pointer that it is given: it reads, and copies what it needs, before it returns. Memory named in a
 *    post belongs to the transfer until the completion.
 *  - A pointer that a query returns belongs to the object and lives as long. No call returns memory that the program
 *    must free; handles are freed by the call of their kind.
 *  - An object that another one was made with, or that it uses, cannot be freed before that one.
 * "Man page: name(3DAT)" is the page of DAT 1.2, which is the specification of the call; SoftDAT's own is name(3).
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
/** Points at 40 bytes that all processes registering the same shared memory spell alike. All 40 count; a zero does not
 *  end them. Read during dat_lmr_create. */
typedef char (*DAT_LMR_COOKIE)[DAT_LMR_COOKIE_SIZE];

/** Memory that several processes register under one cookie; each has allocated it as shared before. */
typedef struct dat_shared_memory {
  DAT_PVOID virtual_address;       /**< Where this process has it. */
  DAT_LMR_COOKIE shared_memory_id; /**< In a query it belongs to the LMR. */
} DAT_SHARED_MEMORY;

/** The memory to be registered; mem_type selects the member. */
typedef union dat_region_description {
  DAT_PVOID for_va;                    /**< DAT_MEM_TYPE_VIRTUAL: first byte. */
  DAT_LMR_HANDLE for_lmr_handle;       /**< DAT_MEM_TYPE_LMR. */
  DAT_SHARED_MEMORY for_shared_memory; /**< DAT_MEM_TYPE_SHARED_VIRTUAL. */
} DAT_REGION_DESCRIPTION;

/** The parameters of a local memory region, as dat_lmr_query(3) tells them. */
typedef struct dat_lmr_param {
  DAT_IA_HANDLE ia_handle;            /**< The adapter it was made from. */
  DAT_MEM_TYPE mem_type;              /**< Selects the member of region_desc. */
  DAT_REGION_DESCRIPTION region_desc; /**< The memory, as it was given. */
  DAT_VLEN length;                    /**< Bytes asked for. */
  DAT_PZ_HANDLE pz_handle;            /**< The zone it was made in. */
  DAT_MEM_PRIV_FLAGS mem_priv;        /**< Its rights. */
  DAT_LMR_CONTEXT lmr_context;        /**< Key for local segments. */
  DAT_RMR_CONTEXT rmr_context;        /**< Key for peers; 0 without remote rights. */
  DAT_VLEN registered_size;           /**< Bytes really covered, at least length. */
  DAT_VADDR registered_address;       /**< The first byte covered. */
} DAT_LMR_PARAM;

/** One bit for each member of DAT_LMR_PARAM. The values from 0x40 on differ between DAT 1.2 and 2.0. */
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

/** Registers memory and returns its keys: lmr_context for local segments, rmr_context (0 without remote rights) to give
 *  to peers. The memory stays the program's and must stay mapped until dat_lmr_free; registering it twice is fine. All
 *  outputs but lmr_handle may be NULL; the last two tell what was really covered.
 *  Errors: INVALID_HANDLE (IA, PZ; LMR of DAT_MEM_TYPE_LMR), INVALID_PARAMETER (mem_type; memory not mapped or without
 *  the rights; range that wraps; privileges; NULL lmr_handle), LENGTH_ERROR (no bytes), INVALID_STATE (memory
 *  that is not shared as claimed), INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_lmr_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
                                             DAT_REGION_DESCRIPTION region_description, DAT_VLEN length,
                                             DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
                                             DAT_LMR_HANDLE* lmr_handle, DAT_LMR_CONTEXT* lmr_context,
                                             DAT_RMR_CONTEXT* rmr_context, DAT_VLEN* registered_length,
                                             DAT_VADDR* registered_address);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: unsafe. Man page: dat_lmr_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask,
                                            DAT_LMR_PARAM* lmr_param);

/* ---- Event dispatchers ---- */

/** To dat_ia_open as asynchronous EVD: this process has opened the IA before and reads its errors there. */
#define DAT_EVD_ASYNC_EXISTS DAT_CAST_(DAT_EVD_HANDLE, 0x1)
/** From dat_ia_query for an IA that was opened with DAT_EVD_ASYNC_EXISTS. */
#define DAT_EVD_OUT_OF_SCOPE DAT_CAST_(DAT_EVD_HANDLE, 0x2)

/** Makes a queue of at least evd_min_qlen events for the streams of evd_flags, enabled and waitable. Its events trigger
 *  cno_handle, which may be null. An event that finds it full is lost, DAT_ASYNC_ERROR_EVD_OVERFLOW is told, and a
 *  connection whose completion was lost breaks: make it long enough for all that can be outstanding.
 *  Errors: INVALID_HANDLE (IA, CNO), INVALID_PARAMETER (length not positive or beyond max_evd_qlen; flags none or
 *  unknown; NULL output), INSUFFICIENT_RESOURCES, MODEL_NOT_SUPPORTED (streams that cannot be merged; never from
 *  SoftDAT).
 *  Threads: safe. Man page: dat_evd_create(3). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen, DAT_CNO_HANDLE cno_handle,
                                             DAT_EVD_FLAGS evd_flags, DAT_EVD_HANDLE* evd_handle);

/** Triggers another CNO from now on, or none if cno_handle is null. An event that arrives during the call may trigger
 *  either; disable the EVD around the call to have the new one only.
 *  Errors: INVALID_HANDLE (either).
 *  Threads: unsafe. Man page: dat_evd_modify_cno(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle);

/** Lets events that arrive from now on trigger the CNO again; those queued already do not. No effect on a thread in
 *  dat_evd_wait, nor on an enabled EVD.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_evd_enable(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_enable(DAT_EVD_HANDLE evd_handle);

/** Keeps events from triggering the CNO; they are queued all the same.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_evd_disable(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_disable(DAT_EVD_HANDLE evd_handle);

/** Waits until threshold events are queued, takes the oldest and tells in *n_more_events how many are left. One thread
 *  at a time: while it waits others can neither wait nor dequeue, and the CNO is not triggered. After TIMEOUT_EXPIRED
 *  and INTERRUPTED_CALL the events stay queued and *n_more_events counts them. timeout is in microseconds; 0 only
 *  looks. threshold is 1 .. queue length, and 1 if an endpoint feeds the EVD unsignalled or solicited completions. The
 *  sleep is a cancellation point.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (threshold; NULL output), TIMEOUT_EXPIRED, INVALID_STATE (another waiter;
 *  unwaitable, also when made so meanwhile; threshold above 1), ABORT (the EVD or IA goes), INTERRUPTED_CALL (a
 *  signal).
 *  Threads: safe. Man page: dat_evd_wait(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                                           DAT_EVENT* event, DAT_COUNT* n_more_events);

/** Refuses dat_evd_wait from now on; a blocked waiter is woken with DAT_INVALID_STATE. Events still arrive, trigger the
 *  CNO and can be dequeued.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_evd_set_unwaitable(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle);

/** Allows dat_evd_wait again, as on a new EVD.
 *  Errors: INVALID_HANDLE.
 *  Threads: safe. Man page: dat_evd_clear_unwaitable(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle);

/* ---- Consumer notification objects ---- */

/** Called once when the CNO triggers, with what was given and the EVD that did it (null when the IA goes or the last
 *  EVD of the CNO is freed). Runs on a thread of the provider, one agent of the IA at a time, without a lock; it must
 *  not block and may call every DAT function. */
typedef void(DAT_API* DAT_AGENT_FUNC)(DAT_PVOID instance_data, DAT_EVD_HANDLE event_dispatcher);

/** Joins a CNO to the waiting facility of the program; copied by the calls. The null agent stands for none. */
typedef struct dat_os_wait_proxy_agent {
  DAT_PVOID instance_data;         /**< Handed to the function, never read. */
  DAT_AGENT_FUNC proxy_agent_func; /**< NULL in the null agent. */
} DAT_OS_WAIT_PROXY_AGENT;
#if defined(__cplusplus) && __cplusplus >= 201103L
#define DAT_OS_WAIT_PROXY_AGENT_NULL (DAT_OS_WAIT_PROXY_AGENT{nullptr, nullptr})
#else
#define DAT_OS_WAIT_PROXY_AGENT_NULL \
  (DAT_OS_WAIT_PROXY_AGENT) {        \
    NULL, NULL                       \
  }
#endif

/** The parameters of a CNO, as dat_cno_query(3) tells them. An agent that has been called is no longer there. */
typedef struct dat_cno_param {
  DAT_IA_HANDLE ia_handle;       /**< The adapter it was made from. */
  DAT_OS_WAIT_PROXY_AGENT agent; /**< The agent that the next trigger calls; the null agent if there is none. */
} DAT_CNO_PARAM;

/** One bit for each member of DAT_CNO_PARAM. */
typedef enum dat_cno_param_mask {
  DAT_CNO_FIELD_IA_HANDLE = 0x1,
  DAT_CNO_FIELD_AGENT = 0x2,
  DAT_CNO_FIELD_ALL = 0x3
} DAT_CNO_PARAM_MASK;

/** Makes an object that any number of EVDs of the adapter trigger. A trigger wakes a thread in dat_cno_wait, or is
 *  remembered until one comes. agent, unless it is the null agent, is called at the first trigger and then no longer:
 *  dat_cno_modify_agent sets it again. What instance_data points at stays the program's.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL output), INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_cno_create(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                                             DAT_CNO_HANDLE* cno_handle);

/** Sets the agent for the next trigger, or none if it is the null agent. A trigger in progress may still reach the old
 *  agent after the call has returned.
 *  Errors: INVALID_HANDLE, INSUFFICIENT_RESOURCES.
 *  Threads: unsafe. Man page: dat_cno_modify_agent(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent);

/** Writes the parameters that the mask selects into the program's structure; other members may be written too.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; NULL structure).
 *  Threads: unsafe. Man page: dat_cno_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask,
                                            DAT_CNO_PARAM* cno_param);

/** Destroys the CNO; its handle is void.
 *  Errors: INVALID_HANDLE, INVALID_STATE (CNO_IN_USE: an EVD refers to it, or a thread waits on it).
 *  Threads: unsafe. Man page: dat_cno_free(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_free(DAT_CNO_HANDLE cno_handle);

/** Waits for a trigger at most timeout microseconds, or returns at once for one that nobody has seen. *evd_handle is a
 *  hint, and no event is taken: dequeue from it, and look at the others of the CNO too. All waiters are woken with a
 *  null handle when the IA goes or the last EVD is freed. The sleep is a cancellation point.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL output), QUEUE_EMPTY (timeout; *evd_handle is null, and the class
 *  bits are missing), INTERRUPTED_CALL (a signal).
 *  Threads: safe. Man page: dat_cno_wait(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd_handle);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_UDAT_H */
