// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace softdat::tools {

// $TMPDIR, or else /tmp.
std::string temporary_directory();

// A directory that only this user may enter, with a name that begins so. Its destructor removes it and all that is in
// it, unless keep(true) was the last call of keep().
class ScratchDirectory {
 public:
  // Failure when it cannot be made.
  explicit ScratchDirectory(const std::string& name, const std::string& parent = temporary_directory());
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  void keep(bool is_kept) { is_kept_ = is_kept; }

 private:
  std::string path_;
  bool is_kept_ = false;
};

}  // namespace softdat::tools
