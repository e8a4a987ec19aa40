// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/service_port.h"

#include <algorithm>

#include "base/mix.h"

namespace softdat::transport::tcp {

std::vector<std::uint16_t> ports_of(std::uint64_t service_id) {
  std::vector<std::uint16_t> ports;
  if (is_port(service_id)) ports.push_back(static_cast<std::uint16_t>(service_id));
  // An id that is a port has only that one, so foreign peers find it. A privileged one has a sequence as well, for
  // listeners without the right to it.
  if (is_port(service_id) && service_id >= 1024) return ports;
  const std::size_t wanted = ports.size() + kProbeCount;
  for (std::uint64_t state = service_id; ports.size() < wanted; state += base::kMixStep) {
    const auto port = static_cast<std::uint16_t>(kFirstProbePort + base::mix(state) % kProbePorts);
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  }
  return ports;
}

}  // namespace softdat::transport::tcp
