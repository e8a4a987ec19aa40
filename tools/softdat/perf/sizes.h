// SPDX-License-Identifier: BSD-2-Clause
// The values of --size and --cpu, as a user writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdat::tools::perf {

// "8,4K,1M" or "1-8M" (doubling) or both; 1 to 1 GiB each. UsageError that says which word is wrong.
std::vector<std::uint64_t> parse_sizes(const std::string& text);

// "0,1" or "0-3": processors that this process may run on. UsageError that says which is not.
std::vector<int> parse_processors(const std::string& text);

}  // namespace softdat::tools::perf
