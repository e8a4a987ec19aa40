// SPDX-License-Identifier: BSD-2-Clause
#include "tests/abi/prototype.h"

#include <regex>

#include "tests/abi/fact_table.h"

namespace softdat::abi_test {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// A parameter may have no name ("OUT DAT_HANDLE_TYPE*") or be an array ("DAT_PROVIDER_INFO* list[]").
std::string type_of_parameter(const std::string& parameter) {
  static const std::regex named("(.*[ *])([a-z][a-z0-9_]*)(\\[\\])?");
  std::smatch match;
  std::string type = parameter;
  if (parameter != "va_list" && std::regex_match(parameter, match, named)) {
    type = trimmed(match[1]) + (match[3].matched ? "*" : "");
  }
  return without_top_level_const(type);
}

}  // namespace

std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> items;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    items.push_back(trimmed(text.substr(start, end - start)));
    start = end + 1;
  }
  return items;
}

Declaration split_declaration(const std::string& text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string::npos) refuse("not a declaration: " + text);
  return {trimmed(text.substr(0, space)), text.substr(space + 1)};
}

std::string without_top_level_const(const std::string& type) {
  const bool is_pointer_to_const = type.back() == '*';
  return is_pointer_to_const || type.rfind("const ", 0) != 0 ? type : type.substr(6);
}

Prototype parse_prototype(const std::string& text, const std::string& name) {
  const std::size_t open = text.find(' ' + name + '(');
  const std::size_t close = text.rfind(')', text.find("  ["));
  if (open == std::string::npos || close == std::string::npos) refuse("not a prototype of " + name + ": " + text);
  static const std::regex direction("\\b(IN|OUT|INOUT) ");
  const std::size_t start = open + name.size() + 2;
  Prototype prototype;
  prototype.name = name;
  prototype.result = text.substr(0, open);
  prototype.parameters = std::regex_replace(text.substr(start, close - start), direction, "");
  for (const std::string& parameter : split_list(prototype.parameters, ',')) {
    prototype.types.push_back(type_of_parameter(parameter));
  }
  return prototype;
}

}  // namespace softdat::abi_test
