// SPDX-License-Identifier: BSD-2-Clause
// What opening an IA and opening a query by extension have in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "libdat/registry/registry.h"

namespace softdat::registry {

// A lease on the provider of a name, or nothing (the cause has been told). Only providers of the
// API that this library speaks are found.
[[nodiscard]] std::optional<Lease> open_provider(const std::string& ia_name, std::uint32_t major, std::uint32_t minor,
                                                 bool is_thread_safe);

// The function table that a provider's object names in its first word; the declared one when the
// object cannot be read.
[[nodiscard]] const void* table_of(const void* object, const Lease& lease);

// Set for good once an opened IA has said that it supports extensions (DAT 2.0 only).
extern std::atomic<bool> are_extensions_allowed [[gnu::visibility("hidden")]];

}  // namespace softdat::registry
