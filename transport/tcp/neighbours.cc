// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/neighbours.h"

#include <mutex>
#include <new>
#include <string>

#include "base/log.h"

namespace softdat::transport::tcp {
namespace {

constexpr char kWhy[] =
    "that process runs as another user or in another container; to share memory, run both as one user with the same "
    "XDG_RUNTIME_DIR, /run, /dev/shm and /tmp";

std::once_flag is_said;

// `what` names the neighbour by its address, or says nothing when there is no memory for that.
template <typename What>
void warn_once(const base::IpAddress& address, What what) {
  std::call_once(is_said, [&] {
    try {
      what(base::text_of(address));
    } catch (const std::bad_alloc&) {
      return;
    }
  });
}

}  // namespace

void warn_of_served_neighbour(const base::IpAddress& address, std::uint64_t service_id) {
  warn_once(address, [&](const std::string& who) {
    base::log(base::LogLevel::kWarning, "%s service %llu on this host is reached by TCP and not by shared memory: %s",
              who.c_str(), static_cast<unsigned long long>(service_id), kWhy);
  });
}

void warn_of_asking_neighbour(const base::IpAddress& address) {
  warn_once(address, [](const std::string& who) {
    base::log(base::LogLevel::kWarning, "%s on this host connects by TCP and not by shared memory: %s", who.c_str(),
              kWhy);
  });
}

}  // namespace softdat::transport::tcp
