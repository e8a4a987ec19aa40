/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0 extensions: collective operations among the members of a group. Present if the named attributes below
 * are "TRUE". SoftDAT has none and answers each with DAT_NOT_IMPLEMENTED; the comments say what the operation is in
 * providers that have it. */
#ifndef SOFTDAT_DAT2_DAT_IB_COLLECTIVES_H
#define SOFTDAT_DAT2_DAT_IB_COLLECTIVES_H

#include <dat2/dat_ib_extensions.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names of provider_specific_attr, one for each operation below; SoftDAT has none of them. */
#define DAT_IB_COLL_SET_CLOCK "DAT_COLL_SET_CLOCK"
#define DAT_IB_COLL_READ_CLOCK "DAT_COLL_READ_CLOCK"
#define DAT_IB_COLL_BROADCAST "DAT_COLL_BROADCAST"
#define DAT_IB_COLL_BARRIER "DAT_COLL_BARRIER"
#define DAT_IB_COLL_SCATTER "DAT_COLL_SCATTER"
#define DAT_IB_COLL_SCATTERV "DAT_COLL_SCATTERV"
#define DAT_IB_COLL_GATHER "DAT_COLL_GATHER"
#define DAT_IB_COLL_GATHERV "DAT_COLL_GATHERV"
#define DAT_IB_COLL_ALLGATHER "DAT_COLL_ALLGATHER"
#define DAT_IB_COLL_ALLGATHERV "DAT_COLL_ALLGATHERV"
#define DAT_IB_COLL_ALLTOALL "DAT_COLL_ALLTOALL"
#define DAT_IB_COLL_ALLTOALLV "DAT_COLL_ALLTOALLV"
#define DAT_IB_COLL_REDUCE "DAT_COLL_REDUCE"
#define DAT_IB_COLL_ALLREDUCE "DAT_COLL_ALLREDUCE"
#define DAT_IB_COLL_REDUCE_SCATTER "DAT_COLL_REDUCE_SCATTER"
#define DAT_IB_COLL_SCAN "DAT_COLL_SCAN"

typedef DAT_HANDLE DAT_IB_COLLECTIVE_HANDLE; /**< A group. */
typedef unsigned int DAT_IB_COLLECTIVE_RANK; /**< A member's number in its group, from 0. */
typedef unsigned int DAT_IB_COLLECTIVE_ID;   /**< The group's number, chosen by the program, alike in all members. */
typedef void* DAT_IB_COLLECTIVE_MEMBER;      /**< A member's address, to be told to all others as opaque bytes. */

/** The type of one element; pairs are a value and its index, for MAXLOC and MINLOC. */
typedef enum dat_ib_collective_data_type {
  DAT_IB_COLLECTIVE_TYPE_INT8 = 0,
  DAT_IB_COLLECTIVE_TYPE_UINT8 = 1,
  DAT_IB_COLLECTIVE_TYPE_INT16 = 2,
  DAT_IB_COLLECTIVE_TYPE_UINT16 = 3,
  DAT_IB_COLLECTIVE_TYPE_INT32 = 4,
  DAT_IB_COLLECTIVE_TYPE_UINT32 = 5,
  DAT_IB_COLLECTIVE_TYPE_INT64 = 6,
  DAT_IB_COLLECTIVE_TYPE_UINT64 = 7,
  DAT_IB_COLLECTIVE_TYPE_FLOAT = 8,
  DAT_IB_COLLECTIVE_TYPE_DOUBLE = 9,
  DAT_IB_COLLECTIVE_TYPE_LONG_DOUBLE = 10,
  DAT_IB_COLLECTIVE_TYPE_SHORT_INT = 11, /**< Pairs from here on. */
  DAT_IB_COLLECTIVE_TYPE_2INT = 12,
  DAT_IB_COLLECTIVE_TYPE_FLOAT_INT = 13,
  DAT_IB_COLLECTIVE_TYPE_LONG_INT = 14,
  DAT_IB_COLLECTIVE_TYPE_DOUBLE_INT = 15
} DAT_IB_COLLECTIVE_DATA_TYPE;

