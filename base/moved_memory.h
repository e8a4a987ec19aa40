// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::base {

// The name of the file to which registered private memory is moved in place (memory/arena.h), as the
// kernel tells it of a mapping. Such memory is private as far as the consumer is concerned.
inline constexpr char kMovedMemory[] = "softdat-memory";
inline constexpr char kMovedMemoryPath[] = "/memfd:softdat-memory (deleted)";

}  // namespace softdat::base
