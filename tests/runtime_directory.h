// SPDX-License-Identifier: BSD-2-Clause
// Tests run at the same time, and each adapter that opens removes the socket files of the dead. A test that looks at
// these files has a directory of its own for them.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace softdat {

// The directory where the processes of a test meet, and no other test's: XDG_RUNTIME_DIR, for this process and its
// children, while it lives. Make one before the first adapter opens.
class RuntimeDirectory {
 public:
  RuntimeDirectory() {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no directory could be made in /tmp");
    ::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
  }
  ~RuntimeDirectory() {
    ::unsetenv("XDG_RUNTIME_DIR");
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RuntimeDirectory(const RuntimeDirectory&) = delete;
  RuntimeDirectory& operator=(const RuntimeDirectory&) = delete;

  const std::string& path() const { return path_; }
  // No socket file, and not even the directory that held them.
  bool is_empty() const { return std::filesystem::is_empty(path_); }
  // No socket file of a listener. At those named "capture-..." adapters hear of `softdat capture`
  // (base/capture_control.h): an open adapter has one, and that of a dead process goes when the next adapter opens.
  bool has_no_listeners() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_, error)) {
      if (entry.is_socket(error) && !entry.path().filename().string().starts_with("capture-")) return false;
    }
    return true;
  }

 private:
  std::string path_ = "/tmp/runtime-of-test-XXXXXX";
};

}  // namespace softdat
