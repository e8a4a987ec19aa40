// SPDX-License-Identifier: BSD-2-Clause
// Journal: what fired, as the statements of a plan that makes it fire again.
#pragma once

#include <string>
#include <string_view>

#include "base/guarded.h"
#include "base/unique_fd.h"
#include "simnic/lock_places.h"

namespace softdat::simnic::fault {

// Adds lines to a file, each by one write, so that several processes may share the file, and a process that is killed
// leaves the lines of all that fired in it. The file is opened again when the program has closed its descriptor, or
// given the number to another file, and in a child of fork(). Any thread.
class Journal {
 public:
  // Opens the file of SOFTDAT_FAULTS_LOG; without that variable, or in a set-user-id program, nothing is written.
  // is_usable() is false, with the reason logged, if the file cannot be opened.
  Journal();
  explicit Journal(const std::string& path);

  bool is_usable() const { return is_usable_; }
  // Whether add() writes at all.
  bool is_open() const { return is_usable_ && !path_.empty(); }
  // `line` has no line break.
  void add(std::string line);

 private:
  const std::string path_;  // empty: nothing is written
  base::Guarded<base::UniqueFd, locks::kJournal> file_{};
  bool is_usable_ = true;
};

}  // namespace softdat::simnic::fault
