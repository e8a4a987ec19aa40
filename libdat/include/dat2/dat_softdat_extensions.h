/* SPDX-License-Identifier: BSD-2-Clause */
/* Extensions of DAT 2.0 that SoftDAT alone has. Another provider answers them with DAT_NOT_IMPLEMENTED. */
#ifndef SOFTDAT_DAT2_DAT_SOFTDAT_EXTENSIONS_H
#define SOFTDAT_DAT2_DAT_SOFTDAT_EXTENSIONS_H

#include <dat2/udat.h>

typedef enum dat_softdat_op { DAT_SOFTDAT_LAST_FAILURE_OP = 0x4d01 } DAT_SOFTDAT_OP;

/* Writes what the last failure of the endpoint was, in words that end in a null byte, into `text`, which has room for
 * `size` bytes (1024 are enough for most); "" if nothing has failed. Told whatever SOFTDAT_LOG says, but places of
 * calls are among the words only with SOFTDAT_LOG=notice. */
#define dat_softdat_last_failure(ep, text, size)                                                         \
  dat_extension_op(DAT_CAST_(DAT_EP_HANDLE, ep), DAT_CAST_(DAT_SOFTDAT_OP, DAT_SOFTDAT_LAST_FAILURE_OP), \
                   DAT_CAST_(char*, text), DAT_CAST_(DAT_COUNT, size))

#endif
