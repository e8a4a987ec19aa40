/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: the place for vendors' additions. SoftDAT has none; the name exists for programs that include it. */
#ifndef SOFTDAT_DAT2_DAT_VENDOR_SPECIFIC_H
#define SOFTDAT_DAT2_DAT_VENDOR_SPECIFIC_H

#include <dat2/dat_platform_specific.h>

#endif /* SOFTDAT_DAT2_DAT_VENDOR_SPECIFIC_H */
