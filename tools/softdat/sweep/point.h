// SPDX-License-Identifier: BSD-2-Clause
// The points at which a program can meet a failure, as the faults that make it fail there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdat::tools::sweep {

// What becomes of each point in the log of `--fault note`: the statements of all faults that can fire there. Each is
// exact, and stands once.
std::vector<std::string> faults_at(const std::vector<std::string>& notes);

// So many of them, chosen by the seed, in their order. 0: all.
std::vector<std::string> sample(std::vector<std::string> faults, std::size_t count, std::uint64_t seed);

}  // namespace softdat::tools::sweep
