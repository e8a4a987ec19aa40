// SPDX-License-Identifier: BSD-2-Clause
// The examinations of `softdat doctor`. Each looks at one thing and changes nothing.
#pragma once

#include <string>

#include "tools/softdat/doctor/finding.h"

namespace softdat::tools::doctor {

// checks_system.cc: what the kernel, a container or a shell limits.
Findings check_kernel();
Findings check_shared_memory();
Findings check_system_calls();
Findings check_limits();
Findings check_container();

// checks_dat.cc: libraries, dat.conf, settings, and the simulated adapter itself, over each carrier.
Findings check_libraries();
Findings check_dat_conf();
Findings check_adapter();
Findings check_devices();

// checks_program.cc: which DAT library the program loads, with and without `softdat run`.
Findings check_program(const std::string& word);

}  // namespace softdat::tools::doctor
