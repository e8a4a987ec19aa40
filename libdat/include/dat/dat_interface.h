/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: interface adapters (IA), their attributes and those of the provider behind them, and the calls that
 * take any handle. */
#ifndef SOFTDAT_DAT12_DAT_INTERFACE_H
#define SOFTDAT_DAT12_DAT_INTERFACE_H

#include <dat/dat_event.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The owner of the segment array of a post when the call returns. SoftDAT: the program. */
typedef enum dat_iov_ownership {
  DAT_IOV_CONSUMER = 0,       /**< The program: it may be reused at once. */
  DAT_IOV_PROVIDER_NOMOD = 1, /**< The provider until completion, unchanged. */
  DAT_IOV_PROVIDER_MOD = 2    /**< The provider until completion, which may change it. */
} DAT_IOV_OWNERSHIP;

/** Whether the provider makes endpoints for connection requests. SoftDAT: if asked. */
typedef enum dat_ep_creator_for_psp {
  DAT_PSP_CREATES_EP_NEVER = 0,   /**< The program makes each. */
  DAT_PSP_CREATES_EP_IFASKED = 1, /**< As the PSP's flag says. */
  DAT_PSP_CREATES_EP_ALWAYS = 2   /**< Whatever the flag says. */
} DAT_EP_CREATOR_FOR_PSP;

/** The kind of protection that a protection zone gives. SoftDAT: DAT_PZ_UNIQUE. */
typedef enum dat_pz_support {
  DAT_PZ_UNIQUE = 0,
  DAT_PZ_SHAREABLE = 1,
  DAT_PZ_SAME = 2 /**< A name of Sun's; its value is one that nothing reports. */
} DAT_PZ_SUPPORT;

/** The source of the memory of an LMR; selects the member of DAT_REGION_DESCRIPTION that dat_lmr_create(3) reads. */
typedef enum dat_mem_type {
  DAT_MEM_TYPE_VIRTUAL = 0,        /**< for_va: any memory of the process. */
  DAT_MEM_TYPE_LMR = 1,            /**< for_lmr_handle: the memory of an existing LMR, again. */
  DAT_MEM_TYPE_SHARED_VIRTUAL = 2, /**< for_shared_memory: shared with other processes. */
  DAT_MEM_TYPE_SO_VIRTUAL = 3      /**< Solaris: for_va, strongly ordered. The same as VIRTUAL here. */
} DAT_MEM_TYPE;

/* Member names of DAT 1.0 and 1.1. They rename any identifier of that spelling, as they always have. */
#define max_rdma_read_per_ep max_rdma_read_per_ep_in
#define max_mtu_size max_message_size

/** The abilities of an adapter, as dat_ia_query(3) tells them. Limits are counts for the IA unless the name says
 *  otherwise; lengths are bytes. Pointers belong to the adapter and live until it is closed. SoftDAT tells its own
 *  version for hardware and firmware. */
