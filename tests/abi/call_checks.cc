// SPDX-License-Identifier: BSD-2-Clause
#include "tests/abi/call_checks.h"

#include <algorithm>
#include <regex>
#include <vector>

#include "tests/abi/prototype.h"

namespace softdat::abi_test {
namespace {

// Writes one check: the pieces before the function, then the function.
class CheckText {
 public:
  explicit CheckText(int number) : suffix_("_" + std::to_string(number)) {}

  [[nodiscard]] std::string name(const std::string& stem) const { return stem + suffix_; }
  void declare(const std::string& line) { declarations_ += line + "\n"; }
  void step(const std::string& line) { steps_ += "  " + line + "\n"; }
  [[nodiscard]] std::string finish(const std::string& condition, const std::string& complaint) const {
    return declarations_ + "static const char* " + name("check") + "(void) {\n" + steps_ + "  return (" + condition +
           ") ? NULL : \"" + complaint + "\";\n}\n";
  }

 private:
  std::string suffix_;
  std::string declarations_;
  std::string steps_;
};

bool is_enum(const std::string& type, const FactTable& table) {
  return table.find("typeof", type).rfind("enum ", 0) == 0;
}

// A variable of the type, filled so that no two of one check are alike. Enumerations get 1, which all of them can hold.
std::string add_argument(CheckText& text, const std::string& type, std::size_t index, const FactTable& table) {
  const std::string variable = text.name("argument") + "_" + std::to_string(index);
  text.declare("static " + type + " " + variable + ";");
  const char* fill = is_enum(type, table) ? "abi_fill_with_one(&" : "abi_fill(&";
  text.step(fill + variable + ", sizeof(" + variable + "), " + std::to_string(17 + index) + ");");
  return variable;
}

std::string joined(const std::vector<std::string>& items) {
  std::string all;
  for (const std::string& item : items) all += (all.empty() ? "" : ", ") + item;
  return all;
}

struct Dispatch {
  std::string macro;
  std::vector<std::string> arguments;
  std::string slot;
  std::size_t handle;  // index of the argument whose provider is called
};

Dispatch parse_dispatch(const Fact& fact, const std::smatch& match) {
  Dispatch dispatch;
  const std::size_t open = fact.name.find('(');
  dispatch.macro = fact.name.substr(0, open);
  dispatch.arguments = split_list(fact.name.substr(open + 1, fact.name.size() - open - 2), ',');
  dispatch.slot = match.str(1);
  const auto handle = std::find(dispatch.arguments.begin(), dispatch.arguments.end(), match.str(2));
  if (handle == dispatch.arguments.end()) refuse("no such argument: " + fact.name + ": " + match.str(2));
  dispatch.handle = static_cast<std::size_t>(handle - dispatch.arguments.begin());
  return dispatch;
}

Prototype prototype_of_slot(const std::string& slot, const FactTable& table) {
  std::smatch match;
  const std::string value = table.find("offsetof", "DAT_PROVIDER." + slot);
  if (!std::regex_match(value, match, std::regex(".* type (\\w+)"))) refuse("no such slot: DAT_PROVIDER." + slot);
  return parse_prototype(table.find("functype", match.str(1)), match.str(1));
}

// The slot of the last 2.0 call takes a va_list, which cannot be held in a variable and compared.
std::string check_extended_dispatch(CheckText& text, const Dispatch& dispatch) {
  text.declare("static DAT_RETURN " + text.name("slot") + "(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list rest) {");
  text.declare("  return handle && op == 5 && va_arg(rest, int) == 77 ? ABI_ANSWER : 0;\n}");
  text.declare("static DAT_RETURN " + text.name("call") + "(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...) {");
  text.declare("  DAT_RETURN answer;\n  va_list rest;\n  va_start(rest, op);");
  text.declare("  answer = " + dispatch.macro + "(handle, op, rest);\n  va_end(rest);\n  return answer;\n}");
  text.step("static DAT_PROVIDER table;");
  text.step("DAT_PROVIDER* object[1];");
  text.step("object[0] = &table;");
  text.step("table." + dispatch.slot + " = " + text.name("slot") + ";");
  return text.finish(text.name("call") + "(object, 5, 77) == ABI_ANSWER", "does not reach " + dispatch.slot);
}

std::string check_dispatch(CheckText& text, const Dispatch& dispatch, const FactTable& table) {
  if (dispatch.slot == "handle_extendedop_func") return check_extended_dispatch(text, dispatch);
  const Prototype prototype = prototype_of_slot(dispatch.slot, table);
  if (prototype.types.size() != dispatch.arguments.size())
    refuse(dispatch.macro + " and " + prototype.name + " differ in arguments");
  text.step("static DAT_PROVIDER table;");
  text.step("static DAT_PROVIDER* object[1];");
  std::vector<std::string> variables;
  std::vector<std::string> parameters;
  std::string same = "1";
  for (std::size_t i = 0; i < prototype.types.size(); ++i) {
    const std::string parameter = "p" + std::to_string(i);
    variables.push_back(add_argument(text, prototype.types[i], i, table));
    parameters.push_back(prototype.types[i] + " " + parameter);
    same += " && memcmp(&" + parameter + ", &" + variables.back() + ", sizeof(" + parameter + ")) == 0";
  }
  text.declare("static DAT_RETURN " + text.name("slot") + "(" + joined(parameters) + ") {\n  return (" + same +
               ") ? ABI_ANSWER : 0;\n}");
  text.step("object[0] = &table;");
  text.step("table." + dispatch.slot + " = " + text.name("slot") + ";");
  text.step(variables[dispatch.handle] + " = object;");
  return text.finish(dispatch.macro + "(" + joined(variables) + ") == ABI_ANSWER",
                     "does not reach " + dispatch.slot + " with these arguments");
}

// One argument of an extended operation, as the fake dat_extension_op must find it.
std::string read_back(const std::string& type, const std::string& variable, const FactTable& table) {
  if (is_enum(type, table) || type == "DAT_COUNTER_TYPE") return "  same &= va_arg(rest, unsigned) == 1;";
  return "  {\n    " + type + " found = va_arg(rest, " + type + ");\n    same &= memcmp(&found, &" + variable +
         ", sizeof(found)) == 0;\n  }";
}

struct Operand {
  std::string type;
  std::string variable;
};

Operand add_operand(CheckText& text, const std::string& type, std::size_t index, const FactTable& table) {
  // The tables have no row for the type that the stock header forgets to define.
  if (type != "DAT_COUNTER_TYPE") return {type, add_argument(text, type, index, table)};
  const std::string variable = text.name("argument") + "_" + std::to_string(index);
  text.declare("static " + type + " " + variable + ";");
  text.step("abi_fill_with_one(&" + variable + ", sizeof(" + variable + "), 1);");
  return {type, variable};
}

std::string check_operation(CheckText& text, const Fact& fact, const std::smatch& match, const FactTable& table) {
  const std::vector<std::string> parameters = split_list(match.str(1), ',');
  const std::vector<std::string> items = split_list(match.str(2), ';');
  std::vector<std::string> passed(parameters.size());
  std::string handle;
  std::string reads;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == 1) continue;  // the operation's number
    Declaration item =
        split_declaration(std::regex_replace(items[i], std::regex("^(\\w+) \\(uncast\\)$"), "DAT_DTO_COOKIE $1"));
    const auto place = std::find(parameters.begin(), parameters.end(), item.name);
    if (i == 0 && item.name == "NULL") continue;
    if (place == parameters.end()) refuse(fact.name + ": no parameter for " + items[i]);
    const Operand operand = add_operand(text, without_top_level_const(item.type), i, table);
    passed[static_cast<std::size_t>(place - parameters.begin())] = operand.variable;
    if (i == 0) handle = operand.variable;
    if (i > 1) reads += read_back(operand.type, operand.variable, table) + "\n";
  }
  const std::string number = split_declaration(items[1]).name;
  text.declare("static int " + text.name("hook") + "(void* handle, int op, va_list rest) {\n  int same = op == " +
               number + " && " + (handle.empty() ? "!handle" : "handle == " + handle) + ";\n  (void)rest;\n" + reads +
               "  return same;\n}");
  text.step("abi_extension_hook = " + text.name("hook") + ";");
  return text.finish(fact.name + "(" + joined(passed) + ") == ABI_ANSWER", "passes something else");
}

