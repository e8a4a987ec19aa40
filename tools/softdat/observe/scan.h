// SPDX-License-Identifier: BSD-2-Clause
// Finds the processes that show their counters, and reads them. Works for processes that are busy, asleep, stopped or
// dying; disturbs none; believes none. base/counter_file.h has the format.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tools/softdat/observe/snapshot.h"

namespace softdat::tools::observe {

// Number and start together name one process; another one may get the number.
struct Process {
  pid_t pid = 0;
  std::uint64_t start = 0;         // base/process_start.h
  std::string program;             // /proc/PID/comm; printable
  std::uint64_t pinned_bytes = 0;  // that the kernel keeps in memory for it: VmPin and VmLck
  double age_s = 0;                // of the snapshot
  Snapshot snapshot;
};

// One thread at a time.
class Scanner {
 public:
  // Failure when the system has no memfd_create() or no /proc.
  Scanner();

  // All processes of this user that show their counters, by process id. `only`: that one alone, if it is not 0.
  // A process that ends meanwhile, or whose counters cannot be understood, is left out. Failure when this process lacks
  // descriptors or memory.
  std::vector<Process> scan(pid_t only = 0);

 private:
  std::optional<Process> look_at(pid_t pid) const;
  base::UniqueFd open_counters(const std::string& path) const;

  dev_t memfd_device_ = 0;  // the file system of memfds
};

struct Owner {
  std::uint32_t pid = 0;    // as the process counts itself
  std::uint64_t start = 0;  // base/process_start.h
};
// A whole snapshot from an open counter file of that process. Empty: there is none.
std::optional<Snapshot> read_counters(int file, const Owner& owner);

}  // namespace softdat::tools::observe
