// SPDX-License-Identifier: BSD-2-Clause
// How a test knows that another thread of its process sleeps.
#pragma once

#include <fstream>
#include <string>
#include <thread>

namespace softdat {

// Until the thread sleeps in the kernel. As /proc/self/task/TID/stat has it, behind the name in parentheses.
inline void await_asleep(int thread) {
  for (;;) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t at = line.rfind(") ");
    if (at != std::string::npos && at + 2 < line.size() && line[at + 2] == 'S') return;
    std::this_thread::yield();
  }
}

}  // namespace softdat
