/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: the C types everything else is made of, for Linux on 64-bit machines.
 *
 * System headers. These seven, and no others, are included by any header of this directory:
 *   <netinet/in.h> <stdarg.h> <stddef.h> <stdint.h> <stdio.h> <sys/socket.h> <sys/types.h>
 * A C++ program that includes them first may include the DAT headers inside a namespace of its own. The
 * functions keep C linkage there, so they are the same functions whichever namespace declares them. */
#ifndef SOFTDAT_DAT2_DAT_PLATFORM_SPECIFIC_H
#define SOFTDAT_DAT2_DAT_PLATFORM_SPECIFIC_H

#include <dat2/udat_config.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

/** The alignment, in bytes, that data buffers should have to go fastest. Never required. */
#ifndef DAT_OPTIMAL_ALIGNMENT
#define DAT_OPTIMAL_ALIGNMENT 256
#endif

/* Directions of parameters, for programs that write them; these headers do not use them. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

/** Linkage and calling convention of the API. Programs put DAT_API on agent functions, providers on theirs. */
#define DAT_EXPORT extern
#define DAT_API

/* A cast that is quiet under -Wold-style-cast in C++. Not for use outside these headers. */
#if defined(__cplusplus) && __cplusplus >= 201103L
extern "C++" {
template <typename T>
using dat_cast_target_ = T;
}
#define DAT_CAST_(type, value) (dat_cast_target_<type>(value))
#else
#define DAT_CAST_(type, value) ((type)(value))
#endif

/* C knows this member as const; C++ could then neither assign nor default-construct its structure. */
#ifdef __cplusplus
#define DAT_CONST_MEMBER_
#else
#define DAT_CONST_MEMBER_ const
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t DAT_UINT32;                            /**< 32 bits, host order. */
typedef uint64_t DAT_UINT64;                            /**< 64 bits, host order. */
__extension__ typedef unsigned long long DAT_UVERYLONG; /**< The longest unsigned integer of the compiler. */
typedef void* DAT_PVOID; /**< A pointer to memory of the program; what it points at is said where it is used. */
typedef int DAT_COUNT;   /**< A number of things, or of bytes of private data. Never negative, except for watermarks. */
typedef DAT_UINT64 DAT_PADDR; /**< A physical address; unused in user space. */

/** Selects the transport of a common service point, with the numbers of socket(2), see dat_csp_create(3). The program
 *  owns it; the call copies it. */
typedef struct dat_comm {
  int domain;   /**< AF_INET or AF_INET6: the family of the adapter's address. */
  int type;     /**< SOCK_STREAM. */
  int protocol; /**< IPPROTO_TCP, or 0 for the usual one. */
} DAT_COMM;

/** A file descriptor for poll(2), select(2) and epoll(7), see dat_cno_fd_create(3). Belongs to the CNO, which closes
 *  it: the program neither reads, writes nor closes it. */
typedef int DAT_FD;

typedef struct sockaddr DAT_SOCK_ADDR;      /**< The address of an IA; sa_family says which sockaddr it really is. */
typedef struct sockaddr_in6 DAT_SOCK_ADDR6; /**< Large enough for either family. */

#ifdef __cplusplus
}
#endif

/** Families of a DAT_SOCK_ADDR. Both are taken by dat_ep_connect(3), whatever the family of the adapter. */
#define DAT_AF_INET AF_INET
#define DAT_AF_INET6 AF_INET6

/** Turn an IA handle into a number and back, for programs that print or store it. */
#define DAT_IA_HANDLE_TO_UL(a) DAT_CAST_(unsigned long, a)
#define DAT_UL_TO_IA_HANDLE(a) DAT_CAST_(DAT_IA_HANDLE, a)

#endif /* SOFTDAT_DAT2_DAT_PLATFORM_SPECIFIC_H */
