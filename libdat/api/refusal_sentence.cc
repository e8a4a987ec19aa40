// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/refusal_sentence.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace softdat::api {
namespace {

// The rows of the tables of docs/ERRORS.md, without their last column (CMakeLists.txt).
constexpr std::string_view kRows =
#include "refusal_rows.inc"
    ;

struct Row {
  std::string_view functions, type, subtypes, sentence;
};

struct Question {
  std::string_view function, type, subtype;
  bool is_abi20;
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Removes the text up to the next `separator`, and the separator, and returns that text.
std::string_view take(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return trimmed(taken);
}

Row row_of(std::string_view line) {
  line.remove_prefix(1);
  std::array<std::string_view, 4> cells;
  for (std::string_view& cell : cells) cell = take(line, "|");
  return {cells[0], cells[1], cells[2], cells[3]};
}

int number_of(std::string_view argument) {
  int number = 0;
  if (argument.starts_with("ARG")) argument.remove_prefix(3);
  std::from_chars(argument.data(), argument.data() + argument.size(), number);
  return number;
}

// One of the subtypes of a row: "ARG3", "ARG3 to ARG5", "ARG7 (2.0)", "INVALID_STATE_EP_xxx", "..._CONN",
// "EVD (see above)".
bool is_meant(std::string_view named, const Question& question) {
  if (named.ends_with(" (1.2)") || named.ends_with(" (2.0)")) {
    if (named.ends_with(" (2.0)") != question.is_abi20) return false;
    named.remove_suffix(6);
  }
  if (named.starts_with("EVD (")) {
    return question.subtype == (question.is_abi20 ? "INVALID_HANDLE_EVD_REQUEST" : "INVALID_HANDLE1");
  }
  std::string_view range = named;
  const std::string_view first = take(range, " to ");
  const std::string_view wanted =
      question.subtype.starts_with("INVALID_ARG") ? question.subtype.substr(8) : question.subtype;
  if (!range.empty()) {
    return wanted.starts_with("ARG") && number_of(first) <= number_of(wanted) && number_of(wanted) <= number_of(range);
  }
  if (named.ends_with("xxx")) return wanted.starts_with(named.substr(0, named.size() - 3));
  if (named.starts_with("...")) return wanted.ends_with(named.substr(3));
  return wanted == named;
}

bool is_for(const Row& row, const Question& question) {
  std::string_view types = row.type;
  bool is_type = false;
  while (!types.empty()) is_type |= take(types, ",") == question.type;
  if (!is_type) return false;
  if (row.subtypes.empty() || question.subtype.empty()) return row.subtypes.empty() && question.subtype.empty();
  std::string_view subtypes = row.subtypes;
  // The extensions count their arguments each in its own way.
  if (subtypes.find(';') != std::string_view::npos) return question.subtype.starts_with("INVALID_ARG");
  while (!subtypes.empty()) {
    if (is_meant(take(subtypes, ","), question)) return true;
  }
  return false;
}

bool names(std::string_view functions, std::string_view function) {
  const std::string quoted = '`' + std::string(function) + '`';
  return functions.find(quoted) != std::string_view::npos;
}

// The function that the row refers to: "as dat_ep_create", "as `dat_ep_post_send`".
std::string_view model_of(const Row& row) {
  for (std::string_view cell : {row.type, row.subtypes, row.sentence}) {
    if (!cell.starts_with("as ")) continue;
    cell.remove_prefix(3);
    if (cell.starts_with('`')) cell = cell.substr(1, cell.find('`', 1) - 1);
    if (cell.starts_with("dat_") && cell.find(' ') == std::string_view::npos) return cell;
  }
  return {};
}

// Adds what the sentence says of this version of the API: a part "(1.2) ..." is for that alone.
void add(std::string& text, std::string_view sentence, bool is_abi20) {
  const std::string_view other = is_abi20 ? "; (1.2)" : "; (2.0)";
  sentence = sentence.substr(0, sentence.find(other));
  if (sentence.empty() || text.find(sentence) != std::string::npos) return;
  text += (text.empty() ? "" : "; or ") + std::string(sentence);
}

// A row may say "as dat_ep_create": then the rows of that function are read, too, but no further ones.
void collect(const Question& question, int depth, std::string& text) {
  std::string_view rows = kRows, functions;
  while (!rows.empty()) {
    const std::string_view line = take(rows, "\n");
    if (!line.starts_with('|')) continue;
    const Row row = row_of(line);
    // A row without functions continues the one above.
    if (!row.functions.empty()) functions = row.functions;
    if (!names(functions, question.function)) continue;
    const std::string_view model = model_of(row);
    if (!model.empty() && depth == 0) {
      collect({model, question.type, question.subtype, question.is_abi20}, 1, text);
    } else if (is_for(row, question)) {
      add(text, row.sentence, question.is_abi20);
    }
  }
}

}  // namespace

std::string refusal_sentence(std::string_view function, std::string_view type, std::string_view subtype,
                             bool is_abi20) {
  std::string text;
  collect({function, type, subtype, is_abi20}, 0, text);
  return text;
}

}  // namespace softdat::api
