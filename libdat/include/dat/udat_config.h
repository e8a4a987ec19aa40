/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: which version of the API a translation unit speaks, and the choices a program may make by
 * defining a macro before its first DAT header. Includes nothing. */
#ifndef SOFTDAT_DAT12_UDAT_CONFIG_H
#define SOFTDAT_DAT12_UDAT_CONFIG_H

#ifdef SOFTDAT_DAT2_UDAT_CONFIG_H
#error "One translation unit speaks one DAT version: include either <dat/...> (1.2) or <dat2/...> (2.0)"
#endif

/** The version that dat_ia_open(3) asks the registry for. An entry must have this major version; its minor version may
 *  be larger. OFED's and illumos' registries want both equal. */
#define DAT_VERSION_MAJOR 1
#define DAT_VERSION_MINOR 2

/** DAT_TRUE asks dat_ia_open(3) for a provider that is thread safe throughout. With the default a portable program
 *  makes only the calls that say "Threads: safe" on one object from several threads at once. SoftDAT takes every call
 *  from every thread in either case. */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

#endif /* SOFTDAT_DAT12_UDAT_CONFIG_H */