typedef struct dat_ia_attr {
  char adapter_name[DAT_NAME_MAX_LENGTH]; /**< Zero-terminated, as the vendor's. */
  char vendor_name[DAT_NAME_MAX_LENGTH];
  DAT_UINT32 hardware_version_major;
  DAT_UINT32 hardware_version_minor;
  DAT_UINT32 firmware_version_major;
  DAT_UINT32 firmware_version_minor;
  DAT_IA_ADDRESS_PTR ia_address_ptr; /**< Its address, for dat_ep_connect of a peer. */
  DAT_COUNT max_eps;
  DAT_COUNT max_dto_per_ep;           /**< Receives; sends, RDMA and binds together as many again. */
  DAT_COUNT max_rdma_read_per_ep_in;  /**< RDMA reads at once by the peer. */
  DAT_COUNT max_rdma_read_per_ep_out; /**< RDMA reads at once of the peer. */
  DAT_COUNT max_evds;
  DAT_COUNT max_evd_qlen;             /**< Events on one EVD. */
  DAT_COUNT max_iov_segments_per_dto; /**< Segments of a send or receive. */
  DAT_COUNT max_lmrs;
  DAT_VLEN max_lmr_block_size;       /**< Bytes of one LMR. */
  DAT_VADDR max_lmr_virtual_address; /**< The highest address. */
  DAT_COUNT max_pzs;
  DAT_VLEN max_message_size; /**< Bytes of a send. */
  DAT_VLEN max_rdma_size;    /**< Bytes of an RDMA read or write. */
  DAT_COUNT max_rmrs;
  DAT_VADDR max_rmr_target_address; /**< The highest address. */
  DAT_COUNT max_srqs;               /**< Shared receive queues; 0 if there are none. */
  DAT_COUNT max_ep_per_srq;         /**< Endpoints on one SRQ. */
  DAT_COUNT max_recv_per_srq;       /**< Buffers in one SRQ. */
  DAT_COUNT max_iov_segments_per_rdma_read;
  DAT_COUNT max_iov_segments_per_rdma_write;
  DAT_COUNT max_rdma_read_in;                      /**< All endpoints together. */
  DAT_COUNT max_rdma_read_out;                     /**< All endpoints together. */
  DAT_BOOLEAN max_rdma_read_per_ep_in_guaranteed;  /**< Or else subject to the total. */
  DAT_BOOLEAN max_rdma_read_per_ep_out_guaranteed; /**< Or else subject to the total. */
  DAT_COUNT num_transport_attr;                    /**< SoftDAT: 0. */
  DAT_NAMED_ATTR* transport_attr;                  /**< Array of that count. */
  DAT_COUNT num_vendor_attr;                       /**< SoftDAT: 0. */
  DAT_NAMED_ATTR* vendor_attr;                     /**< Array of that count. */
} DAT_IA_ATTR;

/** One bit for each member of DAT_IA_ATTR. MAX_MTU_SIZE and MAX_DTO_PER_OP are other names of bits here. */
typedef DAT_UINT64 DAT_IA_ATTR_MASK;
#define DAT_IA_FIELD_IA_MAX_MTU_SIZE DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE
#define DAT_IA_FIELD_IA_ADAPTER_NAME UINT64_C(0x1)
#define DAT_IA_FIELD_IA_VENDOR_NAME UINT64_C(0x2)
#define DAT_IA_FIELD_IA_HARDWARE_MAJOR_VERSION UINT64_C(0x4)
#define DAT_IA_FIELD_IA_HARDWARE_MINOR_VERSION UINT64_C(0x8)
#define DAT_IA_FIELD_IA_FIRMWARE_MAJOR_VERSION UINT64_C(0x10)
#define DAT_IA_FIELD_IA_FIRMWARE_MINOR_VERSION UINT64_C(0x20)
#define DAT_IA_FIELD_IA_ADDRESS_PTR UINT64_C(0x40)
#define DAT_IA_FIELD_IA_MAX_EPS UINT64_C(0x80)
#define DAT_IA_FIELD_IA_MAX_DTO_PER_EP UINT64_C(0x100)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN UINT64_C(0x200)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT UINT64_C(0x400)
#define DAT_IA_FIELD_IA_MAX_EVDS UINT64_C(0x800)
#define DAT_IA_FIELD_IA_MAX_EVD_QLEN UINT64_C(0x1000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_DTO UINT64_C(0x2000)
#define DAT_IA_FIELD_IA_MAX_LMRS UINT64_C(0x4000)
#define DAT_IA_FIELD_IA_MAX_LMR_BLOCK_SIZE UINT64_C(0x8000)
#define DAT_IA_FIELD_IA_MAX_LMR_VIRTUAL_ADDRESS UINT64_C(0x10000)
#define DAT_IA_FIELD_IA_MAX_PZS UINT64_C(0x20000)
#define DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE UINT64_C(0x40000)
#define DAT_IA_FIELD_IA_MAX_RDMA_SIZE UINT64_C(0x80000)
#define DAT_IA_FIELD_IA_MAX_RMRS UINT64_C(0x100000)
#define DAT_IA_FIELD_IA_MAX_RMR_TARGET_ADDRESS UINT64_C(0x200000)
#define DAT_IA_FIELD_IA_MAX_SRQS UINT64_C(0x400000)
#define DAT_IA_FIELD_IA_MAX_EP_PER_SRQ UINT64_C(0x800000)
#define DAT_IA_FIELD_IA_MAX_RECV_PER_SRQ UINT64_C(0x1000000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_READ UINT64_C(0x2000000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_WRITE UINT64_C(0x4000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_IN UINT64_C(0x8000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_OUT UINT64_C(0x10000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN_GUARANTEED UINT64_C(0x20000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT_GUARANTEED UINT64_C(0x40000000)
#define DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR UINT64_C(0x80000000)
#define DAT_IA_FIELD_IA_TRANSPORT_ATTR UINT64_C(0x100000000)
#define DAT_IA_FIELD_IA_NUM_VENDOR_ATTR UINT64_C(0x200000000)
#define DAT_IA_FIELD_IA_VENDOR_ATTR UINT64_C(0x400000000)
#define DAT_IA_ALL DAT_IA_FIELD_ALL
#define DAT_IA_FIELD_ALL UINT64_C(0x7ffffffff)
#define DAT_IA_FIELD_NONE UINT64_C(0x0)
#define DAT_IA_FIELD_IA_MAX_DTO_PER_OP DAT_IA_FIELD_IA_MAX_DTO_PER_EP

