/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: everything that does not depend on being in user space. Programs include <dat2/udat.h>. */
#ifndef SOFTDAT_DAT2_DAT_H
#define SOFTDAT_DAT2_DAT_H

#include <dat2/dat_connection.h>
#include <dat2/dat_endpoint.h>
#include <dat2/dat_error.h>
#include <dat2/dat_event.h>
#include <dat2/dat_interface.h>
#include <dat2/dat_memory.h>
#include <dat2/dat_platform_specific.h>
#include <dat2/dat_types.h>
#include <dat2/dat_vendor_specific.h>

#endif /* SOFTDAT_DAT2_DAT_H */
