/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: everything that does not depend on being in user space. Programs include <dat/udat.h>. */
#ifndef SOFTDAT_DAT12_DAT_H
#define SOFTDAT_DAT12_DAT_H

#include <dat/dat_connection.h>
#include <dat/dat_endpoint.h>
#include <dat/dat_error.h>
#include <dat/dat_event.h>
#include <dat/dat_interface.h>
#include <dat/dat_memory.h>
#include <dat/dat_platform_specific.h>
#include <dat/dat_types.h>
#include <dat/dat_vendor_specific.h>

#endif /* SOFTDAT_DAT12_DAT_H */
