/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: the place for vendors' additions. SoftDAT has none; the name exists for programs that include it. */
#ifndef SOFTDAT_DAT12_DAT_VENDOR_SPECIFIC_H
#define SOFTDAT_DAT12_DAT_VENDOR_SPECIFIC_H

#include <dat/dat_platform_specific.h>

#endif /* SOFTDAT_DAT12_DAT_VENDOR_SPECIFIC_H */
