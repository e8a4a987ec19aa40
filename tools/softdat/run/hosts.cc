// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/hosts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/run/netlink.h"

namespace softdat::tools::run {
namespace {

constexpr const char* kSwitch = "softdat";
constexpr const char* kInterface = "eth0";
constexpr std::uint8_t kPrefix = 16;

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// What an administrator can change, where the system tells what forbids it.
std::string remedy(int error) {
  if (error == ENOSPC || first_line("/proc/sys/user/max_user_namespaces") == "0") {
    return "sysctl user.max_user_namespaces has to be raised";
  }
  if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0") {
    return "sysctl kernel.unprivileged_userns_clone=1 allows them";
  }
  if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "sysctl kernel.apparmor_restrict_unprivileged_userns=0 allows them";
  }
  return "run it as root, and in a container with --cap-add SYS_ADMIN --cap-add NET_ADMIN";
}

Failure refusal(const std::string& what, int error) {
  return Failure(
      fmt::format("--hosts needs network namespaces, but {}: {}; {}", what, std::strerror(error), remedy(error)));
}

void write_map(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool is_written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!is_written) throw refusal(fmt::format("{} cannot be written", path), error);
}

// Users and groups keep their numbers, so that files and peers look the same from inside.
void enter_namespaces() {
  if (::unshare(CLONE_NEWNET) == 0) return;
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) throw refusal("the system refuses user namespaces", errno);
  // Without privileges a group map is taken only after this (user_namespaces(7)).
  write_map("/proc/self/setgroups", "deny");
  write_map("/proc/self/uid_map", fmt::format("{} {} 1", user, user));
  write_map("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

int open_network() {
  const int network = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (network < 0) throw refusal("/proc/self/ns/net cannot be opened", errno);
  return network;
}

void enter_network(int network) {
  if (::setns(network, CLONE_NEWNET) != 0) throw refusal("one cannot be entered", errno);
}

// Returns in the switch's namespace.
// A namespace lives as long as a descriptor names it or a process is in it; a netlink socket belongs to the one in
// which it was made. So one thread can set up both ends of a cable.
Host make_host(std::uint32_t index, Netlink& at_switch, int switch_network) {
  Host host;
  host.address = host_address(index);
  if (::unshare(CLONE_NEWNET) != 0) throw refusal(fmt::format("number {} cannot be made", index + 1), errno);
  host.network = open_network();
  Netlink at_host;
  at_host.bring_up("lo");
  enter_network(switch_network);
  at_switch.add_cable(fmt::format("host{}", index + 1), kSwitch, kInterface, host.network);
  // Names of interfaces are looked up in the namespace of the thread.
  enter_network(host.network);
  at_host.add_address(kInterface, host.address, kPrefix);
  at_host.bring_up(kInterface);
  enter_network(switch_network);
  return host;
}

}  // namespace

std::string host_address(std::uint32_t index) {
  return fmt::format("10.77.0.{}", index + 1);
}

std::vector<Host> make_hosts(std::uint32_t count) {
  enter_namespaces();
  try {
    Netlink at_switch;
    at_switch.add_bridge(kSwitch);
    const int switch_network = open_network();
    std::vector<Host> hosts;
    for (std::uint32_t i = 0; i < count; ++i) hosts.push_back(make_host(i, at_switch, switch_network));
    return hosts;
  } catch (const Failure& failure) {
    const std::string text = failure.what();
    // Refusals of namespaces have named the remedy already; what netlink refuses has not.
    if (text.starts_with("--hosts")) throw;
    throw Failure(
        fmt::format("--hosts: {}; the kernel needs the modules veth and bridge, and the user the right to "
                    "make interfaces: {}",
                    text, remedy(0)));
  }
}

}  // namespace softdat::tools::run
