// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/findings.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "tools/softdat/figures.h"

namespace softdat::tools::run {
namespace {

std::uint64_t to_number(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

void Findings::add(const Report& report) {
  const std::vector<std::string>& words = report.words;
  if (report.kind == "finding" && words.size() >= 5) {
    const Key key{words[0], words[1]};
    if (!findings_.contains(key)) order_.push_back(key);
    findings_[key] = {words[2], words[3], words[4], {words.begin() + 5, words.end()}};
  }
  if (report.kind == "repeated" && words.size() >= 3) {
    const auto found = findings_.find({words[0], words[1]});
    if (found != findings_.end()) found->second.times = to_number(words[2]);
  }
}

bool Findings::has_errors() const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [](const auto& finding) { return finding.second.severity == "error"; });
}

void Findings::write_json(const std::string& path) const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Key& key : order_) {
    const Finding& finding = findings_.at(key);
    all.push_back({{"process", to_number(key.first)},
                   {"rule", finding.rule},
                   {"severity", finding.severity},
                   {"what", finding.what},
                   {"calls", finding.calls},
                   {"times", finding.times}});
  }
  // Paths of the program may have bytes that are no UTF-8.
  write_output(path, all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
}

}  // namespace softdat::tools::run
