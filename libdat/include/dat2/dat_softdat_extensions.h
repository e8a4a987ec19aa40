/* SPDX-License-Identifier: BSD-2-Clause */
/* Extensions of DAT 2.0 that SoftDAT alone has. Another provider answers them with DAT_NOT_IMPLEMENTED. */
#ifndef SOFTDAT_DAT2_DAT_SOFTDAT_EXTENSIONS_H
#define SOFTDAT_DAT2_DAT_SOFTDAT_EXTENSIONS_H

#include <dat2/udat.h>

/** Numbers of the operations, for dat_extension_op(3). */
typedef enum dat_softdat_op { DAT_SOFTDAT_LAST_FAILURE_OP = 0x4d01 } DAT_SOFTDAT_OP;

/** Writes the last failure of the endpoint, as a line of words that ends in a null byte, into `text`, which has room
 *  for `size` bytes and stays the program's (1024 are enough for most; a longer line is cut); "" if nothing has failed.
 *  Told whatever SOFTDAT_LOG says, but places of calls are among the words only with SOFTDAT_LOG=notice.
 *  Errors: INVALID_HANDLE (no EP), INVALID_PARAMETER (NULL text; size below 1), INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_ib_extensions(3). */
#define dat_softdat_last_failure(ep, text, size)                                                         \
  dat_extension_op(DAT_CAST_(DAT_EP_HANDLE, ep), DAT_CAST_(DAT_SOFTDAT_OP, DAT_SOFTDAT_LAST_FAILURE_OP), \
                   DAT_CAST_(char*, text), DAT_CAST_(DAT_COUNT, size))

#endif