/** How elements are combined. L is logical, B bitwise. */
typedef enum dat_ib_collective_reduce_data_op {
  DAT_IB_COLLECTIVE_REDUCE_OP_MAX = 0,
  DAT_IB_COLLECTIVE_REDUCE_OP_MIN = 1,
  DAT_IB_COLLECTIVE_REDUCE_OP_SUM = 2,
  DAT_IB_COLLECTIVE_REDUCE_OP_PROD = 3,
  DAT_IB_COLLECTIVE_REDUCE_OP_LAND = 4,
  DAT_IB_COLLECTIVE_REDUCE_OP_BAND = 5,
  DAT_IB_COLLECTIVE_REDUCE_OP_LOR = 6,
  DAT_IB_COLLECTIVE_REDUCE_OP_BOR = 7,
  DAT_IB_COLLECTIVE_REDUCE_OP_LXOR = 8,
  DAT_IB_COLLECTIVE_REDUCE_OP_BXOR = 9,
  DAT_IB_COLLECTIVE_REDUCE_OP_MAXLOC = 10,
  DAT_IB_COLLECTIVE_REDUCE_OP_MINLOC = 11
} DAT_IB_COLLECTIVE_REDUCE_DATA_OP;

/** How the members of a group lie on nodes. The arrays belong to the program until the group exists. */
typedef struct dat_ib_collective_group {
  int local_size;       /**< Members on this node. */
  int local_rank;       /**< This member among them. */
  int* local_ranks;     /**< Rank in the group, by local rank. */
  int external_size;    /**< Nodes; each has one member that speaks for it. */
  int external_rank;    /**< This member among those, or -1. */
  int* external_ranks;  /**< Rank in the group, by external rank. */
  int* intranode_table; /**< Local rank by rank in the group, or -1. */
  int* internode_table; /**< External rank by rank in the group, or -1. */
  int is_comm_world;    /**< 1 if every process of the job is a member. */
} DAT_IB_COLLECTIVE_GROUP;

#ifdef __cplusplus
}
#endif

/** Makes this process able to join groups. *member (*member_size bytes) is to be told to all others. progress_func is
 *  called while a collective waits, or NULL. */
#define dat_ib_collective_create_member(ia_handle, progress_func, member, member_size)                            \
  dat_extension_op(DAT_CAST_(DAT_IA_HANDLE, ia_handle), DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_CREATE_MEMBER_OP), \
                   DAT_CAST_(void*, progress_func), DAT_CAST_(DAT_IB_COLLECTIVE_MEMBER*, member),                 \
                   DAT_CAST_(DAT_UINT32*, member_size))

/** Undoes dat_ib_collective_create_member. */
#define dat_ib_collective_free_member(ia_handle, member)                                                        \
  dat_extension_op(DAT_CAST_(DAT_IA_HANDLE, ia_handle), DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_FREE_MEMBER_OP), \
                   DAT_CAST_(DAT_IB_COLLECTIVE_MEMBER, member))

/** Joins group_size members, in rank order, into a group; self is this one. The handle comes in the
 *  DAT_IB_COLLECTIVE_CREATE_DATA event on evd. */
#define dat_ib_collective_create_group(members, group_size, self, group_id, group_info, evd, pd, user_context) \
  dat_extension_op(DAT_CAST_(DAT_EVD_HANDLE, evd), DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_CREATE_GROUP_OP),    \
                   DAT_CAST_(DAT_IB_COLLECTIVE_MEMBER*, members), DAT_CAST_(DAT_COUNT, group_size),            \
                   DAT_CAST_(DAT_IB_COLLECTIVE_RANK, self), DAT_CAST_(DAT_IB_COLLECTIVE_ID, group_id),         \
                   DAT_CAST_(DAT_IB_COLLECTIVE_GROUP*, group_info), DAT_CAST_(DAT_PZ_HANDLE, pd), (user_context))

