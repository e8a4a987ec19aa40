// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/injector.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/mix.h"

namespace softdat::simnic::fault {
namespace {

using base::FaultKind;
using base::FaultOp;
using base::FaultRule;
using base::FaultStage;
using base::mix;

std::string text_of(double number) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

// A value with a blank would be two words; such names cannot be selected either.
bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t\n;#") == text.npos;
}

void add(std::string& line, std::string_view key, const std::string& value) {
  line += ' ';
  line += key;
  line += '=' + value;
}

// The keys of the fault itself.
void add_own_keys(std::string& line, const FaultRule& rule, std::string_view replaced) {
  for (const std::string_view key : base::words_of(base::row_of(rule.kind).keys)) {
    if (key == replaced || key == "stage") continue;
    if (key == "ms" && rule.ms) add(line, key, text_of(*rule.ms));
    if (key == "at" && rule.at) add(line, key, std::to_string(*rule.at));
    if (key == "bit" && rule.bit) add(line, key, std::to_string(*rule.bit));
    if (key == "bytes") add(line, key, std::to_string(rule.bytes));
    if (key == "count") add(line, key, std::to_string(rule.count));
    if (key == "rate") add(line, key, std::to_string(rule.rate));
    const bool takes_word = key == "when" || key == "status" || key == "reason";
    if (takes_word && !rule.word.empty() && rule.stage == base::row_of(rule.kind).stage) add(line, key, rule.word);
  }
}

// Whether it makes something fail, and does not merely take time.
bool is_harmful(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNote:
    case FaultKind::kLateCompletions:
    case FaultKind::kDelay:
    case FaultKind::kJitter:
    case FaultKind::kReceiverNotReady:
    case FaultKind::kDrySrq:
    case FaultKind::kSpuriousWake:
      return false;
    default:
      return true;
  }
}

// Operations of these stages are counted apart from each other; of the others, together.
bool counts_by_operation(FaultStage stage) {
  return stage == FaultStage::kConnection || stage == FaultStage::kCreation;
}

}  // namespace

std::string process_name() {
  const char* const copy = std::getenv("SOFTDAT_RUN_COPY");
  return copy != nullptr && *copy != '\0' ? copy : program_invocation_short_name;
}

Injector::Injector(base::FaultPlan plan, std::string process, std::string ia, std::shared_ptr<Journal> journal)
    : plan_(std::move(plan)), process_(std::move(process)), ia_(std::move(ia)), journal_(std::move(journal)) {}

// A key that the rule does not give matches everything.
bool Injector::matches(const FaultRule& rule, const Point& point) const {
  if (rule.stage && *rule.stage != point.stage) return false;
  if (rule.op != FaultOp::kAny && rule.op != point.op) return false;
  if (rule.op == FaultOp::kAny && rule.kind != FaultKind::kNote) {
    const std::string_view name = base::name_of(point.op);
    bool is_allowed = false;
    for (const std::string_view op : base::words_of(base::row_of(rule.kind).ops)) is_allowed = is_allowed || op == name;
    if (!is_allowed) return false;
  }
  if (!rule.process.empty() && rule.process != process_) return false;
  if (!rule.ia.empty() && rule.ia != ia_) return false;
  if (rule.endpoint != 0 && rule.endpoint != point.endpoint) return false;
  if (rule.connection != 0 && rule.connection != point.connection) return false;
  if (rule.number != 0 && rule.number != point.number) return false;
  if (rule.peer && (!point.peer || rule.peer->with_port(0) != point.peer->with_port(0))) return false;
  if (point.size < rule.min_size || point.size > rule.max_size) return false;
  // An empty write or read has no key that the peer would look at.
  const bool has_key_by_size = point.op == FaultOp::kWrite || point.op == FaultOp::kRead;
  const bool needs_bytes =
      rule.kind == FaultKind::kCorruptPayload || (rule.kind == FaultKind::kFailRequest && has_key_by_size);
  if (needs_bytes && point.size == 0) return false;
  return rule.kind != FaultKind::kDrySrq || point.has_srq;
}

// A function of the seed and of names and counts that do not depend on timing: two runs draw the same.
std::uint64_t Injector::draw(const FaultRule& rule, const Point& point) const {
  std::uint64_t state = mix(plan_.seed ^ (static_cast<std::uint64_t>(&rule - plan_.rules.data()) << 32));
  state = mix(mix(state, process_), ia_);
  const std::uint64_t place = (static_cast<std::uint64_t>(point.stage) << 8) | static_cast<std::uint64_t>(point.op);
  state = mix(state ^ ((std::uint64_t{point.endpoint} << 32) | point.connection));
  return mix(mix(state ^ place) ^ point.number);
}

bool Injector::fires(const FaultRule& rule, const Point& point, std::uint64_t matched) const {
  if (rule.nth != 0) return matched == rule.nth;
  if (rule.every != 0) return matched % rule.every == 0;
  if (!rule.probability) return true;
  // The upper 53 bits of the draw, as many as a double holds exactly.
  constexpr double kRange = 0x1p53;
  return static_cast<double>(draw(rule, point) >> 11) < *rule.probability * kRange;
}

std::vector<const FaultRule*> Injector::decide(const Point& point, Counts& counts) const try {
  std::vector<const FaultRule*> fired;
  counts.rows.resize(plan_.rules.size());
  for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
    const FaultRule& rule = plan_.rules[i];
    if (!matches(rule, point)) continue;
    Counts::Row& row = counts.rows[i];
    // Counted even if the rule has used up its times, so `nth` and `every` mean the same all along.
    ++row.matched;
    if ((rule.times != 0 && row.fired == rule.times) || !fires(rule, point, row.matched)) continue;
    ++row.fired;
    fired.push_back(&rule);
  }
  return fired;
} catch (const std::bad_alloc&) {
  return {};
}

// Writes a statement that fires at this very place, so a journal is itself a plan.
void Injector::note(const FaultRule& rule, const Point& point, const std::string& key, const std::string& value) const
    try {
  std::string line(base::row_of(rule.kind).name);
  if (is_word(process_)) add(line, "process", process_);
  if (is_word(ia_)) add(line, "ia", ia_);
  if (point.endpoint != 0) add(line, "endpoint", std::to_string(point.endpoint));
  if (point.connection != 0) add(line, "connection", std::to_string(point.connection));
  if (rule.kind == FaultKind::kNote) add(line, "stage", std::string(base::name_of(point.stage)));
  if (counts_by_operation(point.stage)) add(line, "op", std::string(base::name_of(point.op)));
  add(line, "number", std::to_string(point.number));
  add_own_keys(line, rule, key);
  if (!key.empty()) add(line, key, value);
  line += "  # " + std::string(base::name_of(point.op));
  if (point.size != 0) line += " of " + std::to_string(point.size) + " bytes";
  // The library's words about a failure do not know that it was made on purpose.
  const auto level = is_harmful(rule.kind) ? base::LogLevel::kNotice : base::LogLevel::kTrace;
  base::log(level, "fault: %s", line.c_str());
  journal_->add(std::move(line));
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace softdat::simnic::fault
