/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: the place for vendors' additions in user space. SoftDAT has none. */
#ifndef SOFTDAT_DAT12_UDAT_VENDOR_SPECIFIC_H
#define SOFTDAT_DAT12_UDAT_VENDOR_SPECIFIC_H

#include <dat/dat_vendor_specific.h>

#endif /* SOFTDAT_DAT12_UDAT_VENDOR_SPECIFIC_H */
