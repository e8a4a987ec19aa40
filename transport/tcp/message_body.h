// SPDX-License-Identifier: BSD-2-Clause
// The RDMAP headers that stand behind the DDP header: Read Request (RFC 5040 section 4.4), Atomic
// Request and Response and Immediate Data (RFC 7306 sections 5 and 6). Pure codec; Terminate is in
// terminate.h.
#pragma once

#include <cstddef>
#include <span>

#include "transport/message.h"

namespace softdat::transport::tcp {

// Writes the body that the message's opcode asks for and returns its size (0 for most); `to` has
// room for 52 bytes.
std::size_t encode_body(const Message& message, std::byte* to);

// Fills the fields that stand in the body; `body` has the size that the opcode table says.
void decode_body(std::span<const std::byte> body, Message& message);

}  // namespace softdat::transport::tcp
