// SPDX-License-Identifier: BSD-2-Clause
#include "transport/epoll_descriptors.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

namespace softdat::transport {
namespace {

bool is_epoll_set(const std::string& link) {
  constexpr std::string_view kName = "anon_inode:[eventpoll]";
  std::array<char, 64> text;
  const ssize_t length = ::readlink(link.c_str(), text.data(), text.size());
  return length > 0 && std::string_view(text.data(), static_cast<std::size_t>(length)) == kName;
}

struct Watched {
  int number = -1;
  unsigned long inode = 0;
};

// "tfd:       12 events:       1d data: 55d0c8a3  pos:0 ino:1a2b sdev:9": one line for each watched descriptor.
Watched read_line(const std::string& line) {
  Watched watched;
  const std::size_t at = line.find(" ino:");
  const bool is_read = at != std::string::npos && std::sscanf(line.c_str(), "tfd: %d", &watched.number) == 1 &&
                       std::sscanf(line.c_str() + at, " ino:%lx", &watched.inode) == 1;
  return is_read ? watched : Watched{};
}

// All that the set watches but `own`; none when it does not watch that.
std::vector<int> watched_beside(const std::string& information, const Watched& own) {
  std::vector<int> others;
  bool has_own = false;
  std::ifstream file(information);
  for (std::string line; std::getline(file, line);) {
    const Watched watched = read_line(line);
    if (watched.number < 0) continue;
    const bool is_own = watched.number == own.number && watched.inode == own.inode;
    has_own = has_own || is_own;
    if (!is_own) others.push_back(watched.number);
  }
  // The inode tells our descriptor from a program's that has the same number in another epoll set.
  if (!has_own) others.clear();
  return others;
}

// Not by std::filesystem, whose iterators end the process where memory is short.
std::vector<int> find(int watched) {
  struct stat status = {};
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), ::closedir);
  if (!directory || ::fstat(watched, &status) != 0) return {};
  while (const dirent* const entry = ::readdir(directory.get())) {
    const std::string number = entry->d_name;
    if (!is_epoll_set("/proc/self/fd/" + number)) continue;
    auto found = watched_beside("/proc/self/fdinfo/" + number, {watched, status.st_ino});
    if (found.empty()) continue;
    found.push_back(std::stoi(number));
    return found;
  }
  return {};
}

}  // namespace

std::vector<int> find_epoll_descriptors(int watched) noexcept try {
  return find(watched);
} catch (const std::exception&) {
  return {};
}

}  // namespace softdat::transport
