// SPDX-License-Identifier: BSD-2-Clause
// The name of the file that registered memory is moved to.
#pragma once

namespace softdat::base {

// The name given to memfd_create(), and how /proc/self/maps shows it. A mapping of this file is registered memory that
// memory/arena.h has moved: to the consumer it is still private memory.
inline constexpr char kMovedMemory[] = "softdat-memory";
inline constexpr char kMovedMemoryPath[] = "/memfd:softdat-memory (deleted)";

}  // namespace softdat::base
