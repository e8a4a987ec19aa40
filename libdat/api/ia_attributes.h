// SPDX-License-Identifier: BSD-2-Clause
// What dat_ia_query answers: the adapter's limits and the provider's ways, in this API's layout.
#pragma once

#include "libdat/api/abi.h"
#include "libdat/api/registered_ia.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// Both write every member. The address inside is the adapter's own; the named attributes live as
// long as the process.
void write_ia_attributes(const object::AdapterAttributes& adapter, DAT_IA_ATTR& to);
void write_provider_attributes(const RegisteredIa& ia, const object::AdapterAttributes& adapter, DAT_PROVIDER_ATTR& to);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
