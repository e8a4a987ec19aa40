/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: which version of the API a translation unit speaks, and the choices a program may make by
 * defining a macro before its first DAT header. Includes nothing. */
#ifndef SOFTDAT_DAT2_UDAT_CONFIG_H
#define SOFTDAT_DAT2_UDAT_CONFIG_H

#ifdef SOFTDAT_DAT12_UDAT_CONFIG_H
#error "One translation unit speaks one DAT version: include either <dat/...> (1.2) or <dat2/...> (2.0)"
#endif

/** The version that dat_ia_open asks the registry for. A provider must match both numbers exactly. */
#define DAT_VERSION_MAJOR 2
#define DAT_VERSION_MINOR 0

/** DAT_TRUE asks dat_ia_open for a provider that is thread safe throughout. With the default, only the calls
 *  whose comment says "Threads: safe" may be made on one object from several threads at once. */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

/** Extensions are part of the 2.0 ABI: always on, the last slot of the provider table depends on it. */
#ifndef DAT_EXTENSIONS
#define DAT_EXTENSIONS 1
#endif

#endif /* SOFTDAT_DAT2_UDAT_CONFIG_H */
