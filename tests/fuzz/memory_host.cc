// SPDX-License-Identifier: BSD-2-Clause
#include "tests/fuzz/memory_host.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace softdat::fuzz {
namespace {

struct Variable {
  const char* name = nullptr;
  std::string value;
};
// Strings are kept, so that a value takes no memory anew.
std::array<Variable, 32> variables;
std::size_t variable_count = 0;
bool is_there = false;
unsigned lines = 0;

struct InterfaceRow {
  const char* name;
  int family;  // AF_UNSPEC: it has no address
  const char* address;
  unsigned index;
};
constexpr InterfaceRow kInterfaces[] = {
    {"lo", AF_INET, "127.0.0.1", 1},
    {"eth0", AF_PACKET, "", 2},
    {"eth0", AF_INET, "192.0.2.7", 2},
    {"down0", AF_UNSPEC, "", 3},
    {"lo", AF_INET6, "::1", 1},
    {"eth0", AF_INET6, "2001:db8::7", 2},
    {"eth0", AF_INET6, "fe80::7", 2},
    {"fifteen-letters", AF_INET6, "fe80::f", 4},
    {"fifteen-letters", AF_INET, "10.0.0.1", 4},
};

// The list that getifaddrs() gives. It never changes.
class Interfaces {
 public:
  Interfaces() {
    for (std::size_t i = 0; i < std::size(kInterfaces); ++i) {
      fill(kInterfaces[i], list_[i], addresses_[i]);
      list_[i].ifa_next = i + 1 < list_.size() ? &list_[i + 1] : nullptr;
    }
  }
  ifaddrs* first() { return list_.data(); }

 private:
  static void fill(const InterfaceRow& row, ifaddrs& entry, sockaddr_storage& address) {
    entry.ifa_name = const_cast<char*>(row.name);
    if (row.family == AF_UNSPEC) return;
    address.ss_family = static_cast<sa_family_t>(row.family);
    if (row.family == AF_INET) inet_pton(AF_INET, row.address, &reinterpret_cast<sockaddr_in&>(address).sin_addr);
    if (row.family == AF_INET6) {
      auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
      inet_pton(AF_INET6, row.address, &ipv6.sin6_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&ipv6.sin6_addr)) ipv6.sin6_scope_id = row.index;
    }
    entry.ifa_addr = reinterpret_cast<sockaddr*>(&address);
  }
  std::array<ifaddrs, std::size(kInterfaces)> list_{};
  std::array<sockaddr_storage, std::size(kInterfaces)> addresses_{};
};

void hear(std::string_view line) {
  ++lines;
  expect(line.starts_with("softdat[") && line.size() <= 512, "a line of the log says whose it is, and is short");
  expect(line.find('\n') == line.size() - 1, "a line of the log is one line");
}

}  // namespace

MemoryHost::MemoryHost() {
  is_there = true;
  variable_count = 0;
  lines = 0;
}
MemoryHost::~MemoryHost() {
  is_there = false;
}
void MemoryHost::set_variable(const char* name, std::string value) {
  for (Variable& variable : std::span(variables).first(variable_count)) {
    if (std::strcmp(variable.name, name) == 0) {
      variable.value = std::move(value);
      return;
    }
  }
  expect(variable_count < variables.size(), "there are not so many variables");
  variables[variable_count++] = {name, std::move(value)};
}
unsigned MemoryHost::lines_said() const {
  return lines;
}

}  // namespace softdat::fuzz

// The linker's names of what was wrapped and of what wraps it.
extern "C" {
char* __real_getenv(const char* name);
int __real_getifaddrs(ifaddrs** list);
void __real_freeifaddrs(ifaddrs* list);
unsigned __real_if_nametoindex(const char* name);
char* __real_if_indextoname(unsigned index, char* name);
ssize_t __real_write(int fd, const void* bytes, std::size_t length);

char* __wrap_getenv(const char* name) {
  using namespace softdat::fuzz;
  if (!is_there) return __real_getenv(name);
  for (Variable& variable : std::span(variables).first(variable_count)) {
    if (std::strcmp(variable.name, name) == 0) return variable.value.data();
  }
  return nullptr;
}

int __wrap_getifaddrs(ifaddrs** list) {
  using namespace softdat::fuzz;
  if (!is_there) return __real_getifaddrs(list);
  static Interfaces interfaces;
  *list = interfaces.first();
  return 0;
}

void __wrap_freeifaddrs(ifaddrs* list) {
  if (!softdat::fuzz::is_there) __real_freeifaddrs(list);
}

unsigned __wrap_if_nametoindex(const char* name) {
  using namespace softdat::fuzz;
  if (!is_there) return __real_if_nametoindex(name);
  for (const InterfaceRow& row : kInterfaces) {
    if (std::strcmp(row.name, name) == 0) return row.index;
  }
  errno = ENODEV;
  return 0;
}

char* __wrap_if_indextoname(unsigned index, char* name) {
  using namespace softdat::fuzz;
  if (!is_there) return __real_if_indextoname(index, name);
  for (const InterfaceRow& row : kInterfaces) {
    if (row.index == index) return std::strcpy(name, row.name);
  }
  errno = ENXIO;
  return nullptr;
}

ssize_t __wrap_write(int fd, const void* bytes, std::size_t length) {
  using namespace softdat::fuzz;
  if (!is_there || fd != STDERR_FILENO) return __real_write(fd, bytes, length);
  hear({static_cast<const char*>(bytes), length});
  return static_cast<ssize_t>(length);
}
}
