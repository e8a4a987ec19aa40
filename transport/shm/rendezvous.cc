// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/rendezvous.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

#include "base/uncancelled.h"
#include "base/unique_fd.h"
#include "transport/shm/segment.h"

namespace softdat::transport::shm {
namespace {

namespace directory = base::socket_directory;

constexpr int kNetworkCookie = 71;  // SO_NETNS_COOKIE, Linux 5.14

// Addresses mean something only within a network namespace, so its identity is part of each name. The cookie is never
// used again; an inode number may be.
std::string identify_network() {
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (::getsockopt(socket.get(), SOL_SOCKET, kNetworkCookie, &cookie, &length) == 0)
    return "n" + std::to_string(cookie);
  struct stat found = {};
  return ::stat("/proc/self/ns/net", &found) == 0 ? "i" + std::to_string(found.st_ino) : std::string();
}

}  // namespace

Rendezvous::Rendezvous() : network_(identify_network()) {}

std::string Rendezvous::suffix(const base::IpAddress& address, std::uint64_t service_id) const {
  char id[20];
  const auto end = std::to_chars(id, id + sizeof id, service_id, 16).ptr;
  return '-' + network_ + '-' + base::text_of(address) + '-' + std::string(id, end);
}

std::string Rendezvous::name(const base::IpAddress& address, std::uint64_t service_id) const {
  // The version comes first, so builds that could not share a segment do not meet.
  return std::to_string(kSegmentVersion) + suffix(address, service_id);
}

std::string Rendezvous::problem() const {
  if (network_.empty())
    return "the kernel does not identify the network namespace (SO_NETNS_COOKIE, /proc/self/ns/net)";
  return directory::problem();
}

Listening Rendezvous::listen(const base::IpAddress& address, std::uint64_t service_id) const {
  if (network_.empty()) return {.socket = {}, .file = {}, .error = ENOENT};
  return directory::listen(name(address, service_id));
}

SocketResult Rendezvous::connect(const base::IpAddress& address, std::uint64_t service_id) const {
  if (network_.empty()) return {.fd = {}, .error = ECONNREFUSED};
  return directory::connect(name(address, service_id));
}

bool Rendezvous::is_served(const base::IpAddress& address, std::uint64_t service_id) const {
  return !network_.empty() && directory::is_live(name(address, service_id));
}

// A live listener of the same service under another version; 0: none.
std::uint32_t Rendezvous::other_version(const base::IpAddress& address, std::uint64_t service_id) const {
  const std::string end = suffix(address, service_id);
  const auto version_of = [](const std::string& entry) {
    std::uint32_t version = 0;
    std::from_chars(entry.data(), entry.data() + entry.size(), version);
    return version;
  };
  return version_of(directory::find_live(
      [&](const std::string& entry) { return entry.ends_with(end) && version_of(entry) != kSegmentVersion; }));
}

bool Rendezvous::remove_if_stale(const base::IpAddress& address, std::uint64_t service_id) const {
  return directory::remove_if_stale(name(address, service_id));
}

void Rendezvous::sweep() const {
  directory::sweep();
}

std::string Rendezvous::path(const base::IpAddress& address, std::uint64_t service_id) const {
  return directory::path(name(address, service_id));
}

}  // namespace softdat::transport::shm
