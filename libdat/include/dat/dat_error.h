/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: what every call returns. A DAT_RETURN is class (bits 31, 30), type (bits 29..16, DAT_RETURN_TYPE)
 * and subtype (bits 15..0, DAT_RETURN_SUBTYPE), for example
 * DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_IA. DAT_SUCCESS is 0.
 * Compare types, never whole values: DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY. dat_strerror gives both names. */
#ifndef SOFTDAT_DAT12_DAT_ERROR_H
#define SOFTDAT_DAT12_DAT_ERROR_H

#include <dat/dat_platform_specific.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Class, type and subtype in one word. A call that fails has changed nothing and written nothing but what its comment
 *  says. docs/ERRORS.md lists for each call what it returns, and when. */
typedef DAT_UINT32 DAT_RETURN;

#define DAT_CLASS_ERROR 0x80000000   /**< The call failed and changed nothing. */
#define DAT_CLASS_WARNING 0x40000000 /**< The call did its work, and something is worth knowing. */
#define DAT_CLASS_SUCCESS 0x00000000 /**< The call did its work. */

/** Where type and subtype stand in the word. */
#define DAT_TYPE_MASK 0x3fff0000
#define DAT_SUBTYPE_MASK 0x0000ffff

/** Non-zero (bit 30 itself, not 1) for a warning. */
#define DAT_IS_WARNING(status) (DAT_CAST_(DAT_UINT32, status) & DAT_CLASS_WARNING)
/** The DAT_RETURN_TYPE in place, not shifted, without the class. */
#define DAT_GET_TYPE(status) (DAT_CAST_(DAT_UINT32, status) & DAT_TYPE_MASK)
/** The DAT_RETURN_SUBTYPE. */
#define DAT_GET_SUBTYPE(status) (DAT_CAST_(DAT_UINT32, status) & DAT_SUBTYPE_MASK)

/** Why a call failed; the class bits are not part of it. Man pages list the types each call may return. */
/* DAT_NOT_IMPLEMENTED needs 32 bits and carries both class bits: test it against DAT_GET_TYPE(DAT_NOT_IMPLEMENTED). */
__extension__ typedef enum dat_return_type {
  DAT_SUCCESS = 0x00000000,
  DAT_ABORT = 0x00010000,                       /**< Woken because the IA or the object was destroyed meanwhile. */
  DAT_CONN_QUAL_IN_USE = 0x00020000,            /**< Another service point listens there. */
  DAT_INSUFFICIENT_RESOURCES = 0x00030000,      /**< The subtype says of what. */
  DAT_INTERNAL_ERROR = 0x00040000,              /**< A fault of the provider. */
  DAT_INVALID_HANDLE = 0x00050000,              /**< The subtype says which handle: null, freed, or of another kind. */
  DAT_INVALID_PARAMETER = 0x00060000,           /**< The subtype counts the arguments from 1. */
  DAT_INVALID_STATE = 0x00070000,               /**< The subtype names the state that forbids it. */
  DAT_LENGTH_ERROR = 0x00080000,                /**< The local segments cannot hold the transfer. */
  DAT_MODEL_NOT_SUPPORTED = 0x00090000,         /**< Legal, but this provider does not have it. */
  DAT_PROVIDER_NOT_FOUND = 0x000a0000,          /**< No provider has this name, version and thread safety. */
  DAT_PRIVILEGES_VIOLATION = 0x000b0000,        /**< The memory lacks the right. */
  DAT_PROTECTION_VIOLATION = 0x000c0000,        /**< The memory belongs to another protection zone. */
  DAT_QUEUE_EMPTY = 0x000d0000,                 /**< Nothing to dequeue. */
  DAT_QUEUE_FULL = 0x000e0000,                  /**< A software event did not fit. */
  DAT_TIMEOUT_EXPIRED = 0x000f0000,             /**< The wait ended without enough events. */
  DAT_PROVIDER_ALREADY_REGISTERED = 0x00100000, /**< The registry has such an entry. */
  DAT_PROVIDER_IN_USE = 0x00110000,             /**< An IA of it is open. */
  DAT_INVALID_ADDRESS = 0x00120000,             /**< Unsupported, unreachable or malformed. */
  DAT_INTERRUPTED_CALL = 0x00130000,            /**< A signal ended the wait. */
  DAT_CONN_QUAL_UNAVAILABLE = 0x00140000,       /**< None is free. */
  DAT_NOT_IMPLEMENTED = 0xffff0000              /**< The provider lacks the call. */
} DAT_RETURN_TYPE;

/** The older name of DAT_PROVIDER_NOT_FOUND. */
#define DAT_NAME_NOT_FOUND DAT_PROVIDER_NOT_FOUND

/** Which handle, argument, state, privilege or resource it was. Handles are checked first, in the order of the
 *  arguments, then the other arguments, then states; the first mistake is told. The numbers differ between DAT 1.2 and
 *  2.0 from 26 on. */
