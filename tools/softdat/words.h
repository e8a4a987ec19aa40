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

// What an error text adds: ", did you mean "WORD"?", or nothing for an empty word.
std::string did_you_mean(std::string_view word);
// The same for the candidate that the user probably meant (base::nearest_word); empty if there is none. Ignores letter
// case.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace softdat::tools
