// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "tools/softdat/doctor/checks.h"
#include "tools/softdat/registry_library.h"
#include "tools/softdat/run/program_file.h"
#include "tools/softdat/run/shell_text.h"

namespace softdat::tools::doctor {
namespace {

namespace fs = std::filesystem;

// Library and where the loader finds it; empty: nowhere.
using Libraries = std::map<std::string, std::string>;

// What the loader says, which is ours and runs nothing of the program. `directory` comes first on its path if it is not
// empty.
Libraries ask_loader(const run::ProgramFile& program, const std::string& directory) {
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  std::string variables;
  if (!directory.empty()) {
    const std::string whole = directory + (path == nullptr ? "" : std::string(":") + path);
    variables = "LD_LIBRARY_PATH=" + run::shell_quoted(whole) + " ";
  }
  // This is how ldd asks (ld.so(8)): the loader prints what it would load, and ends before the program begins.
  const std::string command = fmt::format("{}LD_TRACE_LOADED_OBJECTS=1 {} {} 2>/dev/null", variables,
                                          run::shell_quoted(program.loader), run::shell_quoted(program.path));
  Libraries libraries;
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), ::pclose);
  char text[4096];
  while (output != nullptr && std::fgets(text, sizeof text, output.get()) != nullptr) {
    const std::string line(text);
    const std::size_t arrow = line.find(" => ");
    if (arrow == line.npos) continue;
    const std::string name = line.substr(line.find_first_not_of(" \t"), arrow - line.find_first_not_of(" \t"));
    const std::string place = line.substr(arrow + 4);
    libraries[name] = place.starts_with("not found") ? "" : place.substr(0, place.rfind(" ("));
  }
  return libraries;
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

std::string place_text(const std::string& place, const std::string& name) {
  if (place.empty()) return fmt::format("{} is not found", name);
  return fmt::format("{} is {}{}", name, place,
                     is_same_file(place, own_library_directory() + '/' + name) ? " (SoftDAT)" : " (not SoftDAT's)");
}

// Any file may name any loader, which is a program that could do anything; only that of this program is asked.
bool has_our_loader(const run::ProgramFile& program) {
  return is_same_file(program.loader, run::inspect_program("/proc/self/exe").loader);
}

bool is_dat(const std::string& name) {
  return name.starts_with("libdat.so") || name.starts_with("libdat2.so");
}

Findings loader_findings(const run::ProgramFile& program) {
  Findings findings;
  const std::string directory = own_library_directory();
  const Libraries alone = ask_loader(program, "");
  const Libraries under_run = ask_loader(program, directory);
  bool has_dat = false;
  for (const auto& [name, place] : under_run) {
    if (is_dat(name)) {
      has_dat = true;
      const auto before = alone.find(name);
      findings.push_back({Level::kNote, "loaded", place_text(before == alone.end() ? "" : before->second, name),
                          "This is what the program loads when it is started from this shell."});
      const bool is_ours = is_same_file(place, directory + '/' + name);
      // softdat run loads ours before the loader looks there.
      const bool is_by_rpath = !is_ours && !program.rpath.empty() && fs::exists(directory + '/' + name);
      if (is_ours || is_by_rpath) {
        findings.push_back({Level::kOk, "softdat run", fmt::format("{} is {}/{}", name, directory, name), ""});
      } else {
        findings.push_back({Level::kProblem, "softdat run", place_text(place, name),
                            "SoftDAT has no library of that name that the program would take."});
      }
    } else if (place.empty()) {
      findings.push_back(
          {Level::kProblem, "loaded", fmt::format("{} is not found", name),
           "The program does not start, whichever DAT library it takes. Install the package that has it."});
    }
  }
  if (!has_dat) {
    findings.push_back({Level::kNote, "loaded", "no DAT library",
                        "The program may load one while it runs, or start another program; softdat run serves both."});
  }
  return findings;
}

}  // namespace

Findings check_program(const std::string& word) {
  const auto path = run::find_program(word);
  if (!path) {
    return {{Level::kProblem, "program", fmt::format("there is no program \"{}\"", word),
             "Give a path, or a name that is in PATH and may be executed."}};
  }
  const run::ProgramFile program = run::inspect_program(*path);
  Findings findings;
  const auto add = [&](Level level, const std::string& fact, const std::string& advice) {
    findings.push_back({level, "program", fact, advice});
  };
  if (!program.is_elf) {
    add(Level::kNote, fmt::format("{} is a script", *path), "Ask about the program that it starts.");
    return findings;
  }
  if (program.is_foreign) {
    add(Level::kProblem, fmt::format("{} is built for another kind of machine", *path),
        "SoftDAT's libraries are of this machine's kind; build the program for it.");
    return findings;
  }
  if (program.is_static) {
    add(Level::kProblem, fmt::format("{} is linked statically", *path),
        "It takes no DAT library from outside; link it with -ldat2 or -ldat as a shared library.");
    return findings;
  }
  add(Level::kOk, *path, "");
  if (program.is_privileged) {
    add(Level::kProblem, "it changes its user or has capabilities",
        "The loader then ignores LD_LIBRARY_PATH; run a copy without these rights.");
  }
  if (!has_our_loader(program)) {
    add(Level::kWarning, fmt::format("its loader is {}, which is not that of softdat and is not run", program.loader),
        "Which libraries it loads is not known; if you trust the program, ask ldd.");
    return findings;
  }
  const Findings loaded = loader_findings(program);
  findings.insert(findings.end(), loaded.begin(), loaded.end());
  return findings;
}

}  // namespace softdat::tools::doctor
