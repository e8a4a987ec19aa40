// SPDX-License-Identifier: BSD-2-Clause
// A fault plan: which faults fire, where and when. Its text is statements, one a line or separated by ";":
//   seed=7
//   drop-connection endpoint=2 op=write nth=5   # a comment
// docs/FAULTS.md has the reference. Throws std::bad_alloc only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault_kinds.h"
#include "base/ip_address.h"
#include "base/result.h"

namespace softdat::base {

// One statement. 0, or an empty text, of a selector: every one.
struct FaultRule {
  FaultKind kind = FaultKind::kNote;
  std::optional<FaultStage> stage{};  // empty, of kNote: every one
  FaultOp op = FaultOp::kAny;
  std::string process{};
  std::string ia{};
  std::uint32_t endpoint = 0;
  std::uint32_t connection = 0;
  std::optional<IpAddress> peer{};
  std::uint64_t number = 0;  // of the operation in its scope; nth counts those that match
  std::uint64_t nth = 0;
  std::uint64_t every = 0;
  std::uint64_t times = 0;
  std::optional<double> probability{};
  std::uint64_t min_size = 0;
  std::uint64_t max_size = ~std::uint64_t{0};
  // What the fault takes.
  std::optional<double> ms{};
  std::optional<std::uint64_t> at{};
  std::optional<std::uint64_t> bit{};
  std::uint64_t bytes = 0;
  std::uint64_t count = 1;
  std::uint64_t rate = 0;  // bytes in a second
  std::string word{};      // of when=, status= or reason=
  std::size_t line = 0;    // from 1 on
};

struct FaultPlan {
  std::uint64_t seed = 0;
  std::vector<FaultRule> rules{};
};

struct FaultPlanMistake {
  std::size_t line = 0;  // from 1 on
  std::string text{};    // names the word, what is allowed, and what was probably meant
};

Result<FaultPlan, FaultPlanMistake> read_fault_plan(std::string_view text);

// The only transport that can make the fault; empty: every one.
std::string_view transport_of(const FaultRule& rule);
// Why another one cannot: "drop-connection when=within changes bytes on a wire, which transport auto does not have for
// sure".
std::string wire_text(const FaultRule& rule, std::string_view transport);

// Adds what `key` and `value` say to the rule, as a word key=value of a statement does. The text of a mistake
// otherwise.
std::optional<std::string> set_fault_key(FaultRule& rule, std::string_view key, std::string_view value);

}  // namespace softdat::base
