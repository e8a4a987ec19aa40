// SPDX-License-Identifier: BSD-2-Clause
// Where the system keeps files that are shared memory. Every user may make files there.
#pragma once

namespace softdat::base {

inline constexpr char kSharedMemoryDirectory[] = "/dev/shm";

}  // namespace softdat::base
