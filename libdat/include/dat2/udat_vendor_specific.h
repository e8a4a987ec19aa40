/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: the place for vendors' additions in user space. SoftDAT has none. */
#ifndef SOFTDAT_DAT2_UDAT_VENDOR_SPECIFIC_H
#define SOFTDAT_DAT2_UDAT_VENDOR_SPECIFIC_H

#include <dat2/dat_vendor_specific.h>

#endif /* SOFTDAT_DAT2_UDAT_VENDOR_SPECIFIC_H */
