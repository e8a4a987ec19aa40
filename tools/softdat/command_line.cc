// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>

#include "tools/softdat/completion.h"
#include "tools/softdat/output.h"
#include "tools/softdat/registry_library.h"
#include "tools/softdat/words.h"

namespace softdat::tools {
namespace {

constexpr const char* kFooter =
    "softdat help COMMAND explains a command; softdat(1) is the manual page.\n"
    "Exit status: 0 success, 1 failure of what was asked, 2 wrong command line.";

// "--size" of "-s,--size".
std::string long_name(const std::string& names) {
  return names.substr(names.rfind(',') + 1);
}

// "--size=8" names the option --size.
std::string without_value(const std::string& word) {
  return word.substr(0, word.find('='));
}

// The one value of an option.
const std::string& only(const std::string& name, const std::vector<std::string>& values) {
  if (values.size() == 1) return values.front();
  throw UsageError(fmt::format("{} is given {} times; give it once", name, values.size()));
}

template <typename Value>
Value to_number(const std::string& name, const std::string& text, Value least, Value most) {
  Value value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string allowed = fmt::format("allowed: {} to {}", least, most);
  const bool is_number = error != std::errc::invalid_argument && rest == end;
  // Unsigned numbers have no sign to read.
  const bool is_negative =
      text.size() > 1 && text.front() == '-' && text.find_first_not_of("0123456789.", 1) == text.npos;
  if (!is_number && !is_negative) throw UsageError(fmt::format("{} \"{}\" is not a number; {}", name, text, allowed));
  if (!is_number || error != std::errc() || !(value >= least && value <= most)) {
    throw UsageError(fmt::format("{} \"{}\" is out of range; {}", name, text, allowed));
  }
  return value;
}

std::string default_text(const std::string& value) {
  return value;
}
template <typename Value>
std::string default_text(Value value) {
  return value == 0 ? "" : fmt::format("{}", value);
}

// The callback gets every value that was given, so that it can refuse a second one.
template <typename Value, typename Convert>
CLI::Option* add_option(CLI::App& app, const std::string& names, const std::string& type, Value& value,
                        const std::string& help, Convert convert) {
  const std::string name = long_name(names);
  CLI::Option* const option = app.add_option(
      names,
      [&value, name, convert](const std::vector<std::string>& values) {
        value = convert(name, only(name, values));
        return true;
      },
      help);
  option->type_name(type)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  option->default_str(default_text(value));
  return option;
}

template <typename Value>
void add_number_option(CLI::App& app, const std::string& group, const std::string& names, const std::string& type,
                       Value& value, Value least, Value most, const std::string& help) {
  add_option(app, names, type, value, help, [least, most](const std::string& name, const std::string& text) {
    return to_number(name, text, least, most);
  })->group(group);
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool is_listed(const CLI::App* command) {
  return !command->get_group().empty();
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(is_listed)) names.push_back(command->get_name());
  return names;
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> names = names_of_commands(app);
  return fmt::format("\"{}\" is not a command{}; allowed: {}", word, did_you_mean(word, names), join(names));
}

// `command` is "softdat" or "softdat perf".
[[noreturn]] void refuse_word(const CLI::App& app, const std::string& command, const std::string& word) {
  if (word.front() != '-') {
    throw UsageError(fmt::format("\"{}\" after {} is one word too many; see {} --help", word, command, command));
  }
  const std::string name = without_value(word);
  throw UsageError(fmt::format("\"{}\" is not an option of {}{}; see {} --help", name, command,
                               did_you_mean(name, names_of_options(app)), command));
}

// Whether the option's value is the next word, as that of "-n 4" and "--copies 4" but not of "-n4" and "--copies=4".
bool takes_next_word(const CLI::App& command, const std::string& word) {
  const bool is_long = word.starts_with("--");
  if (is_long ? word.find('=') != word.npos : word.size() != 2) return false;
  const CLI::Option* const option = command.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_min() > 0;
}

// Of a command that runs a program.
class ProgramFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* command, std::string /*name*/) const override {
    return fmt::format("Usage: softdat {} [OPTIONS] -- PROGRAM [ARGUMENTS]\n\n", command->get_name());
  }
};

