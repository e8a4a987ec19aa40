// SPDX-License-Identifier: BSD-2-Clause
// Want of file descriptors: how it is told, and the sentence for what fails because of it.
#pragma once

#include <cerrno>
#include <string>

#include "base/clock.h"

namespace softdat::base {

// Whether a system call failed with `error` because neither this process nor the system has a descriptor, or the memory
// for one, to spare. Later it may.
inline bool is_short_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// A system call that was to open a descriptor has failed with `error`. Any thread. Allocates nothing.
void note_descriptor_shortage(int error);

// Whether one was noted no longer ago than that. Any thread.
bool was_short_of_descriptors(Duration ago);

// "this process has too few file descriptors (Too many open files; its limit is 16): raise the limit (ulimit -n)", of
// the shortage that was noted last. Throws std::bad_alloc.
std::string shortage_text();

}  // namespace softdat::base
