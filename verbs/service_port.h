// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace softdat::verbs {

// The connection manager's port for a service. One that fits is the port itself, for every peer. The
// others, which only peers of our own kind can mean, are spread over ports that systems neither give out
// by themselves nor have services at; two that meet there cannot both be listened at. Programs count
// their services up, so those of one block of as many as there are ports never meet.
constexpr std::uint16_t port_of_service(std::uint64_t service_id) {
  if (service_id > 0 && service_id <= 0xffff) return static_cast<std::uint16_t>(service_id);
  constexpr std::uint64_t kFirst = 16384;
  constexpr std::uint64_t kCount = 16384;
  std::uint64_t block = service_id / kCount;
  block = (block ^ (block >> 30)) * 0xbf58'476d'1ce4'e5b9;
  block = (block ^ (block >> 27)) * 0x94d0'49bb'1331'11eb;
  block ^= block >> 31;
  return static_cast<std::uint16_t>(kFirst + (block + service_id) % kCount);
}

}  // namespace softdat::verbs
