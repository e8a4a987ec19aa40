// SPDX-License-Identifier: BSD-2-Clause
// SOFTDAT_UNJUDGED: an attribute of functions that access memory which a peer or a device writes meanwhile. What orders
// these accesses is nothing that ThreadSanitizer sees, so it judges none of them, atomic ones included.
#pragma once

#if defined(__clang__) && defined(__SANITIZE_THREAD__)
// Clang's no_sanitize("thread") leaves atomic accesses judged, and clang inlines the function where others are.
#define SOFTDAT_UNJUDGED __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define SOFTDAT_UNJUDGED __attribute__((no_sanitize("thread")))
#endif