/** The behaviour of a provider, as dat_ia_query(3) tells it. Pointers belong to the adapter and live until it is
 *  closed. */
typedef struct dat_provider_attr {
  char provider_name[DAT_NAME_MAX_LENGTH]; /**< Zero-terminated; here "SoftDAT". */
  DAT_UINT32 provider_version_major;
  DAT_UINT32 provider_version_minor;
  DAT_UINT32 dapl_version_major; /**< API version of the entry that was opened. */
  DAT_UINT32 dapl_version_minor;
  DAT_MEM_TYPE lmr_mem_types_supported;            /**< The supported values, combined by OR. SoftDAT: all. */
  DAT_IOV_OWNERSHIP iov_ownership_on_return;       /**< SoftDAT: DAT_IOV_CONSUMER. */
  DAT_QOS dat_qos_supported;                       /**< Union of bits. */
  DAT_COMPLETION_FLAGS completion_flags_supported; /**< Union of bits. */
  DAT_BOOLEAN is_thread_safe;                      /**< As it was asked for; SoftDAT is in either case. */
  DAT_COUNT max_private_data_size;                 /**< Bytes with a request or its answer, see dat_ia_query(3). */
  DAT_BOOLEAN supports_multipath;                  /**< SoftDAT: DAT_FALSE. */
  DAT_EP_CREATOR_FOR_PSP ep_creator;               /**< Which psp_flags there are. */
  DAT_PZ_SUPPORT pz_support;                       /**< SoftDAT: DAT_PZ_UNIQUE. */
  DAT_UINT32 optimal_buffer_alignment;             /**< Bytes; divides DAT_OPTIMAL_ALIGNMENT. */
  DAT_CONST_MEMBER_ DAT_BOOLEAN
      evd_stream_merging_supported[6][6];     /**< By streams: software, CR, DTO, connection, bind, asynchronous. */
  DAT_BOOLEAN srq_supported;                  /**< Whether dat_srq_create works. */
  DAT_COUNT srq_watermarks_supported;         /**< How many of low, soft and hard high. */
  DAT_BOOLEAN srq_ep_pz_difference_supported; /**< Whether EP and SRQ may be of different zones. */
  DAT_COUNT srq_info_supported;               /**< How many counts of dat_srq_query are known. */
  DAT_COUNT ep_recv_info_supported;           /**< How many counts of dat_ep_recv_query are known. */
  DAT_BOOLEAN lmr_sync_req;                   /**< Whether dat_lmr_sync_* must be called. */
  DAT_BOOLEAN dto_async_return_guaranteed;    /**< Posts never fail for errors found later. */
  DAT_BOOLEAN rdma_write_for_rdma_read_req;   /**< Reading into memory needs remote write rights to it. */
  DAT_COUNT num_provider_specific_attr;       /**< How many named attributes follow. */
  DAT_NAMED_ATTR* provider_specific_attr;     /**< Array of that count. */
} DAT_PROVIDER_ATTR;

