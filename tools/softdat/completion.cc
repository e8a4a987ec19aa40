// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace softdat::tools {
namespace {

std::string lines_of(const std::vector<std::string>& words, const std::string& begin) {
  std::string lines;
  for (const std::string& word : words) {
    if (word.starts_with(begin)) lines += word + '\n';
  }
  return lines;
}

std::vector<std::string> commands_of(const CLI::App& softdat) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       softdat.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool takes_value(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_min() > 0;
}

std::string complete_value(const CLI::Option& option, const CommandNotes& notes, const std::string& begin) {
  const auto choices = notes.choices.find(&option);
  if (choices != notes.choices.end()) return lines_of(choices->second, begin);
  if (option.get_type_name() == "FILE") return ":files\n";
  if (option.get_type_name() == "COMMAND") return ":commands\n";
  return "";
}

// Bash parts "--transport=tcp" into three words.
bool is_sign(const std::vector<std::string>& words, std::size_t i) {
  return i > 0 && i < words.size() && words[i] == "=" && words[i - 1].starts_with("--");
}

// The index of the first word of the program that the command runs; that of the last word, which is to be completed, is
// the highest. 0: none yet.
std::size_t find_program_word(const CLI::App& command, const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    if (words[i] == "--") return is_last ? 0 : i + 1;
    if (words[i].empty() || words[i].front() != '-') return i;
    if (takes_value(command.get_option_no_throw(words[i]))) i += is_sign(words, i + 1) ? 2 : 1;
  }
  return 0;
}

std::string complete_operand(const CLI::App& softdat, const std::string& command, const std::string& begin) {
  if (command == "help") return lines_of(commands_of(softdat), begin);
  return command == "doctor" ? ":commands\n" : "";
}

}  // namespace

std::string complete(const CLI::App& softdat, const CommandNotes& notes, std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  const std::string begin = words.back();
  if (words.size() == 1) {
    std::vector<std::string> first = commands_of(softdat);
    for (const std::string& option : options_of(softdat)) first.push_back(option);
    return lines_of(first, begin);
  }
  // Commands for our own use (add_hidden) are in no list, and get no completion.
  const std::vector<std::string> names = commands_of(softdat);
  if (std::find(names.begin(), names.end(), words.front()) == names.end()) return "";
  const CLI::App& command = *softdat.get_subcommand(words.front());
  // Before its mark, a marked program's command takes options and operands; behind it, words of the program.
  const auto mark = std::find(words.begin(), std::prev(words.end()), "--");
  const bool is_marked = notes.marked.contains(&command) && mark == std::prev(words.end());
  if (notes.programs.contains(&command) && !is_marked) {
    const std::size_t program = find_program_word(command, words);
    if (program != 0) return fmt::format(":program {}\n", program);
  }
  const std::size_t last = words.size() - 1;
  const CLI::Option* const before = command.get_option_no_throw(words[is_sign(words, last - 1) ? last - 2 : last - 1]);
  const bool is_value = words.size() > 2 && takes_value(before);
  if (is_value) return complete_value(*before, notes, begin == "=" ? "" : begin);
  if (begin.starts_with('-')) return lines_of(options_of(command), begin);
  if (notes.programs.contains(&command) && !is_marked) return ":commands\n";
  return complete_operand(softdat, words.front(), begin);
}

}  // namespace softdat::tools
