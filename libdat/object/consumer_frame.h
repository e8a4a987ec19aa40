// SPDX-License-Identifier: BSD-2-Clause
// Which code of the consumer's has called.
#pragma once

namespace softdat::object {

// The provider's and the registries' own code: the consumer's lies above it on the stack.
bool is_our_code(const void* address);

// The innermost address on this thread's stack that is not ours; null when there is none. Slow.
const void* find_consumer_frame();

}  // namespace softdat::object