/** Destroys the group on this member; nothing may be outstanding. */
#define dat_ib_collective_free_group(coll_handle)                    \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle), \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_FREE_GROUP_OP))

/** Starts the clock that the members share at clock_value. */
#define dat_ib_collective_set_clock(coll_handle, clock_value, user_context)                                  \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                         \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_SET_CLOCK_OP), DAT_CAST_(DAT_UINT64, clock_value), \
                   (user_context))

/** Reads the clock that the members share. */
#define dat_ib_collective_read_clock(coll_handle, clock_value)       \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle), \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_READ_CLOCK_OP), DAT_CAST_(DAT_UINT64*, clock_value))

/** All of these return at once and complete with a DAT_IB_COLLECTIVE_EVENT carrying user_context; buffers are the
 *  provider's until then. Sizes and displacements are bytes, arrays have one entry per rank. Scatter: root sends rank
 *  i the i-th sendsize bytes. */
#define dat_ib_collective_scatter(coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, user_context, flags)   \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                              \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_SCATTER_OP), DAT_CAST_(DAT_PVOID, sendbuf),             \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT, recvsize), \
                   DAT_CAST_(DAT_IB_COLLECTIVE_RANK, root), (user_context), DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Scatter in pieces of sendsizes[i] bytes from displs[i]. */
#define dat_ib_collective_scatterv(coll_handle, sendbuf, sendsizes, displs, recvbuf, recvsize, root, user_context, \
                                   flags)                                                                          \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                               \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_SCATTERV_OP), DAT_CAST_(DAT_PVOID, sendbuf),             \
                   DAT_CAST_(DAT_COUNT*, sendsizes), DAT_CAST_(DAT_COUNT*, displs), DAT_CAST_(DAT_PVOID, recvbuf), \
                   DAT_CAST_(DAT_COUNT, recvsize), DAT_CAST_(DAT_IB_COLLECTIVE_RANK, root), (user_context),        \
                   DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Gather: root receives from rank i the i-th recvsize bytes. */
#define dat_ib_collective_gather(coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, user_context, flags)    \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                              \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_GATHER_OP), DAT_CAST_(DAT_PVOID, sendbuf),              \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT, recvsize), \
                   DAT_CAST_(DAT_IB_COLLECTIVE_RANK, root), (user_context), DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Gather in pieces of recvsizes[i] bytes to displs[i]. */
#define dat_ib_collective_gatherv(coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, root, user_context,   \
                                  flags)                                                                            \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                                \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_GATHERV_OP), DAT_CAST_(DAT_PVOID, sendbuf),               \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT*, recvsizes), \
                   DAT_CAST_(DAT_COUNT*, displs), DAT_CAST_(DAT_IB_COLLECTIVE_RANK, root), (user_context),          \
                   DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Like dat_ib_collective_gather, to all ranks. */
#define dat_ib_collective_allgather(coll_handle, sendbuf, sendsize, recvbuf, recvsize, user_context, flags)       \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                              \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_ALLGATHER_OP), DAT_CAST_(DAT_PVOID, sendbuf),           \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT, recvsize), \
                   (user_context), DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Like dat_ib_collective_gatherv, to all ranks. */
#define dat_ib_collective_allgatherv(coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, user_context, flags) \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                                  \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_ALLGATHERV_OP), DAT_CAST_(DAT_PVOID, sendbuf),              \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT*, recvsizes),   \
                   DAT_CAST_(DAT_COUNT*, displs), (user_context), DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Every rank sends its i-th sendsize bytes to rank i. */
#define dat_ib_collective_alltoall(coll_handle, sendbuf, sendsize, recvbuf, recvsize, user_context, flags)        \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                              \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_ALLTOALL_OP), DAT_CAST_(DAT_PVOID, sendbuf),            \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT, recvsize), \
                   (user_context), DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Like dat_ib_collective_alltoall, each piece with a size and displacement of its own. */
