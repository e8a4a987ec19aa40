// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/keys.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tools/softdat/capture/load_number.h"

namespace softdat::tools::capture {
// Programs send keys in either byte order and at any offset, so every place is tried.
Bytes Keys::with_own(const Bytes& recorded) const {
  Bytes result = recorded;
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= result.size(); ++at) {
    for (const bool is_big_endian : {true, false}) {
      const auto found = own_.find(*load<std::uint32_t>(recorded, at, is_big_endian));
      if (found == own_.end()) continue;
      const std::uint32_t live = is_big_endian ? base::swap_to_be(found->second) : found->second;
      std::memcpy(result.data() + at, &live, sizeof live);
      at += sizeof live - 1;
      break;
    }
  }
  return result;
}

// The script says where in a message the program tells a key; here the live value is read from there.
void Keys::learn(const Message* message, std::span<const std::byte> live) {
  for (const auto& [recorded, told] : script_.told) {
    if (told.key.message != message) continue;
    Learnt& learnt = learnt_[recorded];
    if (const auto key = load<std::uint32_t>(live, told.key.at, told.key.is_big_endian)) learnt.key = *key;
    if (!told.address) continue;
    const auto address = load<std::uint64_t>(live, told.address->at, told.address->is_big_endian);
    if (address) learnt.shift = *address - told.recorded_address;
  }
}

// Bytes that hold keys or addresses differ from run to run, and are not compared.
std::vector<bool> Keys::changing(const Message* message, std::span<const std::byte> recorded) const {
  std::vector<bool> result(recorded.size());
  const auto mark = [&](std::size_t at, std::size_t length) {
    for (std::size_t i = at; i < std::min(at + length, result.size()); ++i) result[i] = true;
  };
  for (const auto& [key, told] : script_.told) {
    if (told.address && told.address->message == message) mark(told.address->at, sizeof(std::uint64_t));
    for (std::size_t at = 0; at + sizeof key <= recorded.size(); ++at) {
      const bool is_there =
          load<std::uint32_t>(recorded, at, true) == key || load<std::uint32_t>(recorded, at, false) == key;
      if (is_there) mark(at, sizeof key);
    }
  }
  return result;
}

std::optional<std::size_t> Keys::find_difference(const Message* message, std::span<const std::byte> expected,
                                                 std::span<const std::byte> live) const {
  const Bytes wanted = with_own({expected.begin(), expected.end()});
  const std::vector<bool> may_change = changing(message, expected);
  const std::size_t common = std::min(wanted.size(), live.size());
  for (std::size_t at = 0; at < common; ++at) {
    if (!may_change[at] && wanted[at] != live[at]) return at;
  }
  return wanted.size() == live.size() ? std::nullopt : std::optional(common);
}

}  // namespace softdat::tools::capture
