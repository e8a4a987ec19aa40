// SPDX-License-Identifier: BSD-2-Clause
// When a process started. The kernel gives the number of a process that has ended to another one; number and start
// together name one process.
#pragma once

#include <cstdint>
#include <optional>

namespace softdat::base {

// Clock ticks since boot, from a file such as /proc/PID/stat. Empty: the file cannot be read. The kernel tells a
// process of another time namespace another number. Any thread; a cancelled thread is not ended here.
std::optional<std::uint64_t> read_process_start(const char* stat_path);

}  // namespace softdat::base
