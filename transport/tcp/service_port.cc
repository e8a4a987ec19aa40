// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/service_port.h"

#include <algorithm>

namespace softdat::transport::tcp {
namespace {

// The output function of SplitMix64 (Steele, Lea, Flood 2014): every bit of the id moves every bit.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

constexpr std::uint64_t kIncrement = 0x9e3779b97f4a7c15;

}  // namespace

std::vector<std::uint16_t> ports_of(std::uint64_t service_id) {
  std::vector<std::uint16_t> ports;
  if (is_port(service_id)) ports.push_back(static_cast<std::uint16_t>(service_id));
  // An id that is a port has only that one, so foreign peers find it. A privileged one has a sequence as well, for
  // listeners without the right to it.
  if (is_port(service_id) && service_id >= 1024) return ports;
  std::uint64_t state = service_id;
  for (std::size_t found = 0; found < kProbeCount;) {
    state += kIncrement;
    const auto port = static_cast<std::uint16_t>(kFirstProbePort + mix(state) % kProbePorts);
    if (std::find(ports.begin(), ports.end(), port) != ports.end()) continue;
    ports.push_back(port);
    ++found;
  }
  return ports;
}

}  // namespace softdat::transport::tcp
