// SPDX-License-Identifier: BSD-2-Clause
// How a test knows that another thread of its process sleeps.
#pragma once

#include <fstream>
#include <string>
#include <thread>

namespace softdat {

// Whether the thread sleeps in the kernel. Its state stands in /proc/self/task/TID/stat behind the name in parentheses.
inline bool is_asleep(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end_of_name = line.rfind(") ");
  return end_of_name != std::string::npos && line.at(end_of_name + 2) == 'S';
}

inline void await_asleep(int thread) {
  while (!is_asleep(thread)) std::this_thread::yield();
}

}  // namespace softdat
