// SPDX-License-Identifier: BSD-2-Clause
#include "tests/abi/static_checks.h"

#include <regex>

#include "tests/abi/prototype.h"

namespace softdat::abi_test {
namespace {

using Condition = std::optional<std::string>;

// Matches the whole value, or refuses the fact: a value in new words needs a new check.
std::smatch match_value(const Fact& fact, const char* pattern) {
  std::smatch match;
  if (!std::regex_match(fact.value, match, std::regex(pattern))) {
    refuse("no check for " + fact.kind + " " + fact.name + ": " + fact.value);
  }
  return match;
}

bool starts_with(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

// The tables write a pointer to an array as "char *[40]".
std::string as_c_type(const std::string& type) {
  return std::regex_replace(type, std::regex("^char \\*\\[(\\d+)\\]$"), "char (*)[$1]");
}

Condition enumerator(const Fact& fact) {
  const std::smatch match = match_value(fact, "(\\d+) \\(0x[0-9a-f]+\\) of (\\w+)");
  return "IS_ENUMERATOR(" + match.str(2) + ", " + fact.name + ", " + match.str(1) + "ull)";
}

Condition macro(const Fact& fact) {
  std::smatch match;
  static const std::regex number("(\\d+) \\(0x[0-9a-f]+\\) size (\\d) (un)?signed");
  if (std::regex_match(fact.value, match, number)) {
    const char* is_signed = match[3].matched ? "0" : "1";
    return "HAS_VALUE(" + fact.name + ", " + match.str(1) + "ull, " + match.str(2) + ", " + is_signed + ")";
  }
  static const std::regex type_alias("type alias of (\\w+)");
  if (std::regex_match(fact.value, match, type_alias)) return "SAME_TYPE(" + fact.name + ", " + match.str(1) + ")";
  return std::nullopt;
}

Condition size(const Fact& fact) {
  const std::smatch match = match_value(fact, "(\\d+) align (\\d+)");
  return "sizeof(" + fact.name + ") == " + match.str(1) + " && ALIGN_OF(" + fact.name + ") == " + match.str(2);
}

Condition member(const Fact& fact) {
  const std::smatch match = match_value(fact, "(\\d+) size (\\d+) type (.*)");
  const std::size_t dot = fact.name.find('.');
  const std::string where = fact.name.substr(0, dot) + ", " + fact.name.substr(dot + 1);
  std::string condition =
      "offsetof(" + where + ") == " + match.str(1) + " && SIZE_OF_MEMBER(" + where + ") == " + match.str(2);
  if (match.str(3) != "union (anon)") condition += " && SAME_TYPE(TYPE_OF_MEMBER(" + where + "), " + match.str(3) + ")";
  return condition;
}

Condition type(const Fact& fact) {
  std::smatch match;
  static const std::regex scalar("(integer|enum|pointer) size (\\d+) ?(unsigned|signed)? ?\\((?:alias of )?(.*)\\)");
  if (std::regex_match(fact.value, match, scalar)) {
    std::string condition =
        "SAME_TYPE(" + fact.name + ", " + as_c_type(match.str(4)) + ") && sizeof(" + fact.name + ") == " + match.str(2);
    if (match[3].matched) condition += " && IS_SIGNED(" + fact.name + ") == " + (match.str(3) == "signed" ? "1" : "0");
    return condition;
  }
  static const std::regex record("(?:alias of )?((?:struct |union )?\\w+)");
  if (std::regex_match(fact.value, match, record)) return "SAME_TYPE(" + fact.name + ", " + match.str(1) + ")";
  // What the pointer points at is the business of the row of kind functype.
  return "IS_FUNCTION_POINTER(" + fact.name + ") && sizeof(" + fact.name +
         ") == " + match_value(fact, "function pointer size (\\d+)").str(1);
}

Condition function(const Fact& fact) {
  if (starts_with(fact.value, "macro ")) return std::nullopt;
  const Prototype prototype = parse_prototype(fact.value, fact.name);
  return "SAME_TYPE(TYPE_OF(&" + fact.name + "), " + prototype.result + " (*)(" + prototype.parameters + "))";
}

Condition function_type(const Fact& fact) {
  const Prototype prototype = parse_prototype(fact.value, fact.name);
  return "SAME_TYPE(" + fact.name + ", " + prototype.result + " (*)(" + prototype.parameters + "))";
}

Condition function_macro(const Fact& fact) {
  const std::string name = fact.name.substr(0, fact.name.find('('));
  std::smatch match;
  static const std::regex mask("status AND (\\w+) \\[.*");
  if (std::regex_match(fact.value, match, mask)) {
    return name + "(0xffffffffu) == " + match.str(1) + " && " + name + "(0u) == 0";
  }
  static const std::regex cast("cast to ([\\w ]+) \\[.*");
  if (std::regex_match(fact.value, match, cast)) {
    return "SAME_TYPE(TYPE_OF(" + name + "(A_VALUE)), " + match.str(1) + ")";
  }
  return std::nullopt;
}

Condition return_code(const Fact& fact) {
  std::smatch match;
  static const std::regex of_type("type (0x[0-9a-f]+) full error code (0x[0-9a-f]+)");
  if (std::regex_match(fact.value, match, of_type)) {
    const std::string code_class = fact.name == "DAT_SUCCESS" ? "DAT_CLASS_SUCCESS" : "DAT_CLASS_ERROR";
    return "NUMBER(" + fact.name + ") == " + match.str(1) + "ull && (NUMBER(" + code_class + ") | NUMBER(" + fact.name +
           ")) == " + match.str(2) + "ull";
  }
  static const std::regex number("(?:subtype )?(0x[0-9a-f]+|\\d+)(?: \\(.*\\))?");
  if (std::regex_match(fact.value, match, number)) return "NUMBER(" + fact.name + ") == " + match.str(1) + "ull";
  if (starts_with(fact.value, "not in any installed public header")) return "1";
  match_value(fact, "size 4 unsigned; bits 31-30 class, 29-16 type, 15-0 subtype");
  return "sizeof(" + fact.name + ") == 4 && IS_SIGNED(" + fact.name +
         ") == 0 && (DAT_TYPE_MASK ^ DAT_SUBTYPE_MASK) == 0x3fffffff";
}

}  // namespace

std::optional<std::string> static_condition(const Fact& fact) {
  if (fact.kind == "enum") return enumerator(fact);
  if (fact.kind == "macro") return macro(fact);
  if (fact.kind == "sizeof") return size(fact);
  if (fact.kind == "offsetof") return member(fact);
  if (fact.kind == "typeof") return type(fact);
  if (fact.kind == "function") return function(fact);
  if (fact.kind == "functype") return function_type(fact);
  if (fact.kind == "fmacro") return function_macro(fact);
  if (fact.kind == "retcode") return return_code(fact);
  refuse("unknown kind: " + fact.kind);
}

std::string preprocessor_guard(const Fact& fact) {
  const std::string name = fact.name.substr(0, fact.name.find('('));
  const bool is_macro = fact.kind == "macro" || fact.kind == "fmacro" || starts_with(fact.value, "macro ");
  const bool is_not_macro = (fact.kind == "function" && !is_macro) || starts_with(fact.value, "not in any");
  if (!is_macro && !is_not_macro) return {};
  return std::string(is_macro ? "#ifndef " : "#ifdef ") + name + "\n#error \"" + name +
         (is_macro ? " must be a macro\"\n#endif\n" : " must not be a macro\"\n#endif\n");
}

}  // namespace softdat::abi_test
