// SPDX-License-Identifier: BSD-2-Clause
#include "base/socket_holder.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <vector>

#include "base/call.h"

namespace softdat::base {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The names in a directory; none if it cannot be read.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  while (const dirent* const entry = directory ? ::readdir(directory.get()) : nullptr)
    names.emplace_back(entry->d_name);
  return names;
}

// A descriptor of a socket is a link to "socket:[inode]" (proc(5)).
bool holds(const std::string& process, const std::string& socket) {
  const std::string descriptors = "/proc/" + process + "/fd";
  const auto names = names_in(descriptors);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    std::array<char, 64> target;
    const ssize_t length = ::readlink((descriptors + '/' + name).c_str(), target.data(), target.size());
    return length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)) == socket;
  });
}

std::string holder_of(const std::string& inode) {
  const std::string socket = "socket:[" + inode + ']';
  const std::string self = std::to_string(::getpid());
  // /proc shows descriptors of this user's processes only; a socket of another user is found in the table, without a
  // holder.
  if (holds(self, socket)) return "this process";
  for (const std::string& process : names_in("/proc")) {
    if (process.find_first_not_of("0123456789") != std::string::npos || !holds(process, socket)) continue;
    std::string name;
    std::ifstream file("/proc/" + process + "/comm");
    std::getline(file, name);
    return "process " + process + " (" + name + ')';
  }
  return "";
}

// The words of a line.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The inode of a socket that listens at that port. A line: number, local address "0100007F:15B3", remote address, state
// (0A: listening), four more, inode.
std::optional<std::string> inode_of_tcp_port(const char* table, std::uint16_t port) {
  constexpr std::size_t kLocal = 1, kState = 3, kInode = 9;
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    const auto words = words_of(line);
    if (words.size() <= kInode || words[kState] != "0A") continue;
    const std::string digits = words[kLocal].substr(words[kLocal].find(':') + 1);
    if (std::strtoul(digits.c_str(), nullptr, 16) == port) return words[kInode];
  }
  return std::nullopt;
}

template <typename Find>
// Adds to the words of the refused call which process has the port. Costs a walk through /proc, so it is done only for
// a failure.
void blame(const Find& find) try {
  Call* const call = current_call();
  if (call == nullptr) return;
  const std::string holder = find();
  if (!holder.empty()) call->refuse(holder + " listens there already");
} catch (const std::bad_alloc&) {
}

}  // namespace

std::string holder_of_tcp_port(std::uint16_t port) {
  for (const char* const table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    if (const auto inode = inode_of_tcp_port(table, port)) return holder_of(*inode);
  }
  return "";
}

// A line: number, references, protocol, flags (bit 16: listening), type, state, inode, path.
std::string holder_of_unix_socket(std::string_view name) {
  constexpr std::size_t kFlags = 3, kInode = 6, kPath = 7;
  constexpr unsigned long kListens = 0x10000;
  std::ifstream file("/proc/net/unix");
  for (std::string line; std::getline(file, line);) {
    const auto words = words_of(line);
    if (words.size() <= kPath || !words[kPath].ends_with(name)) continue;
    if ((std::strtoul(words[kFlags].c_str(), nullptr, 16) & kListens) != 0) return holder_of(words[kInode]);
  }
  return "";
}

void blame_holder_of_tcp_port(std::uint16_t port) {
  blame([port] { return holder_of_tcp_port(port); });
}

void blame_holder_of_unix_socket(std::string_view name) {
  blame([name] { return holder_of_unix_socket(name); });
}

}  // namespace softdat::base
