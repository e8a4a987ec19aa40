// SPDX-License-Identifier: BSD-2-Clause
// The file that keeps what each run did: a line of JSON that names the program, then one for each run.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tools/softdat/sweep/trial.h"

namespace softdat::tools::sweep {

class ResultsFile {
 public:
  // `command` names what is swept, with all that results depend on. `resumes`: keeps the results that are there, which
  // must be of the same command.
  // No other sweep can write the file meanwhile. UsageError, Failure.
  ResultsFile(const std::string& path, const std::string& command, bool resumes);

  // Those that were there.
  const std::vector<Trial>& trials() const { return trials_; }
  // Writes at once. Failure when it cannot be written, as on a full disk.
  void add(const Trial& trial);

 private:
  void lock();
  void read(const std::string& command);
  void write(const std::string& text);

  const std::string path_;
  const base::UniqueFd file_;
  std::vector<Trial> trials_;
};

}  // namespace softdat::tools::sweep
