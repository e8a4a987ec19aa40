// SPDX-License-Identifier: BSD-2-Clause
// Reads this process's own memory at addresses that may not exist. A consumer's wild pointer is an
// error code, never a fault. Any thread; each call costs a system call, so nothing here belongs on
// the data path of our own provider.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace softdat::registry {

// Copies `size` bytes from `address`; false, with `destination` undefined, when any of them cannot
// be read.
[[nodiscard]] bool read_self(const void* address, void* destination, std::size_t size);

// The same where the kernel or a sandbox refuses process_vm_readv; read_self() turns to it by itself.
// Unlike it, this can lose a race against a thread that unmaps the memory meanwhile.
[[nodiscard]] bool read_self_by_probing(const void* address, void* destination, std::size_t size);

// The NUL-terminated text at `text`, or nothing when it is unreadable or longer than `longest`.
[[nodiscard]] std::optional<std::string> read_text(const char* text, std::size_t longest);

}  // namespace softdat::registry