#define dat_ib_collective_alltoallv(coll_handle, sendbuf, sendsizes, senddispls, recvbuf, recvsizes, recvdispls,       \
                                    user_context, flags)                                                               \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                                   \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_ALLTOALLV_OP), DAT_CAST_(DAT_PVOID, sendbuf),                \
                   DAT_CAST_(DAT_COUNT*, sendsizes), DAT_CAST_(DAT_COUNT*, senddispls), DAT_CAST_(DAT_PVOID, recvbuf), \
                   DAT_CAST_(DAT_COUNT*, recvsizes), DAT_CAST_(DAT_COUNT*, recvdispls), (user_context),                \
                   DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Root receives the elements of all ranks combined by op. */
#define dat_ib_collective_reduce(coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, root, user_context, \
                                 flags)                                                                           \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                              \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_REDUCE_OP), DAT_CAST_(DAT_PVOID, sendbuf),              \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT, recvsize), \
                   DAT_CAST_(DAT_IB_COLLECTIVE_REDUCE_DATA_OP, op), DAT_CAST_(DAT_IB_COLLECTIVE_DATA_TYPE, type), \
                   DAT_CAST_(DAT_IB_COLLECTIVE_RANK, root), (user_context), DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Like dat_ib_collective_reduce, to all ranks. */
#define dat_ib_collective_allreduce(coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, user_context, flags) \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                                  \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_ALLREDUCE_OP), DAT_CAST_(DAT_PVOID, sendbuf),               \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT, recvsize),     \
                   DAT_CAST_(DAT_IB_COLLECTIVE_REDUCE_DATA_OP, op), DAT_CAST_(DAT_IB_COLLECTIVE_DATA_TYPE, type),     \
                   (user_context), DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Reduce, then scatter recvsizes[i] bytes to rank i. */
#define dat_ib_collective_reduce_scatter(coll_handle, sendbuf, sendsize, recvbuf, recvsizes, op, type, user_context, \
                                         flags)                                                                      \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                                 \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP), DAT_CAST_(DAT_PVOID, sendbuf),         \
                   DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf), DAT_CAST_(DAT_COUNT*, recvsizes),  \
                   DAT_CAST_(DAT_IB_COLLECTIVE_REDUCE_DATA_OP, op), DAT_CAST_(DAT_IB_COLLECTIVE_DATA_TYPE, type),    \
                   (user_context), DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Rank i receives the elements of ranks 0 .. i combined by op. */
#define dat_ib_collective_scan(coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, user_context, flags)      \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle), DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_SCAN_OP), \
                   DAT_CAST_(DAT_PVOID, sendbuf), DAT_CAST_(DAT_COUNT, sendsize), DAT_CAST_(DAT_PVOID, recvbuf),      \
                   DAT_CAST_(DAT_COUNT, recvsize), DAT_CAST_(DAT_IB_COLLECTIVE_REDUCE_DATA_OP, op),                   \
                   DAT_CAST_(DAT_IB_COLLECTIVE_DATA_TYPE, type), (user_context),                                      \
                   DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Sends root's size bytes to all ranks. */
#define dat_ib_collective_broadcast(coll_handle, buf, size, root, user_context, flags)                  \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                                    \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_BROADCAST_OP), DAT_CAST_(DAT_PVOID, buf),     \
                   DAT_CAST_(DAT_COUNT, size), DAT_CAST_(DAT_IB_COLLECTIVE_RANK, root), (user_context), \
                   DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

/** Completes when every member has called it. */
#define dat_ib_collective_barrier(coll_handle, user_context, flags)                    \
  dat_extension_op(DAT_CAST_(DAT_IB_COLLECTIVE_HANDLE, coll_handle),                   \
                   DAT_CAST_(DAT_IB_OP, DAT_IB_COLLECTIVE_BARRIER_OP), (user_context), \
                   DAT_CAST_(DAT_COMPLETION_FLAGS, flags))

#endif /* SOFTDAT_DAT2_DAT_IB_COLLECTIVES_H */