std::string version_text() {
  const RegistryLibrary registry = registry_library();
  return fmt::format("softdat {}\nDAT registry: {} ({})\n", SOFTDAT_VERSION, registry.path,
                     registry.is_ours ? "SoftDAT" : "not SoftDAT's");
}

}  // namespace

void Subcommand::set_footer(const std::string& text) {
  app_->footer(text);
}

void Subcommand::add_flag(const std::string& names, bool& value, const std::string& help) {
  app_->add_flag(names, value, help)->group(group_);
}

void Subcommand::add_text(const std::string& names, const std::string& type, std::string& value,
                          const std::string& help) {
  add_option(*app_, names, type, value, help, [](const std::string& name, const std::string& text) {
    if (text.empty()) throw UsageError(fmt::format("{} \"\" is empty; give a value", name));
    // "softdat run --capture -- PROGRAM".
    if (text == "--") throw UsageError(fmt::format("{} needs a value before --", name));
    return text;
  })->group(group_);
}

void Subcommand::add_word(const std::string& names, const std::vector<std::string>& words, std::string& value,
                          const std::string& help) {
  CLI::Option* const option =
      add_option(*app_, names, "WORD", value, help, [words](const std::string& name, const std::string& text) {
        const std::string word = lower_case(text);
        if (std::find(words.begin(), words.end(), word) != words.end()) return word;
        throw UsageError(
            fmt::format("{} \"{}\" is unknown{}; allowed: {}", name, text, did_you_mean(text, words), join(words)));
      });
  option->group(group_);
  notes_->choices.emplace(option, words);
}

void Subcommand::add_optional_word(const std::string& names, const std::vector<std::string>& words,
                                   const std::string& without, std::string& value, const std::string& help) {
  CLI::Option* const option = app_->add_option(
      names,
      [&value, names, words, without](const std::vector<std::string>& values) {
        const std::string word = values.empty() || values.front().empty() ? without : lower_case(values.front());
        if (word != without && std::find(words.begin(), words.end(), word) == words.end()) {
          throw UsageError(
              fmt::format("{} \"{}\" is unknown{}; allowed: {}", names, word, did_you_mean(word, words), join(words)));
        }
        value = word;
        return true;
      },
      help);
  option->type_name("WORD")->expected(0, 1)->group(group_);
  notes_->choices.emplace(option, words);
}

void Subcommand::add_number(const std::string& names, const std::string& type, std::uint32_t& value,
                            std::uint32_t least, std::uint32_t most, const std::string& help) {
  add_number_option(*app_, group_, names, type, value, least, most, help);
}

void Subcommand::add_number(const std::string& names, const std::string& type, std::uint64_t& value,
                            std::uint64_t least, std::uint64_t most, const std::string& help) {
  add_number_option(*app_, group_, names, type, value, least, most, help);
}

void Subcommand::add_number(const std::string& names, const std::string& type, double& value, double least, double most,
                            const std::string& help) {
  add_number_option(*app_, group_, names, type, value, least, most, help);
}

void Subcommand::add_texts(const std::string& names, const std::string& type, std::vector<std::string>& values,
                           const std::string& help) {
  CLI::Option* const option = app_->add_option(names, values, help);
  option->type_name(type)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->group(group_);
}

void Subcommand::add_program(std::vector<std::string>& words) {
  notes_->programs.emplace(app_, &words);
  app_->formatter(std::make_shared<ProgramFormatter>());
}

void Subcommand::add_marked_program(std::vector<std::string>& words) {
  notes_->programs.emplace(app_, &words);
  notes_->marked.insert(app_);
}

void Subcommand::add_operand(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->type_name("");
}

bool Subcommand::is_chosen() const {
  return app_->parsed();
}

bool Subcommand::has(const std::string& option) const {
  return app_->count(option) != 0;
}

CommandLine::CommandLine() : app_(std::make_unique<CLI::App>("SoftDAT: uDAPL without the HCA", "softdat")) {
  app_->footer(kFooter);
  app_->require_subcommand(0, 1);
  // Words that CLI11 does not know are left over (allow_extras), and refuse_extras() words the refusal.
  app_->allow_extras();
  app_->add_flag("--version", wants_version_, "Print the version, and the DAT registry in use");
}