std::string check_open(CheckText& text) {
  text.declare("static char " + text.name("ia_name") + "[] = \"sim0\";");
  text.step("DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;");
  text.step("DAT_IA_HANDLE ia = DAT_HANDLE_NULL;");
  text.step("DAT_RETURN answer = dat_ia_open(" + text.name("ia_name") + ", 8, &evd, &ia);");
  return text.finish("answer == ABI_ANSWER && abi_opened.name == " + text.name("ia_name") +
                         " && abi_opened.qlen == 8 && abi_opened.evd == &evd && abi_opened.ia == &ia && "
                         "abi_opened.major == DAT_VERSION_MAJOR && abi_opened.minor == DAT_VERSION_MINOR && "
                         "abi_opened.thread_safety == DAT_THREADSAFE",
                     "does not call dat_ia_openv so");
}

std::string check_function(CheckText& text, const Fact& fact, const FactTable& table) {
  std::smatch match;
  static const std::regex operation(
      "macro \\w+\\(([^)]*)\\) -> variadic dat_extension_op, argument order/types: (.*)  \\[.*");
  if (std::regex_match(fact.value, match, operation)) return check_operation(text, fact, match, table);
  if (fact.name == "dat_ia_open") return check_open(text);
  refuse("no check for function " + fact.name + ": " + fact.value);
}

