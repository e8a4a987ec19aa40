// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cerrno>

namespace softdat::base {

// Whether a system call failed with `error` because neither this process nor the system has a descriptor, or the memory
// for one, to spare. Later it may.
inline bool is_short_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace softdat::base
