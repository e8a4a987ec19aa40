// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::tools {

struct InfoOutput {
  bool all = false;   // list also the adapters that cannot be opened, and why
  bool json = false;  // all of them, as JSON
};

// Opens every IA that dat.conf and both backends offer and prints it. Returns the exit status: success when at least
// one can be opened.
int run_info(const InfoOutput& output);

}  // namespace softdat::tools