typedef enum dat_return_subtype {
  DAT_NO_SUBTYPE = 0,      /**< The type says everything. */
  DAT_SUB_INTERRUPTED = 1, /**< SoftDAT never gives it. */
  /* INSUFFICIENT_RESOURCES: what ran out. */
  DAT_RESOURCE_MEMORY = 2, /**< Memory, handles, or places in a queue. */
  DAT_RESOURCE_DEVICE = 3, /**< The adapter, for an IA or a service point. */
  DAT_RESOURCE_TEP = 4,    /**< Endpoints of the transport. */
  DAT_RESOURCE_TEVD = 5,   /**< Event queues of the transport. */
  DAT_RESOURCE_PROTECTION_DOMAIN = 6,
  DAT_RESOURCE_MEMORY_REGION = 7,
  DAT_RESOURCE_ERROR_HANDLER = 8, /**< SoftDAT never gives it. */
  DAT_RESOURCE_CREDITS = 9,       /**< SoftDAT never gives it. */
  DAT_RESOURCE_SRQ = 10,
  /* INVALID_HANDLE: the kind of handle that is wanted, or the argument. */
  DAT_INVALID_HANDLE_IA = 11,
  DAT_INVALID_HANDLE_EP = 12,
  DAT_INVALID_HANDLE_LMR = 13,
  DAT_INVALID_HANDLE_RMR = 14,
  DAT_INVALID_HANDLE_PZ = 15,
  DAT_INVALID_HANDLE_PSP = 16,
  DAT_INVALID_HANDLE_RSP = 17,
  DAT_INVALID_HANDLE_CR = 18,
  DAT_INVALID_HANDLE_CNO = 19,
  DAT_INVALID_HANDLE_EVD_CR = 20,      /**< EVD of a service point: it must take connection requests. */
  DAT_INVALID_HANDLE_EVD_REQUEST = 21, /**< Request EVD of an EP. */
  DAT_INVALID_HANDLE_EVD_RECV = 22,    /**< Receive EVD of an EP. */
  DAT_INVALID_HANDLE_EVD_CONN = 23,    /**< Connect EVD of an EP. */
  DAT_INVALID_HANDLE_EVD_ASYNC = 24,   /**< Asynchronous EVD of dat_ia_open. */
  DAT_INVALID_HANDLE_SRQ = 25,
  DAT_INVALID_HANDLE1 = 26, /**< The handle that is argument 1, and so on; the EVD of a call on an EVD. */
  DAT_INVALID_HANDLE2 = 27,
  DAT_INVALID_HANDLE3 = 28,
  DAT_INVALID_HANDLE4 = 29,
  DAT_INVALID_HANDLE5 = 30,
  DAT_INVALID_HANDLE6 = 31,
  DAT_INVALID_HANDLE7 = 32,
  DAT_INVALID_HANDLE8 = 33,
  DAT_INVALID_HANDLE9 = 34,
  DAT_INVALID_HANDLE10 = 35,
  DAT_INVALID_ARG1 = 36, /**< Argument 1, and so on. Arguments are counted from 1. */
  DAT_INVALID_ARG2 = 37,
  DAT_INVALID_ARG3 = 38,
  DAT_INVALID_ARG4 = 39,
  DAT_INVALID_ARG5 = 40,
  DAT_INVALID_ARG6 = 41,
  DAT_INVALID_ARG7 = 42,
  DAT_INVALID_ARG8 = 43,
  DAT_INVALID_ARG9 = 44,
  DAT_INVALID_ARG10 = 45,
  /* INVALID_STATE of an endpoint: its state, or what it lacks. SoftDAT never gives PROVIDERCONTROL, RECV_WATERMARK,
   * EVD_ and UNCONF. */
  DAT_INVALID_STATE_EP_UNCONNECTED = 46,
  DAT_INVALID_STATE_EP_ACTCONNPENDING = 47,  /**< Active connection pending. */
  DAT_INVALID_STATE_EP_PASSCONNPENDING = 48, /**< Passive connection pending. */
  DAT_INVALID_STATE_EP_TENTCONNPENDING = 49, /**< Tentative connection pending. */
  DAT_INVALID_STATE_EP_CONNECTED = 50,
  DAT_INVALID_STATE_EP_DISCONNECTED = 51,
  DAT_INVALID_STATE_EP_RESERVED = 52,
  DAT_INVALID_STATE_EP_COMPLPENDING = 53,    /**< Accepted; the connection is coming up. */
  DAT_INVALID_STATE_EP_DISCPENDING = 54,     /**< Disconnecting gracefully. */
  DAT_INVALID_STATE_EP_PROVIDERCONTROL = 55, /**< The provider has it. */
  DAT_INVALID_STATE_EP_NOTREADY = 56,        /**< dat_ep_dup_connect: the model was connected by its peer's request. */
  DAT_INVALID_STATE_EP_RECV_WATERMARK = 57,
  DAT_INVALID_STATE_EP_PZ = 58, /**< It has no PZ, so nothing can be posted or connected. */
  DAT_INVALID_STATE_EP_EVD_REQUEST = 59,
  DAT_INVALID_STATE_EP_EVD_RECV = 60,
  DAT_INVALID_STATE_EP_EVD_CONNECT = 61,
  DAT_INVALID_STATE_EP_UNCONFIGURED = 62,
  DAT_INVALID_STATE_EP_UNCONFRESERVED = 63,
  DAT_INVALID_STATE_EP_UNCONFPASSIVE = 64,
  DAT_INVALID_STATE_EP_UNCONFTENTATIVE = 65,
  /* INVALID_STATE of other objects. SoftDAT gives those that end in IN_USE, and of an EVD UNWAITABLE, WAITER,
   * CONFIG_NOTIFY and CONFIG_SOLICITED. */
  DAT_INVALID_STATE_CNO_IN_USE = 66, /**< An EVD refers to it, or a thread waits on it. */
  DAT_INVALID_STATE_CNO_DEAD = 67,   /**< Its IA is gone. */
  DAT_INVALID_STATE_EVD_OPEN = 68,   /**< A stream still feeds it; SoftDAT gives EVD_IN_USE. */
  DAT_INVALID_STATE_EVD_ENABLED = 69,
  DAT_INVALID_STATE_EVD_DISABLED = 70,
  DAT_INVALID_STATE_EVD_WAITABLE = 71,
  DAT_INVALID_STATE_EVD_UNWAITABLE = 72,       /**< dat_evd_set_unwaitable was called. */
  DAT_INVALID_STATE_EVD_IN_USE = 73,           /**< An EP, a service point or the IA feeds it. */
  DAT_INVALID_STATE_EVD_CONFIG_NOTIFY = 74,    /**< Unsignalled completions feed it: threshold 1 only. */
  DAT_INVALID_STATE_EVD_CONFIG_SOLICITED = 75, /**< Solicited completions feed it: threshold 1 only. */
  DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD = 76,
  DAT_INVALID_STATE_EVD_WAITER = 77, /**< A thread is blocked on it. */
  DAT_INVALID_STATE_EVD_ASYNC = 78,
  DAT_INVALID_STATE_IA_IN_USE = 79,  /**< The program has objects of it: a graceful close is refused. */
  DAT_INVALID_STATE_LMR_IN_USE = 80, /**< A remote memory region is bound to it, or a bind is posted. */
  DAT_INVALID_STATE_LMR_FREE = 81,
  DAT_INVALID_STATE_PZ_IN_USE = 82, /**< An EP, LMR, RMR or SRQ is in it. */
  DAT_INVALID_STATE_PZ_FREE = 83,
  DAT_INVALID_STATE_SRQ_OPERATIONAL = 84,
  DAT_INVALID_STATE_SRQ_ERROR = 85,
  DAT_INVALID_STATE_SRQ_IN_USE = 86, /**< An endpoint takes from it. */
  /* PRIVILEGES_VIOLATION, PROTECTION_VIOLATION and INVALID_ADDRESS. */
  DAT_PRIVILEGES_READ = 87,             /**< The local memory of a send or write cannot be read. */
  DAT_PRIVILEGES_WRITE = 88,            /**< The local memory of a receive or read cannot be written. */
  DAT_PRIVILEGES_RDMA_READ = 89,        /**< A bind grants remote read, and the LMR lacks local read. */
  DAT_PRIVILEGES_RDMA_WRITE = 90,       /**< A bind grants remote write, and the LMR lacks local write. */
  DAT_PROTECTION_READ = 91,             /**< The local memory of a send or write is in another PZ. */
  DAT_PROTECTION_WRITE = 92,            /**< The local memory of a receive or read is in another PZ. */
  DAT_PROTECTION_RDMA_READ = 93,        /**< RMR, LMR and EP of a bind are not of one PZ. */
  DAT_PROTECTION_RDMA_WRITE = 94,       /**< Likewise, of a bind that grants remote write. */
  DAT_INVALID_ADDRESS_UNSUPPORTED = 95, /**< Neither IPv4 nor IPv6. */
  DAT_INVALID_ADDRESS_UNREACHABLE = 96, /**< The address of no single host. */
  DAT_INVALID_ADDRESS_MALFORMED = 97,   /**< SoftDAT never gives it in DAT 1.2. */
  /* PROVIDER_NOT_FOUND: why. SoftDAT gives the first only. */
  DAT_NAME_NOT_REGISTERED = 98,      /**< No such name, version and thread safety. */
  DAT_MAJOR_NOT_FOUND = 99,          /**< The name exists in another major version. */
  DAT_MINOR_NOT_FOUND = 100,         /**< Likewise, of the minor version. */
  DAT_THREAD_SAFETY_NOT_FOUND = 101, /**< Likewise, of the thread safety. */
  DAT_INVALID_RO_COOKIE = 102 /**< Solaris: the IA was opened without RO_AWARE_ on a machine with relaxed ordering. */
} DAT_RETURN_SUBTYPE;

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_ERROR_H */
