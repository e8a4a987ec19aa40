// SPDX-License-Identifier: BSD-2-Clause
// The commands and options of softdat, and the messages about wrong ones. CLI11 reads the words behind it: its headers
// take seconds to compile, so that one file alone includes them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/softdat/dat_call.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace softdat::tools {

// The command line makes no sense: nothing was begun. main() exits with kExitUsage.
class UsageError : public Failure {
 public:
  using Failure::Failure;
};

// What the commands say of themselves beyond what CLI11 knows.
struct CommandNotes {
  std::map<const CLI::App*, std::vector<std::string>*>
      programs;                      // of a command that runs a program: where its words go
  std::set<const CLI::App*> marked;  // of these, those whose program stands behind "--" only
  std::map<const CLI::Option*, std::vector<std::string>> choices;  // of an option that takes one word of these
};

// One command and its options. A small value that refers to its CommandLine and must not outlive it.
//
// Each add_ function takes the option's names ("-s,--size"), the variable that holds the default and receives the value
// during CommandLine::parse(), and a line of help. `type` is how the help calls the value. An option may be given once.
// A default of zero, or of an empty text, is not shown in the help.
class Subcommand {
 public:
  Subcommand(CLI::App& app, CommandNotes& notes) : app_(&app), notes_(&notes) {}

  void set_footer(const std::string& text);
  // The heading in the help for the options that are added from now on.
  void set_group(const std::string& heading) { group_ = heading; }

  void add_flag(const std::string& names, bool& value, const std::string& help);
  void add_text(const std::string& names, const std::string& type, std::string& value, const std::string& help);
  // One of the words, in any letter case; `value` receives it in lower case.
  void add_word(const std::string& names, const std::vector<std::string>& words, std::string& value,
                const std::string& help);
  // A number from `least` to `most`.
  void add_number(const std::string& names, const std::string& type, std::uint32_t& value, std::uint32_t least,
                  std::uint32_t most, const std::string& help);
  void add_number(const std::string& names, const std::string& type, std::uint64_t& value, std::uint64_t least,
                  std::uint64_t most, const std::string& help);
  void add_number(const std::string& names, const std::string& type, double& value, double least, double most,
                  const std::string& help);
  // An option that may stand without a value, which then is `without`; else one of the words follows "=".
  void add_optional_word(const std::string& names, const std::vector<std::string>& words, const std::string& without,
                         std::string& value, const std::string& help);
  // An option that may be given again; `values` receives each.
  void add_texts(const std::string& names, const std::string& type, std::vector<std::string>& values,
                 const std::string& help);
  // A program and its arguments: `words` receives everything from the first word that is no option on, or after "--".
  void add_program(std::vector<std::string>& words);
  // The same of a command that has an operand too: only what follows "--".
  void add_marked_program(std::vector<std::string>& words);
  // A word without a dash that may follow the command.
  void add_operand(const std::string& name, std::string& value, const std::string& help);

  // Whether the user gave this command; whether the user gave this option. After parse().
  bool is_chosen() const;
  bool has(const std::string& option) const;

 private:
  CLI::App* app_;
  CommandNotes* notes_;
  std::string group_ = "Options";
};

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Subcommand add(const std::string& name, const std::string& help);
  // A command that the tool itself starts and that no help lists.
  Subcommand add_hidden(const std::string& name);

  // Reads the words. Returns an exit status when the words ask for nothing but help or a version, which it prints;
  // otherwise one command is chosen. UsageError when the words make no sense.
  std::optional<int> parse(int argc, const char* const* argv);

 private:
  std::optional<int> parse_words(std::vector<std::string> words);
  void take_program(std::vector<std::string>& words) const;
  void refuse_extras() const;
  int print_help_of(const std::string& command) const;

  std::unique_ptr<CLI::App> app_;
  CommandNotes notes_;
  bool wants_version_ = false;
  std::string topic_;  // of `softdat help TOPIC`
  std::vector<std::string> to_complete_;
};

}  // namespace softdat::tools
