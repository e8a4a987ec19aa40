// SPDX-License-Identifier: BSD-2-Clause
// Memory that a peer reads and writes. What orders that with the consumer's own accesses is a completion that may have
// come through memory which two processes share, and which the race checker does not follow; so these look away from
// it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::conformance {

bool are_same_bytes(const unsigned char* one, const unsigned char* other, std::size_t length);
// `word` is aligned.
std::uint64_t foreign_word(const unsigned char* word);
void set_foreign_word(unsigned char* word, std::uint64_t value);

}  // namespace softdat::conformance
