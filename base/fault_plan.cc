// SPDX-License-Identifier: BSD-2-Clause
#include "base/fault_plan.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <utility>

#include "base/edit_distance.h"

namespace softdat::base {
namespace {

using Problem = std::optional<std::string>;

// The words of a plan as a message shows them: long ones cut, and bytes that a terminal would obey as \xNN.
std::string shown(std::string_view word) {
  constexpr std::size_t kMostShown = 64;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char letter : word.substr(0, kMostShown)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 0x20 && byte < 0x7f) {
      text += letter;
    } else {
      text += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
    }
  }
  return word.size() > kMostShown ? text + "..." : text;
}

std::string quoted(std::string_view word) {
  return '"' + shown(word) + '"';
}

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

// "X" is no SUCH_THING[, did you mean "Y"?]; ALLOWED are: ...
std::string unknown_word(std::string_view word, std::string_view thing, std::span<const std::string_view> allowed) {
  std::string text = quoted(word) + " is no " + std::string(thing);
  const std::string_view nearest = nearest_word(word, allowed);
  if (!nearest.empty()) text += ", did you mean " + quoted(nearest) + "?";
  return text + "; allowed: " + listed(allowed);
}

template <typename Number>
std::optional<Number> read_whole(std::string_view text) {
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

template <typename Number>
Problem set_number(std::string_view key, std::string_view text, Number least, Number most, Number& value) {
  const auto number = read_whole<Number>(text);
  if (!number || *number < least || *number > most) {
    std::string problem = std::string(key) + '=' + shown(text) + ": a whole number from " + std::to_string(least);
    const bool has_end = most != std::numeric_limits<Number>::max();
    return problem + (has_end ? " to " + std::to_string(most) : " on") + " is allowed";
  }
  value = *number;
  return std::nullopt;
}

Problem set_real(std::string_view key, std::string_view text, double most, std::optional<double>& value) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || !(number >= 0 && number <= most)) {
    return std::string(key) + '=' + shown(text) + ": a number from 0 to " +
           std::to_string(static_cast<std::uint64_t>(most)) + " is allowed";
  }
  value = number;
  return std::nullopt;
}

Problem set_op(FaultRule& rule, std::string_view value) {
  const auto allowed = words_of(row_of(rule.kind).ops);
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), value) != allowed.end();
  if (!is_allowed) return "op=" + unknown_word(value, "operation of this fault", allowed);
  rule.op = *find_fault_op(value);
  // A note fires at every stage unless stage= names one, so its operation does not decide.
  if (rule.kind == FaultKind::kNote) return std::nullopt;
  const bool begins = rule.op == FaultOp::kConnect || rule.op == FaultOp::kAccept;
  rule.stage = begins ? FaultStage::kConnection : row_of(rule.kind).stage;
  return std::nullopt;
}

Problem set_word(FaultRule& rule, std::string_view key, std::string_view value) {
  const auto allowed = words_of(row_of(rule.kind).words);
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), value) != allowed.end();
  if (!is_allowed) return std::string(key) + '=' + unknown_word(value, "value of this key", allowed);
  rule.word = value;
  if (key == "stage") rule.stage = find_fault_stage(value);
  return std::nullopt;
}

Problem set_peer(FaultRule& rule, std::string_view value) {
  rule.peer = read_ip_address(std::string(value));
  if (rule.peer) return std::nullopt;
  return "peer=" + shown(value) + ": an IP address is allowed, such as 10.77.0.2";
}

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr double kDay = 86'400'000;  // in ms

// REQUIRES: the key is one of kFaultSelectors. Names of processes and adapters are free text.
Problem set_selector(FaultRule& rule, std::string_view key, std::string_view value) {
  if (key == "process") rule.process = value;
  if (key == "ia") rule.ia = value;
  if (key == "endpoint") return set_number(key, value, std::uint32_t{1}, kMost32, rule.endpoint);
  if (key == "connection") return set_number(key, value, std::uint32_t{1}, kMost32, rule.connection);
  if (key == "peer") return set_peer(rule, value);
  if (key == "op") return set_op(rule, value);
  if (key == "number") return set_number(key, value, std::uint64_t{1}, kMost, rule.number);
  if (key == "nth") return set_number(key, value, std::uint64_t{1}, kMost, rule.nth);
  if (key == "every") return set_number(key, value, std::uint64_t{1}, kMost, rule.every);
  if (key == "times") return set_number(key, value, std::uint64_t{1}, kMost, rule.times);
  if (key == "probability") return set_real(key, value, 1, rule.probability);
  if (key == "min-size") return set_number(key, value, std::uint64_t{0}, kMost, rule.min_size);
  if (key == "max-size") return set_number(key, value, std::uint64_t{0}, kMost, rule.max_size);
  return std::nullopt;
}

