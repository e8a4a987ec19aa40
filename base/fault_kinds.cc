// SPDX-License-Identifier: BSD-2-Clause
#include "base/fault_kinds.h"

#include <algorithm>
#include <cstddef>

namespace softdat::base {
namespace {

using enum FaultStage;

constexpr std::string_view kRequests = "send write read atomic";
constexpr std::string_view kAnyOp = "send write read atomic bind recv connect accept pz lmr rmr evd ep srq psp wait";

// In the order of enum FaultKind.
constexpr std::array<FaultKindRow, 26> kKinds{{
    {"note", kMessage, kAnyOp, "stage", "", "message arrival connection creation post wait", ""},
    {"drop-connection", kMessage, "send write read atomic connect accept", "when", "", "before after within", ""},
    {"break-endpoint", kMessage, kRequests, "when", "", "before after", ""},
    {"fail-request", kMessage, kRequests, "", "", "", ""},
    {"fail-adapter", kMessage, kRequests, "", "", "", ""},
    {"corrupt-payload", kMessage, "send write", "at bit", "", "", ""},
    {"corrupt-header", kMessage, kRequests, "at bit", "", "", "tcp"},
    {"late-completions", kMessage, "send write", "ms", "ms", "", ""},
    {"delay", kMessage, kRequests, "ms", "ms", "", ""},
    {"jitter", kMessage, kRequests, "ms", "ms", "", ""},
    {"limit-rate", kMessage, kRequests, "rate", "rate", "", ""},
    {"flap", kMessage, kRequests, "ms", "ms", "", ""},
    {"stop-peer", kMessage, kRequests, "ms", "", "", ""},
    {"partition", kMessage, "send write read atomic connect", "ms", "", "", ""},
    {"fail-receive", kArrival, "recv", "status", "", "protection length", ""},
    {"receiver-not-ready", kArrival, "recv", "ms count", "", "", ""},
    {"dry-srq", kArrival, "recv", "ms count", "", "", ""},
    {"overflow-evd", kArrival, "recv", "", "", "", ""},
    {"spurious-wake", kArrival, "recv", "", "", "", ""},
    {"refuse-connect", kConnection, "connect", "reason", "", "no-listener rejected unreachable", ""},
    {"ignore-connect", kConnection, "connect", "", "", "", ""},
    {"delay-connect", kConnection, "connect", "ms", "ms", "", ""},
    {"cut-private-data", kConnection, "connect accept", "bytes", "", "", ""},
    {"fail-create", kCreation, "pz lmr rmr evd ep srq psp", "reason", "", "memory limit protection", ""},
    {"fail-post", kPost, "send write read atomic bind recv", "reason", "", "limit memory protection", ""},
    {"fail-wait", kWait, "wait", "reason", "", "interrupted timeout", ""},
}};

constexpr std::array<std::string_view, 17> kOps{"any",  "send",    "write",  "read", "atomic", "bind",
                                                "recv", "connect", "accept", "pz",   "lmr",    "rmr",
                                                "evd",  "ep",      "srq",    "psp",  "wait"};
constexpr std::array<std::string_view, 6> kStages{"message", "arrival", "connection", "creation", "post", "wait"};

template <typename Value, std::size_t kSize>
std::optional<Value> find_in(const std::array<std::string_view, kSize>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Value>(found - names.begin());
}

}  // namespace

const FaultKindRow& row_of(FaultKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

std::optional<FaultKind> find_fault_kind(std::string_view name) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].name == name) return static_cast<FaultKind>(i);
  }
  return std::nullopt;
}

std::vector<std::string_view> fault_kind_names() {
  std::vector<std::string_view> names;
  for (const FaultKindRow& row : kKinds) names.push_back(row.name);
  return names;
}

std::string_view name_of(FaultOp op) {
  return kOps[static_cast<std::size_t>(op)];
}

std::optional<FaultOp> find_fault_op(std::string_view name) {
  return find_in<FaultOp>(kOps, name);
}

std::string_view name_of(FaultStage stage) {
  return kStages[static_cast<std::size_t>(stage)];
}

std::optional<FaultStage> find_fault_stage(std::string_view name) {
  return find_in<FaultStage>(kStages, name);
}

// The lists of the tables are blank separated, because a constexpr table cannot hold vectors.
std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

}  // namespace softdat::base
