// SPDX-License-Identifier: BSD-2-Clause
// Network: how long messages take on a real network, in the manner of LogGP. A plain value; built in, or read from a
// file. docs/TIMING.md is the reference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "simnic/model/profile_file.h"

namespace softdat::simnic::model {

// In the order of network_fields().
enum class NetworkField : std::uint8_t {
  kSend,         // ns of the processor for a post
  kReceive,      // ns of the processor for an event that is taken
  kLatency,      // ns from one adapter to the other, and of an acknowledgement back
  kGap,          // ns between two messages of a port
  kRate,         // Gbit/s of payload that a port sends, and receives
  kFetch,        // ns for the adapter to read the payload from memory, if it did not come with the post
  kInline,       // bytes of payload that come with the post
  kFirstPacket,  // ns per KiB that the first packet takes longer, since it is stored before it is forwarded
  kPacket,       // bytes of the first packet
};
inline constexpr std::size_t kNetworkFields = static_cast<std::size_t>(NetworkField::kPacket) + 1;

struct NetworkFieldInfo {
  NetworkField field;
  const char* name;
  double most;
  const char* meaning;  // for people
};
std::span<const NetworkFieldInfo> network_fields();

// Measurements differ: the least and the most that the sources say, and what is likely.
struct NetworkValue {
  double low = 0;
  double typical = 0;
  double high = 0;
  std::string source{};
};

struct Network {
  std::string name;
  std::string title;
  std::array<NetworkValue, kNetworkFields> values{};
  const NetworkValue& at(NetworkField field) const { return values[static_cast<std::size_t>(field)]; }
  NetworkValue& at(NetworkField field) { return values[static_cast<std::size_t>(field)]; }
};

// The network that the text of a TOML file says; `path` is for the words of a mistake.
base::Result<Network, Mistake> read_network(const std::string& path, std::string_view text);
// NAME of a built-in network, or @FILE.
base::Result<Network, Mistake> find_network(const std::string& name_or_file);

// In the order of their names.
std::span<const BuiltIn> built_in_networks();
std::string built_in_network_names();

}  // namespace softdat::simnic::model