Problem set_own_key(FaultRule& rule, std::string_view key, std::string_view value) {
  if (key == "ms") return set_real(key, value, kDay, rule.ms);
  if (key == "rate") return set_number(key, value, std::uint64_t{1}, kMost, rule.rate);
  if (key == "bytes") return set_number(key, value, std::uint64_t{0}, std::uint64_t{128}, rule.bytes);
  if (key == "count") return set_number(key, value, std::uint64_t{1}, std::uint64_t{1'000'000}, rule.count);
  std::uint64_t number = 0;
  if (key == "at" || key == "bit") {
    const auto problem = set_number(key, value, std::uint64_t{0}, key == "bit" ? std::uint64_t{7} : kMost, number);
    if (!problem) (key == "at" ? rule.at : rule.bit) = number;
    return problem;
  }
  return set_word(rule, key, value);
}

std::vector<std::string_view> keys_of(FaultKind kind) {
  auto keys = words_of(kFaultSelectors);
  for (const std::string_view own : words_of(row_of(kind).keys)) keys.push_back(own);
  return keys;
}

// The stage at which the fault fires. Nothing: a note, at each.
std::optional<FaultStage> stage_of(const FaultRule& rule) {
  if (rule.stage || rule.kind == FaultKind::kNote) return rule.stage;
  return row_of(rule.kind).stage;
}

// Keys that select nothing at the stage, so that the fault would never fire.
std::string_view useless_keys(FaultStage stage) {
  switch (stage) {
    case FaultStage::kCreation:
      return "endpoint connection peer";
    case FaultStage::kPost:
      return "connection peer";
    case FaultStage::kConnection:
      return "connection";
    case FaultStage::kArrival:
      return "min-size max-size";  // a receive is matched before the size is known
    case FaultStage::kWait:
      return "endpoint connection peer min-size max-size";
    case FaultStage::kMessage:
      break;
  }
  return "";
}

// Whether an operation can be met at the stage.
bool has_operation(FaultStage stage, FaultOp op) {
  if (op == FaultOp::kAny) return true;
  const auto goes_with = [&](FaultKind kind) {
    const auto ops = words_of(row_of(kind).ops);
    return std::find(ops.begin(), ops.end(), name_of(op)) != ops.end();
  };
  switch (stage) {
    case FaultStage::kCreation:
      return goes_with(FaultKind::kFailCreate);
    case FaultStage::kPost:
      return goes_with(FaultKind::kFailPost);
    case FaultStage::kConnection:
      return goes_with(FaultKind::kCutPrivateData);
    case FaultStage::kArrival:
      return goes_with(FaultKind::kFailReceive);
    case FaultStage::kWait:
      return goes_with(FaultKind::kFailWait);
    case FaultStage::kMessage:
      break;
  }
  return goes_with(FaultKind::kDelay);
}

// Keys that would keep the fault from ever firing.
Problem check_selectors(const FaultRule& rule, std::span<const std::string_view> given) {
  if (rule.min_size > rule.max_size) return std::string("min-size= is above max-size=");
  const auto stage = stage_of(rule);
  if (!stage) return std::nullopt;
  for (const std::string_view key : words_of(useless_keys(*stage))) {
    if (std::find(given.begin(), given.end(), key) == given.end()) continue;
    return std::string(key) + "= selects nothing at the stage " + std::string(name_of(*stage)) +
           ", where the fault fires; leave it out";
  }
  if (has_operation(*stage, rule.op)) return std::nullopt;
  return "op=" + std::string(name_of(rule.op)) + " does not occur at the stage " + std::string(name_of(*stage));
}

// Returns what the statement lacks, or says twice over.
Problem check(const FaultRule& rule, std::span<const std::string_view> given) {
  const auto has = [&](std::string_view key) { return std::find(given.begin(), given.end(), key) != given.end(); };
  for (const std::string_view key : words_of(row_of(rule.kind).required)) {
    if (!has(key)) {
      return std::string(row_of(rule.kind).name) + " needs " + std::string(key) + "=, as in " + std::string(key) +
             "=10";
    }
  }
  // They answer the same question: which of the matching operations are hit.
  const int ways = (rule.nth != 0 ? 1 : 0) + (rule.every != 0 ? 1 : 0) + (rule.probability ? 1 : 0);
  if (ways > 1) return std::string("one of nth=, every= and probability= is allowed");
  const bool begins = rule.stage == FaultStage::kConnection;
  if (rule.kind == FaultKind::kDropConnection && begins && !rule.word.empty()) {
    return std::string("when= does not go with op=connect and op=accept, which drop a connection as it begins");
  }
  return check_selectors(rule, given);
}