/** One bit for each member of DAT_PROVIDER_ATTR. */
typedef DAT_UINT64 DAT_PROVIDER_ATTR_MASK;
#define DAT_PROVIDER_FIELD_PROVIDER_NAME UINT64_C(0x1)
#define DAT_PROVIDER_FIELD_PROVIDER_VERSION_MAJOR UINT64_C(0x2)
#define DAT_PROVIDER_FIELD_PROVIDER_VERSION_MINOR UINT64_C(0x4)
#define DAT_PROVIDER_FIELD_DAPL_VERSION_MAJOR UINT64_C(0x8)
#define DAT_PROVIDER_FIELD_DAPL_VERSION_MINOR UINT64_C(0x10)
#define DAT_PROVIDER_FIELD_LMR_MEM_TYPE_SUPPORTED UINT64_C(0x20)
#define DAT_PROVIDER_FIELD_IOV_OWNERSHIP UINT64_C(0x40)
#define DAT_PROVIDER_FIELD_DAT_QOS_SUPPORTED UINT64_C(0x80)
#define DAT_PROVIDER_FIELD_COMPLETION_FLAGS_SUPPORTED UINT64_C(0x100)
#define DAT_PROVIDER_FIELD_IS_THREAD_SAFE UINT64_C(0x200)
#define DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE UINT64_C(0x400)
#define DAT_PROVIDER_FIELD_SUPPORTS_MULTIPATH UINT64_C(0x800)
#define DAT_PROVIDER_FIELD_EP_CREATOR UINT64_C(0x1000)
#define DAT_PROVIDER_FIELD_PZ_SUPPORT UINT64_C(0x2000)
#define DAT_PROVIDER_FIELD_OPTIMAL_BUFFER_ALIGNMENT UINT64_C(0x4000)
#define DAT_PROVIDER_FIELD_EVD_STREAM_MERGING_SUPPORTED UINT64_C(0x8000)
#define DAT_PROVIDER_FIELD_SRQ_SUPPORTED UINT64_C(0x10000)
#define DAT_PROVIDER_FIELD_SRQ_WATERMARKS_SUPPORTED UINT64_C(0x20000)
#define DAT_PROVIDER_FIELD_SRQ_EP_PZ_DIFFERENCE_SUPPORTED UINT64_C(0x40000)
#define DAT_PROVIDER_FIELD_SRQ_INFO_SUPPORTED UINT64_C(0x80000)
#define DAT_PROVIDER_FIELD_EP_RECV_INFO_SUPPORTED UINT64_C(0x100000)
#define DAT_PROVIDER_FIELD_LMR_SYNC_REQ UINT64_C(0x200000)
#define DAT_PROVIDER_FIELD_DTO_ASYNC_RETURN_GUARANTEED UINT64_C(0x400000)
#define DAT_PROVIDER_FIELD_RDMA_WRITE_FOR_RDMA_READ_REQ UINT64_C(0x800000)
#define DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR UINT64_C(0x1000000)
#define DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR UINT64_C(0x2000000)
#define DAT_PROVIDER_FIELD_ALL UINT64_C(0x3ffffff)
#define DAT_PROVIDER_FIELD_NONE UINT64_C(0x0)

/** An entry of the registry; all four members together are the key under which a provider registers. */
typedef struct dat_provider_info {
  char ia_name[DAT_NAME_MAX_LENGTH]; /**< For dat_ia_open; zero-terminated. */
  DAT_UINT32 dapl_version_major;     /**< API version: 1.2 or 2.0. */
  DAT_UINT32 dapl_version_minor;
  DAT_BOOLEAN is_thread_safe; /**< Part of the key, like the version. */
} DAT_PROVIDER_INFO;

/* ---- Open and close ---- */

/** Opens an IA with the version of these headers and the thread safety of DAT_THREADSAFE; see dat_ia_openv. A macro: no
 *  library exports a function of this name. Man page: dat_ia_open(3DAT). */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define dat_ia_open(name, qlen, async_evd, ia)                                                                         \
  dat_ia_openv(const_cast<DAT_NAME_PTR>(static_cast<const char*>(name)), (qlen), (async_evd), (ia), DAT_VERSION_MAJOR, \
               DAT_VERSION_MINOR, DAT_THREADSAFE)
#else
#define dat_ia_open(name, qlen, async_evd, ia) \
  dat_ia_openv((name), (qlen), (async_evd), (ia), DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_THREADSAFE)
#endif

