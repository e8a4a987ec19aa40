// SPDX-License-Identifier: BSD-2-Clause
// How far two words are apart, for "did you mean".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace softdat::base {

// The letters that have to be added, removed or replaced to make one word of the other. Throws std::bad_alloc.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, if so near that it was probably meant; else empty.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace softdat::base