Problem read_statement(std::span<const std::string_view> words, FaultPlan& plan, std::size_t line, bool& has_seed) {
  const std::string_view first = words.front();
  if (first.starts_with("seed=")) {
    if (words.size() > 1) return quoted(words[1]) + " stands behind seed=, which is a statement of its own";
    if (std::exchange(has_seed, true)) return std::string("seed= is given twice");
    return set_number("seed", first.substr(5), std::uint64_t{0}, kMost, plan.seed);
  }
  const auto kind = find_fault_kind(first);
  if (!kind) return unknown_word(first, "fault", fault_kind_names());
  FaultRule rule;
  rule.kind = *kind;
  rule.line = line;
  std::vector<std::string_view> given;
  for (const std::string_view word : words.subspan(1)) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) return quoted(word) + " is not KEY=VALUE";
    const std::string_view key = word.substr(0, equals);
    if (std::find(given.begin(), given.end(), key) != given.end()) return quoted(key) + " is given twice";
    if (auto problem = set_fault_key(rule, key, word.substr(equals + 1))) return problem;
    given.push_back(key);
  }
  if (auto problem = check(rule, given)) return problem;
  if (!rule.stage && rule.kind != FaultKind::kNote) rule.stage = row_of(rule.kind).stage;
  // The first allowed word is the default.
  const auto words_allowed = words_of(row_of(rule.kind).words);
  if (rule.word.empty() && !words_allowed.empty()) rule.word = words_allowed.front();
  plan.rules.push_back(std::move(rule));
  return std::nullopt;
}

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r';
}

bool is_control(char letter) {
  return (static_cast<unsigned char>(letter) < 0x20 && !is_blank(letter)) || letter == 0x7f;
}

std::vector<std::string_view> split(std::string_view statement) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < statement.size();) {
    while (at < statement.size() && is_blank(statement[at])) ++at;
    std::size_t end = at;
    while (end < statement.size() && !is_blank(statement[end])) ++end;
    if (end > at) words.push_back(statement.substr(at, end - at));
    at = end;
  }
  return words;
}

bool is_drop_within(const FaultRule& rule) {
  return rule.kind == FaultKind::kDropConnection && rule.word == "within";
}

// Takes the text before the first `mark`, and the mark. Without a mark, takes all of it.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

}  // namespace

std::string_view transport_of(const FaultRule& rule) {
  return is_drop_within(rule) ? "tcp" : row_of(rule.kind).transport;
}

std::string wire_text(const FaultRule& rule, std::string_view transport) {
  return std::string(row_of(rule.kind).name) + (is_drop_within(rule) ? " when=within" : "") +
         " changes bytes on a wire, which transport " + std::string(transport) + " does not have for sure";
}

// For plans and for options of the tool: both read one key at a time.
std::optional<std::string> set_fault_key(FaultRule& rule, std::string_view key, std::string_view value) {
  const auto allowed = keys_of(rule.kind);
  if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
    return unknown_word(key, "key of " + std::string(row_of(rule.kind).name), allowed);
  }
  if (value.empty()) return quoted(key) + " has no value";
  const auto own = words_of(row_of(rule.kind).keys);
  const bool is_own = std::find(own.begin(), own.end(), key) != own.end();
  return is_own ? set_own_key(rule, key, value) : set_selector(rule, key, value);
}

Result<FaultPlan, FaultPlanMistake> read_fault_plan(std::string_view text) {
  FaultPlan plan;
  bool has_seed = false;
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::string_view rest = take_until(text, '\n');
    // A line holds statements separated by ";", and ends with a comment after "#".
    std::string_view statements = take_until(rest, '#');
    // A zero byte would end the variable that takes the plan to the programs.
    const auto control = std::find_if(statements.begin(), statements.end(), is_control);
    if (control != statements.end()) {
      return Failure{FaultPlanMistake{line, quoted({&*control, 1}) + " is a control character; a plan is text"}};
    }
    while (!statements.empty()) {
      const auto words = split(take_until(statements, ';'));
      if (words.empty()) continue;
      if (auto problem = read_statement(words, plan, line, has_seed)) {
        return Failure{FaultPlanMistake{line, std::move(*problem)}};
      }
    }
  }
  return plan;
}

}  // namespace softdat::base
