// SPDX-License-Identifier: BSD-2-Clause
// What kind of file a program is, and which DAT library it was built for.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace softdat::tools::run {

struct ProgramFile {
  std::string path;
  bool is_elf = false;         // otherwise a script, or something that the kernel will refuse
  bool is_foreign = false;     // an ELF file for another machine or word size than ours
  bool is_static = false;      // an ELF file that no loader loads: it takes no library from outside
  bool is_privileged = false;  // set-user-id, set-group-id or with capabilities: the loader ignores LD_LIBRARY_PATH
  std::string loader;          // PT_INTERP of an ELF file
  std::vector<std::string> needed;  // DT_NEEDED
  std::string rpath;                // DT_RPATH where no DT_RUNPATH takes its place: searched before LD_LIBRARY_PATH
};

// The path that execvp() would take: the word itself when it has a slash, else the first executable file of that name
// in PATH. Nothing when there is none.
std::optional<std::string> find_program(const std::string& word);

// Reads the file; what cannot be read, or makes no sense, is left at its default.
ProgramFile inspect_program(const std::string& path);

// The libraries of DAT among those that the program needs: "libdat.so.1", "libdat2.so.2", "libdaplofa.so.2" ...
std::vector<std::string> dat_libraries(const ProgramFile& program);

}  // namespace softdat::tools::run
