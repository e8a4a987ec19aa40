// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::api {

// Where the consumer made the call that returns to `address`, as far as our caller sees: that of a registry, where the
// compiler did not have it jump, or the consumer's. Any thread.
const void* calling_place(const void* address);

}  // namespace softdat::api