std::string check_function_macro(CheckText& text, const Fact& fact, const FactTable& table) {
  std::smatch match;
  static const std::regex dispatch(
      "provider dispatch: calls member (\\w+) of the provider table of (\\w+) with the same arguments \\[.*");
  if (std::regex_match(fact.value, match, dispatch)) {
    return check_dispatch(text, parse_dispatch(fact, match), table);
  }
  if (fact.name.rfind("DAT_HANDLE_TO_PROVIDER(", 0) != 0) refuse("no check for " + fact.name + ": " + fact.value);
  text.step("static DAT_PROVIDER table;");
  text.step("DAT_PROVIDER* object[1];");
  text.step("DAT_HANDLE handle = object;");
  text.step("object[0] = &table;");
  return text.finish("DAT_HANDLE_TO_PROVIDER(handle) == &table", "is not the first word of the object");
}

std::string check_spelling(CheckText& text, const std::string& name, const std::string& spelling) {
  return text.finish("strcmp(SPELLING(" + name + "), \"" + spelling + "\") == 0", "expands to something else");
}

std::string check_macro(CheckText& text, const Fact& fact) {
  std::smatch match;
  const std::string& value = fact.value;
  if (std::regex_match(value, match, std::regex("string (\".*\")"))) {
    return text.finish("strcmp(" + fact.name + ", " + match.str(1) + ") == 0", "is another text");
  }
  if (std::regex_match(value, match, std::regex("pointer constant (0x[0-9a-f]+)"))) {
    text.step("DAT_HANDLE pointer = " + fact.name + ";");
    return text.finish("abi_number_of(pointer) == " + match.str(1), "is another pointer");
  }
  if (value == "empty") return check_spelling(text, fact.name, "");
  if (value == "expands to the keyword extern") return check_spelling(text, fact.name, "extern");
  if (std::regex_match(value, match, std::regex("alias of token\\(s\\) (\\w+) \\(.*\\)"))) {
    return check_spelling(text, fact.name, match.str(1));
  }
  if (fact.name == "DAT_OS_WAIT_PROXY_AGENT_NULL") {
    text.step("DAT_OS_WAIT_PROXY_AGENT agent = DAT_OS_WAIT_PROXY_AGENT_NULL;");
    return text.finish("!agent.instance_data && !agent.proxy_agent_func", "is not null");
  }
  if (std::regex_match(value, match, std::regex("names the identifier or expression (\\w+)"))) {
    return check_spelling(text, fact.name, match.str(1));
  }
  refuse("no check for macro " + fact.name + ": " + value);
}

}  // namespace

std::string call_check(const Fact& fact, const FactTable& table, int number) {
  CheckText text(number);
  if (fact.kind == "macro") return check_macro(text, fact);
  if (fact.kind == "fmacro") return check_function_macro(text, fact, table);
  if (fact.kind == "function") return check_function(text, fact, table);
  refuse("no check for " + fact.kind + " " + fact.name);
}

}  // namespace softdat::abi_test