CommandLine::~CommandLine() = default;

Subcommand CommandLine::add(const std::string& name, const std::string& help) {
  CLI::App* const command = app_->add_subcommand(name, help);
  command->group("Commands")->allow_extras();
  return {*command, notes_};
}

Subcommand CommandLine::add_hidden(const std::string& name) {
  CLI::App* const command = app_->add_subcommand(name, "");
  command->group("")->allow_extras();
  return {*command, notes_};
}

std::optional<int> CommandLine::parse(int argc, const char* const* argv) {
  // These come last, behind the commands of main(), and stand last in the help.
  add("help", "Explain softdat, or the command that follows").add_operand("command", topic_, "A command");
  add("version", "Print the version, and the DAT registry in use");
  add_hidden("complete-words").add_program(to_complete_);
  try {
    return parse_words({argv + 1, argv + argc});
  } catch (const CLI::CallForHelp&) {
    print_out(app_->help());
    return 0;
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string text = mismatch.what();
    throw UsageError(fmt::format("{} needs a value", text.substr(0, text.find(':'))));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

// Takes the program and its arguments out of the words, for which CLI11 has no rule of this kind.
void CommandLine::take_program(std::vector<std::string>& words) const {
  const auto is_chosen = [&](const auto& program) {
    return !words.empty() && program.first->get_name() == words.front();
  };
  const auto chosen = std::find_if(notes_.programs.begin(), notes_.programs.end(), is_chosen);
  if (chosen == notes_.programs.end()) return;
  auto word = std::next(words.begin());
  // Such a command may have operands of its own; its program begins only behind "--".
  if (notes_.marked.contains(chosen->first)) word = std::find(word, words.end(), "--");
  while (word != words.end() && word->size() > 1 && word->front() == '-' && *word != "--") {
    word += takes_next_word(*chosen->first, *word) && std::next(word) != words.end() ? 2 : 1;
  }
  const bool is_marked = word != words.end() && *word == "--";
  chosen->second->assign(is_marked ? std::next(word) : word, words.end());
  // CLI11 then sees neither the program nor its options.
  words.erase(word, words.end());
}

std::optional<int> CommandLine::parse_words(std::vector<std::string> words) {
  take_program(words);
  // CLI11 takes them from the back.
  std::reverse(words.begin(), words.end());
  app_->parse(std::move(words));
  refuse_extras();
  if (wants_version_ || app_->got_subcommand("version")) {
    print_out(version_text());
    return 0;
  }
  if (app_->got_subcommand("help")) return print_help_of(topic_);
  if (app_->got_subcommand("complete-words")) {
    print_out(complete(*app_, notes_, to_complete_));
    return 0;
  }
  // A command was chosen: its caller runs it.
  if (!app_->get_subcommands().empty()) return std::nullopt;
  std::fputs(app_->help().c_str(), stderr);
  return kExitUsage;
}

void CommandLine::refuse_extras() const {
  if (const std::vector<std::string> words = app_->remaining(); !words.empty()) {
    if (words.front().front() == '-') refuse_word(*app_, "softdat", words.front());
    throw UsageError(unknown_command(*app_, words.front()));
  }
  for (const CLI::App* command : app_->get_subcommands()) {
    const std::vector<std::string> words = command->remaining();
    if (!words.empty()) refuse_word(*command, "softdat " + command->get_name(), words.front());
  }
}

int CommandLine::print_help_of(const std::string& command) const {
  const std::vector<std::string> names = names_of_commands(*app_);
  if (command.empty()) {
    // App::help() would print the help of the chosen command, which is "help".
    print_out(app_->get_formatter()->make_help(app_.get(), "softdat", CLI::AppFormatMode::Normal));
  } else if (std::find(names.begin(), names.end(), command) == names.end()) {
    throw UsageError(unknown_command(*app_, command));
  } else {
    print_out(app_->get_subcommand(command)->help("softdat"));
  }
  return 0;
}

}  // namespace softdat::tools
