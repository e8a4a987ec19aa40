// SPDX-License-Identifier: BSD-2-Clause
// A host in memory: the environment, the network interfaces and standard error of the process. The linker sends
// getenv(), getifaddrs(), freeifaddrs(), if_nametoindex(), if_indextoname() and write() here (WRAP in CMakeLists.txt),
// so that an input takes no system call, leaves nothing behind in the real environment, and sees the same interfaces on
// every machine.
#pragma once

#include <span>
#include <string>

namespace softdat::fuzz {

// One at a time: the process has one environment.
class MemoryHost {
 public:
  MemoryHost();
  ~MemoryHost();
  MemoryHost(const MemoryHost&) = delete;
  MemoryHost& operator=(const MemoryHost&) = delete;

  // All other variables are unset. `name` outlives the host.
  void set_variable(const char* name, std::string value);
  // How many lines have come on standard error. Each is checked: it is one of the log, and ends with its only newline.
  unsigned lines_said() const;
};

}  // namespace softdat::fuzz