/** Opens the IA of that name from a provider registered for this major version and thread safety, and this minor
 *  version or the smallest larger one, loading its library if need be. On entry *asynch_evd_handle is DAT_HANDLE_NULL
 *  (an EVD of at least asynch_evd_min_qlen events is made and returned; it goes with the IA), an EVD with
 *  DAT_EVD_ASYNC_FLAG of another IA of the adapter, which outlives this one, or DAT_EVD_ASYNC_EXISTS
 *  (DAT_EVD_OUT_OF_SCOPE is returned). Opening a name again gives another, independent IA. The program owns the handle
 *  until dat_ia_close.
 *  Errors: INVALID_PARAMETER (name NULL or of 256 bytes and more; queue length; NULL pointer to the EVD),
 *  INVALID_HANDLE (NULL ia_handle; EVD without asynchronous events, or of another adapter), PROVIDER_NOT_FOUND (also no
 *  such device), INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_ia_open(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ia_openv(const DAT_NAME_PTR provider, DAT_COUNT asynch_evd_min_qlen,
                                           DAT_EVD_HANDLE* asynch_evd_handle, DAT_IA_HANDLE* ia_handle,
                                           DAT_UINT32 dat_major_version_number, DAT_UINT32 dat_minor_version_number,
                                           DAT_BOOLEAN dat_thread_safety);

/** Tells the asynchronous EVD, and the attributes that the two masks select; other members may be written too. Each
 *  structure may be NULL if its mask is 0; async_evd_handle may be NULL. The EVD is DAT_EVD_OUT_OF_SCOPE for an IA that
 *  was opened with DAT_EVD_ASYNC_EXISTS.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (unknown mask bit; attributes wanted and a NULL structure).
 *  Threads: safe. Man page: dat_ia_query(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE* async_evd_handle,
                                           DAT_IA_ATTR_MASK ia_attr_mask, DAT_IA_ATTR* ia_attr,
                                           DAT_PROVIDER_ATTR_MASK provider_attr_mask, DAT_PROVIDER_ATTR* provider_attr);

/** Closes the IA and voids its handle. Abrupt: disconnects and destroys all objects that are left; waiters on EVDs
 *  return DAT_ABORT, those on CNOs and agents get a null handle. When it returns, nobody touches registered memory any
 *  more. Graceful: refuses while the program has objects, the asynchronous EVD excepted. An EVD that dat_ia_openv was
 *  given stays.
 *  Errors: INVALID_HANDLE (also if another thread closes it), INVALID_PARAMETER (flags), INVALID_STATE (graceful, and
 *  IA_IN_USE).
 *  Threads: unsafe. Man page: dat_ia_close(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS close_flags);

/* ---- Any handle ---- */

/** Keeps eight bytes of the program with any object, in place of what was there. Nothing is done with them when the
 *  object goes.
 *  Errors: INVALID_HANDLE.
 *  Threads: unsafe. Man page: dat_set_consumer_context(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context);

/** Returns what dat_set_consumer_context kept; as_64 is 0 if nothing was.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL output).
 *  Threads: unsafe. Man page: dat_get_consumer_context(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT* context);

/** Tells the kind of object that a handle names, for the bare handles in asynchronous errors and connection requests.
 *  Errors: INVALID_HANDLE, INVALID_PARAMETER (NULL output).
 *  Threads: unsafe. Man page: dat_get_handle_type(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_get_handle_type(DAT_HANDLE dat_handle, DAT_HANDLE_TYPE* handle_type);

/* ---- The registry, as programs see it ---- */

/** Lists the entries of dat.conf, loaded or not, and the built-in ones, into structures of the program that the array
 *  points at. At most max_to_return are filled in; *entries_returned is how many were. Loads nothing; providers that
 *  the program declared itself are not shown.
 *  Errors: INVALID_PARAMETER (max_to_return not positive, with the number there are in *entries_returned; a NULL
 *  pointer, also in the array), INTERNAL_ERROR (never from SoftDAT).
 *  Threads: safe. Man page: dat_registry_list_providers(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_list_providers(DAT_COUNT max_to_return, DAT_COUNT* entries_returned,
                                                          DAT_PROVIDER_INFO* dat_provider_list[]);

/** Names the type and the subtype of a return value by their enumerators; class bits do not matter. The strings are
 *  static, never to be freed; the subtype's is empty if there is none.
 *  Errors: INVALID_PARAMETER (unknown code, and both strings are set all the same; NULL output).
 *  Threads: safe. Man page: dat_strerror(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_strerror(DAT_RETURN dat_function_return, const char** major_message_string,
                                           const char** minor_message_string);

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_INTERFACE_H */
