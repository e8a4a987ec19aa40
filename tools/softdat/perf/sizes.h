// SPDX-License-Identifier: BSD-2-Clause
// Lists and numbers as a user writes them on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdat::tools::perf {

// The words between commas; none for an empty text.
std::vector<std::string> split_list(const std::string& text);

// "8,4K,1M" or "1-8M" (doubling) or both; 1 to 1 GiB each. Failure that says which word is wrong.
std::vector<std::uint64_t> parse_sizes(const std::string& text);

// "0,1" or "0-3": processors that this process may run on. Failure that says which is not.
std::vector<int> parse_processors(const std::string& text);

}  // namespace softdat::tools::perf
