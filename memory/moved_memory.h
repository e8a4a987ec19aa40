// SPDX-License-Identifier: BSD-2-Clause
// The name of the file that registered memory is moved to (memory/arena.h).
#pragma once

namespace softdat::memory {

// The name given to memfd_create(), and how /proc/self/maps shows it. To the consumer, a mapping of this file is still
// private memory.
inline constexpr char kMovedMemory[] = "softdat-memory";
inline constexpr char kMovedMemoryPath[] = "/memfd:softdat-memory (deleted)";

}  // namespace softdat::memory
