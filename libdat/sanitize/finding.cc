// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/finding.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <new>
#include <tuple>

#include "base/environment.h"
#include "base/log.h"
#include "base/per_process.h"
#include "base/runner.h"
#include "base/uncancelled.h"
#include "libdat/sanitize/lock_places.h"
#include "libdat/sanitize/settings.h"
#include "libdat/sanitize/suppressions.h"

namespace softdat::sanitize {
namespace {

// More would hide the first.
constexpr std::size_t kMostTold = 1000;

using Key = std::tuple<Rule, const void*, const void*>;

struct Told {
  std::size_t number = 0;  // in the order of the findings; 0: suppressed
  std::uint64_t times = 0;
};

class Book {
 public:
  // Cheap: a finding that was told already is counted without its texts being made.
  bool count_again(const Key& key) {
    const auto found = told_.find(key);
    if (found == told_.end()) return false;
    ++found->second->times;
    return true;
  }

  void add(const Key& key, const Finding& finding) {
    if (const auto found = told_.find(key); found != told_.end()) {
      ++found->second->times;
      return;
    }
    // Beyond the limit findings are neither told nor counted.
    if (told_.size() >= kMostTold) return;
    std::vector<std::string> places;
    for (const Step& step : finding.steps) places.push_back(text_of(step.site));
    // Several addresses may be one line of a source.
    std::string text = text_of(finding.rule).name;
    for (const std::string& place : places) text += '\n' + place;
    Told& told = by_text_[text];
    told_[key] = &told;
    if (++told.times > 1) return;
    if (suppressions_.matches(text_of(finding.rule).name, places)) return;
    told.number = ++findings_;
    print(finding, places);
    tell(finding, places, told.number);
  }

  // At the end of the process; findings that were suppressed do not count.
  void tell_counts() {
    if (findings_ == 0) return;
    std::uint64_t times = 0;
    std::string lines;
    for (const auto& [text, told] : by_text_) {
      if (told.number == 0) continue;
      times += told.times;
      if (told.times == 1) continue;
      lines += "repeated\t" + std::to_string(::getpid()) + '\t' + std::to_string(told.number) + '\t' +
               std::to_string(told.times) + '\n';
    }
    const std::string head = "softdat[" + std::to_string(::getpid()) + "] sanitizer: ";
    base::write_line(head + std::to_string(findings_) + (findings_ == 1 ? " finding, " : " findings, ") +
                     std::to_string(times) + (times == 1 ? " time\n" : " times\n"));
    base::tell_runner(lines);
  }

 private:
  static void print(const Finding& finding, const std::vector<std::string>& places) {
    const RuleText& rule = text_of(finding.rule);
    const std::string head = "softdat[" + std::to_string(::getpid()) + "] sanitizer: ";
    const char* const kind = rule.severity == Severity::kError ? "" : "advice: ";
    std::string text = head + kind + rule.name + ": " + finding.what + '\n';
    for (std::size_t i = 0; i < places.size(); ++i) {
      text += head + "  " + finding.steps[i].verb + " by " + places[i] + '\n';
    }
    text += head + "  rule: " + rule.rule + '\n' + head + "  remedy: " + rule.remedy + '\n';
    base::write_line(text);
  }

  static void tell(const Finding& finding, const std::vector<std::string>& places, std::size_t number) {
    const RuleText& rule = text_of(finding.rule);
    std::string line = "finding\t" + std::to_string(::getpid()) + '\t' + std::to_string(number) + '\t' + rule.name +
                       '\t' + (rule.severity == Severity::kError ? "error" : "advice") + '\t' +
                       base::runner_word(finding.what);
    for (std::size_t i = 0; i < places.size(); ++i) {
      line += std::string("\t") + finding.steps[i].verb + " by " + base::runner_word(places[i]);
    }
    base::tell_runner(line + '\n');
  }

  const Suppressions suppressions_ =
      Suppressions::read(std::string(base::environment(base::Variable::kSanitizeSuppressions)));
  std::map<std::string, Told> by_text_;  // rule and calls as they are told
  std::map<Key, Told*> told_;
  std::size_t findings_ = 0;
};

// Used until the very end of the process.
auto open_book() {
  static constinit base::PerProcess<Book, locks::kBook> books;
  return books.lock(static_cast<unsigned>(::getpid()));
}

// Whether the mode tells of the rule.
bool is_told(Rule rule) {
  return mode() != Mode::kCompletions || rule == Rule::kLostCompletion || rule == Rule::kDoubledCompletion;
}

Key key_of(Rule rule, const Site& first, const Site& last) {
  return {rule, first.place, last.place};
}

}  // namespace

bool is_repeated(Rule rule, const Site& first, const Site& last) {
  if (!is_told(rule)) return true;
  const base::Uncancelled guard;  // the book reads suppressions
  return open_book()->count_again(key_of(rule, first, last));
}

void report(const Finding& finding) {
  if (!is_told(finding.rule)) return;
  const base::Uncancelled guard;
  const int error = errno;
  const Site first = finding.steps.empty() ? Site{} : finding.steps.front().site;
  const Site last = finding.steps.empty() ? Site{} : finding.steps.back().site;
  open_book()->add(key_of(finding.rule, first, last), finding);
  errno = error;
}

void report_counts() try { open_book()->tell_counts(); } catch (const std::bad_alloc&) {
  return;
}

std::string hex(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

std::string hex(object::Handle handle) {
  return hex(reinterpret_cast<std::uintptr_t>(handle));
}

}  // namespace softdat::sanitize
