// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/sweep/report.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace softdat::tools::sweep {
namespace {

using nlohmann::json;
using Row = std::array<std::size_t, kOutcomes>;

// Bytes that are no UTF-8 are replaced.
constexpr auto kReplace = json::error_handler_t::replace;

json to_json(const Trial& trial) {
  return {{"fault", trial.fault},
          {"outcome", name_of(trial.outcome)},
          {"status", trial.status},
          {"details", trial.details},
          {"least", trial.least}};
}

// Empty: the object has no such text.
std::string text_in(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// By the fault's name and what it fails.
std::map<std::string, Row> count(const std::vector<Trial>& trials) {
  std::map<std::string, Row> rows;
  for (const Trial& trial : trials) {
    std::istringstream words(trial.fault);
    std::string name, word;
    words >> name;
    while (words >> word) {
      if (word.starts_with("op=") || word.starts_with("when=")) name += ' ' + word;
    }
    Row& row = rows[name];
    ++row[static_cast<std::size_t>(trial.outcome)];
  }
  return rows;
}

Row total(const std::map<std::string, Row>& rows) {
  Row sum{};
  for (const auto& [name, row] : rows) {
    for (std::size_t i = 0; i < kOutcomes; ++i) sum[i] += row[i];
  }
  return sum;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '<') {
      result += "&lt;";
    } else if (letter == '&') {
      result += "&amp;";
    } else {
      result += letter;
    }
  }
  return result;
}

std::string text_row(const std::string& name, const Row& row) {
  std::string line = fmt::format("{:<32}", name);
  for (const std::size_t number : row) line += number == 0 ? fmt::format("{:>13}", ".") : fmt::format("{:>13}", number);
  return line + '\n';
}

std::string html_row(const std::string& name, const Row& row) {
  std::string line = "<tr><td>" + escaped(name) + "</td>";
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    const bool is_alarming = row[i] != 0 && is_bad(static_cast<Outcome>(i));
    line += fmt::format("<td{}>{}</td>", is_alarming ? " class=\"bad\"" : "", row[i]);
  }
  return line + "</tr>\n";
}

}  // namespace

std::string encode(const Trial& trial) {
  return to_json(trial).dump(-1, ' ', false, kReplace);
}

std::optional<Trial> decode(const std::string& line) {
  const json object = json::parse(line, nullptr, false);
  const std::string fault = text_in(object, "fault");
  const auto outcome = find_outcome(text_in(object, "outcome"));
  if (fault.empty() || !outcome) return std::nullopt;
  const auto status = object.find("status");
  const bool has_status = status != object.end() && status->is_number_integer();
  return Trial{fault, *outcome, has_status ? status->get<int>() : 0, text_in(object, "details"),
               text_in(object, "least")};
}

std::string encode_header(const std::string& command) {
  return json{{"sweep", command}}.dump(-1, ' ', false, kReplace);
}

std::optional<std::string> decode_header(const std::string& line) {
  std::string command = text_in(json::parse(line, nullptr, false), "sweep");
  if (command.empty()) return std::nullopt;
  return command;
}

std::string as_text(const TrialPlan& plan, const std::vector<Trial>& trials) {
  const auto rows = count(trials);
  std::string text = fmt::format("{:<32}", "fault");
  for (std::size_t i = 0; i < kOutcomes; ++i) text += fmt::format("{:>13}", name_of(static_cast<Outcome>(i)));
  text += '\n';
  for (const auto& [name, row] : rows) text += text_row(name, row);
  text += text_row("all", total(rows));
  for (const Trial& trial : trials) {
    if (!is_bad(trial.outcome)) continue;
    text += fmt::format("\n{}, exit status {}:\n  {}\n", name_of(trial.outcome), trial.status,
                        command_line(plan, trial.fault));
    if (!trial.least.empty())
      text += fmt::format("  the least that does the same:\n  {}\n", command_line(plan, trial.least));
    std::istringstream lines(trial.details);
    for (std::string line; std::getline(lines, line);) text += "    " + line + '\n';
  }
  return text;
}

std::string as_json(const TrialPlan& plan, const std::vector<Trial>& trials) {
  json all = json::array();
  for (const Trial& trial : trials) {
    json object = to_json(trial);
    object["command"] = command_line(plan, trial.fault);
    all.push_back(object);
  }
  json counts;
  const Row sum = total(count(trials));
  for (std::size_t i = 0; i < kOutcomes; ++i) counts[name_of(static_cast<Outcome>(i))] = sum[i];
  return json{{"counts", counts}, {"trials", all}}.dump(2, ' ', false, kReplace) + '\n';
}

std::string as_html(const TrialPlan& plan, const std::vector<Trial>& trials) {
  const auto rows = count(trials);
  std::string page =
      "<!doctype html>\n<meta charset=\"utf-8\"><title>softdat sweep</title>\n"
      "<style>body{font-family:sans-serif}td,th{padding:.2em .6em;text-align:right}td:first-child{text-align:left}"
      ".bad{background:#fcc}pre{background:#eee;padding:.6em;overflow:auto}</style>\n<h1>softdat sweep</h1>\n"
      "<table>\n<tr><th>fault</th>";
  for (std::size_t i = 0; i < kOutcomes; ++i) page += fmt::format("<th>{}</th>", name_of(static_cast<Outcome>(i)));
  page += "</tr>\n";
  for (const auto& [name, row] : rows) page += html_row(name, row);
  page += html_row("all", total(rows)) + "</table>\n";
  for (const Trial& trial : trials) {
    if (!is_bad(trial.outcome)) continue;
    page += fmt::format("<h2>{}, exit status {}</h2>\n<pre>{}</pre>\n", name_of(trial.outcome), trial.status,
                        escaped(command_line(plan, trial.fault)));
    if (!trial.least.empty()) {
      page += fmt::format("<p>The least that does the same:</p>\n<pre>{}</pre>\n",
                          escaped(command_line(plan, trial.least)));
    }
    page += fmt::format("<pre>{}</pre>\n", escaped(trial.details));
  }
  return page;
}

}  // namespace softdat::tools::sweep
