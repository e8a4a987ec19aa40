// SPDX-License-Identifier: BSD-2-Clause
// One snapshot of a process's counters, decoded from bytes that may hold anything.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/counter_file.h"

namespace softdat::tools::observe {

struct Snapshot {
  base::SnapshotHead head{};
  base::EndpointSums sums{};  // of the process
  std::vector<base::IaRecord> ias;
  std::vector<base::EpRecord> eps;
  std::vector<base::EvdRecord> evds;
  std::vector<base::SrqRecord> srqs;
  std::vector<base::LmrRecord> lmrs;
  std::vector<base::FailureRecord> failures;
};

// `bytes` begins with a SnapshotHead. Empty if they are no snapshot of this version. Records of unknown kinds are
// skipped.
std::optional<Snapshot> decode(std::span<const std::byte> bytes);

// From one moment of CLOCK_MONOTONIC to a later one; 0 if it is not later.
double seconds(std::uint64_t from_ns, std::uint64_t to_ns);

std::uint64_t registered_bytes(const Snapshot& snapshot);

// The text without its end, control characters and everything but ASCII replaced by '?': it may go to a terminal.
std::string printable(std::string_view text);
template <std::size_t kSize>
std::string printable(const base::CounterText<kSize>& text) {
  const std::string_view whole(text.data(), kSize);
  return printable(whole.substr(0, whole.find('\0')));
}

}  // namespace softdat::tools::observe
