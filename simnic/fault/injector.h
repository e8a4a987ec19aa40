// SPDX-License-Identifier: BSD-2-Clause
// Injector: decides which faults of a plan fire. A decision is a function of the plan's seed, the names of process,
// adapter, endpoint and connection, and the number of the operation: never of time or thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fault_plan.h"
#include "simnic/fault/journal.h"

namespace softdat::simnic::fault {

// One moment at which faults may fire.
struct Point {
  base::FaultStage stage = base::FaultStage::kMessage;
  base::FaultOp op = base::FaultOp::kAny;
  std::uint32_t endpoint = 0;    // from 1 on, in the order of creation; 0: none
  std::uint32_t connection = 0;  // of the endpoint, from 1 on; 0: none
  // From 1 on: messages and receives of a connection, posts of an endpoint; of the other stages, of the same operation.
  std::uint64_t number = 0;
  std::uint64_t size = 0;  // bytes
  std::optional<base::IpAddress> peer{};
  bool has_srq = false;
};

// How often each rule of the plan has matched and fired: in one connection, at one endpoint, or in the adapter.
struct Counts {
  struct Row {
    std::uint64_t matched = 0;
    std::uint64_t fired = 0;
  };
  std::vector<Row> rows;
};

// Fixed after construction, but for the journal. Any thread, as far as nobody else uses the same Counts.
class Injector {
 public:
  // `process` names this process in the plan.
  Injector(base::FaultPlan plan, std::string process, std::string ia, std::shared_ptr<Journal> journal);

  // The rules that fire; without memory for the answer, none. Those of kinds that take more than the plan says are
  // noted by the caller, by note().
  std::vector<const base::FaultRule*> decide(const Point& point, Counts& counts) const;

  // Writes to the journal that the rule fired. `key` and `value` replace what the rule says ("at", "17").
  void note(const base::FaultRule& rule, const Point& point, const std::string& key = {},
            const std::string& value = {}) const;

  // A number that the seed, the rule and the point decide.
  std::uint64_t draw(const base::FaultRule& rule, const Point& point) const;

  const base::FaultPlan& plan() const { return plan_; }

 private:
  bool matches(const base::FaultRule& rule, const Point& point) const;
  bool fires(const base::FaultRule& rule, const Point& point, std::uint64_t matched) const;

  const base::FaultPlan plan_;
  const std::string process_;
  const std::string ia_;
  const std::shared_ptr<Journal> journal_;
};

// SOFTDAT_RUN_COPY, or else the program's name.
std::string process_name();

}  // namespace softdat::simnic::fault
