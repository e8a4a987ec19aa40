// SPDX-License-Identifier: BSD-2-Clause
// Bytes written as a person reads them on the wire.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/tcp/segment.h"

namespace softdat::transport::tcp {

using Bytes = std::vector<std::byte>;

// "00 2e c1 41 ..." with blanks wherever they help; text in 'quotes' stands for itself.
Bytes hex(std::string_view text);
std::string to_hex(std::span<const std::byte> bytes);

Bytes operator+(const Bytes& a, const Bytes& b);

// A whole FPDU; `rest` is what stands behind the DDP header.
Bytes make_fpdu(const Segment& segment, const Bytes& rest = {}, bool has_crc = false);

}  // namespace softdat::transport::tcp
