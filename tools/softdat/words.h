// SPDX-License-Identifier: BSD-2-Clause
// Words that a user types: letter case, and the word that was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace softdat::tools {

// ASCII letters in lower case.
std::string lower_case(std::string_view text);

// The words between commas; none for an empty text.
std::vector<std::string> split_list(const std::string& text);

// The words, separated by ", ".
std::string join(const std::vector<std::string>& words);

// ", did you mean "X"?" for the candidate that differs from `word` by few typing mistakes; empty if there is none.
// Ignores letter case.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace softdat::tools
