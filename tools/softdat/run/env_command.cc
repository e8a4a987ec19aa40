// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/env_command.h"

#include <fmt/format.h>

#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/run/shell_text.h"

namespace softdat::tools::run {
namespace {

std::string to_sh(const Environment& environment) {
  std::string text;
  for (const auto& [name, value] : environment.set) text += fmt::format("export {}={}\n", name, shell_quoted(value));
  for (const std::string& name : environment.unset) text += fmt::format("unset {}\n", name);
  return text;
}

// Each command ends in a semicolon: eval in csh joins the lines.
std::string to_csh(const Environment& environment) {
  std::string text;
  for (const auto& [name, value] : environment.set) text += fmt::format("setenv {} {};\n", name, csh_quoted(value));
  for (const std::string& name : environment.unset) text += fmt::format("unsetenv {};\n", name);
  return text;
}

// null: the variable must not be set.
std::string to_json(const Environment& environment) {
  std::vector<std::string> members;
  for (const auto& [name, value] : environment.set) {
    members.push_back(fmt::format("{}: {}", json_quoted(name), json_quoted(value)));
  }
  for (const std::string& name : environment.unset) members.push_back(fmt::format("{}: null", json_quoted(name)));
  return fmt::format("{{\n  {}\n}}\n", fmt::join(members, ",\n  "));
}

bool is_shell_name(const std::string& name) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  return letters.find(name.front()) != name.npos && name.find_first_not_of(letters + "0123456789") == name.npos;
}

}  // namespace

EnvCommand::EnvCommand(CommandLine& line)
    : options_(line.add("env", "Print the environment of softdat run for a shell")) {
  options_.set_footer("eval \"$(softdat env)\" has this shell run every program on the simulated adapter.");
  options_.add_flag("--sh", is_sh_, "Commands of sh, bash and zsh (the default)");
  options_.add_flag("--csh", is_csh_, "Commands of csh and tcsh");
  options_.add_flag("--json", is_json_, "A JSON object; null means that the variable must not be set");
  environment_.add_to(options_);
}

int EnvCommand::run() const {
  if (is_sh_ + is_csh_ + is_json_ > 1) throw UsageError("--sh, --csh and --json exclude each other; give one");
  for (const auto& [name, value] : environment_.variables()) {
    if (!is_shell_name(name)) throw UsageError(fmt::format("--env \"{}\" is not a name that a shell takes", name));
  }
  const Environment environment = make_environment(environment_);
  print_out(is_json_ ? to_json(environment) : is_csh_ ? to_csh(environment) : to_sh(environment));
  return 0;
}

}  // namespace softdat::tools::run
