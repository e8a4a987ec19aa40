// SPDX-License-Identifier: BSD-2-Clause
#include "base/runner.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/uncancelled.h"
#include "base/unique_fd.h"

namespace softdat::base {
namespace {

// The socket's address; of family 0 when there is no runner.
sockaddr_un g_runner{};

void find_runner() {
  const char* const path = ::secure_getenv("SOFTDAT_RUN_SOCKET");
  if (path == nullptr || *path == '\0' || std::strlen(path) >= sizeof g_runner.sun_path) return;
  g_runner.sun_family = AF_UNIX;
  std::strcpy(g_runner.sun_path, path);
}

// Unlike a static local, call_once() begins anew in a child of fork() whose parent was in the midst of it.
const sockaddr_un& runner() {
  static std::once_flag once;
  std::call_once(once, find_runner);
  return g_runner;
}

}  // namespace

bool has_runner() {
  return runner().sun_family != 0;
}

void tell_runner(std::string_view lines) {
  if (!has_runner()) return;
  const Uncancelled guard;
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return;
  // Never blocks: a runner that has stopped reading loses lines, and the program goes on.
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&runner()), sizeof(sockaddr_un)) != 0) return;
  while (!lines.empty()) {
    const ssize_t sent = ::send(socket.get(), lines.data(), lines.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    lines.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string runner_word(std::string_view word) {
  std::string clean(word);
  for (char& letter : clean) {
    if (static_cast<unsigned char>(letter) < 0x20) letter = ' ';
  }
  return clean;
}

bool are_mistakes_told() {
  return ::secure_getenv("SOFTDAT_RUN_TOLD") != nullptr;
}

}  // namespace softdat::base
