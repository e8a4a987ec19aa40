// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::tools {

// Opens every IA that dat.conf and both backends offer and prints what it is, or why it cannot be opened. Returns the
// exit status: 0 when at least one can.
int run_info();

}  // namespace softdat::tools
