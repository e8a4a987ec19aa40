// SPDX-License-Identifier: BSD-2-Clause
// A valid stream: each opcode that goes on the wire, the atomics and immediate data among them, a note, and messages
// that interleave.
#pragma once

#include <cstdint>

#include "tests/transport/tcp/bytes.h"

namespace softdat::transport::tcp {

// `bulk`: payload of the largest segment.
Bytes one_of_everything(bool has_crc, std::uint32_t bulk = 20000);

}  // namespace softdat::transport::tcp
