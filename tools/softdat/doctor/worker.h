// SPDX-License-Identifier: BSD-2-Clause
// A child of `softdat doctor` that tries the simulated adapter as the environment has it.
#pragma once

namespace softdat::tools::doctor {

// The last line that the child prints when all went well; otherwise that line says what failed.
inline constexpr const char* kWorks = "works";
// How lines begin that the library said meanwhile.
inline constexpr const char* kRemark = "remark: ";

// Opens sim0, connects two endpoints of it, and writes by RDMA from one to the other. Returns the exit status.
int run_worker();

}  // namespace softdat::tools::doctor
