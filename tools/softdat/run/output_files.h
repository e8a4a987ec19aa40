// SPDX-License-Identifier: BSD-2-Clause
// The files that a command writes.
#pragma once

#include <string>
#include <vector>

namespace softdat::tools::run {

struct OutputFile {
  const char* option;
  std::string name;  // empty: it is not asked for
};

// UsageError when two of them are one file, whatever they are called. Devices such as /dev/null take several outputs.
void require_different(const std::vector<OutputFile>& files);

// UsageError when one of them is "-": standard output belongs to the programs that run.
void require_files(const std::vector<OutputFile>& files);

}  // namespace softdat::tools::run
