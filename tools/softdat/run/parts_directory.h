// SPDX-License-Identifier: BSD-2-Clause
// PartsDirectory: the directory into which each process of `softdat run` writes one file. merge() makes one file of
// all.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/softdat/scratch_directory.h"

namespace softdat::tools::run {

class PartsDirectory {
 public:
  // Creates FILE, empty, so that an unwritable name is an error before the program runs, and a directory beside it.
  // `what` is the word for the file in errors. Throws Failure. The destructor removes the directory, unless merge() has
  // kept it.
  PartsDirectory(const char* what, const std::string& file);

  const std::string& path() const { return directory_->path(); }
  // Calls make() with the sorted paths of the files, and returns their number. If make() throws and there are files,
  // keeps the directory; a Failure then names it.
  std::size_t merge(const std::function<void(const std::vector<std::string>&)>& make);

 private:
  const char* const what_;
  std::optional<ScratchDirectory> directory_;
};

}  // namespace softdat::tools::run
