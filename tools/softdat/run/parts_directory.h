// SPDX-License-Identifier: BSD-2-Clause
// PartsDirectory: where the processes of `softdat run` write a file each, of which the end makes one.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace softdat::tools::run {

class PartsDirectory {
 public:
  // Makes FILE, empty, so that a name that cannot be written is known before the program runs, and a directory beside
  // it. `what` is the word for the file in errors. Throws Failure.
  PartsDirectory(const char* what, const std::string& file);
  // Removes the directory, unless merge() has failed and there is something in it.
  ~PartsDirectory();
  PartsDirectory(const PartsDirectory&) = delete;
  PartsDirectory& operator=(const PartsDirectory&) = delete;

  const std::string& path() const { return path_; }
  // Calls make() with the paths of the files, sorted. If it throws Failure, the files stay, and the Failure that leaves
  // this function says where. Returns how many files there are.
  std::size_t merge(const std::function<void(const std::vector<std::string>&)>& make);

 private:
  const char* const what_;
  std::string path_;
  bool is_kept_ = false;
};

}  // namespace softdat::tools::run
