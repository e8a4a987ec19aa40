// SPDX-License-Identifier: BSD-2-Clause
// Script: what the player does with one side of a recorded connection: which memory it shows, what stands in it when,
// what is to be compared, and how keys and addresses of the recorded run become those of this one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/softdat/capture/recording.h"

namespace softdat::tools::capture {

// Memory of the played side that the program's side reached by one key.
struct RecordedRegion {
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;

  std::uint64_t length() const { return end - begin; }
};

// Bytes that the played side's own processor has put there, as later answers show.
struct Fill {
  std::uint32_t stag = 0;
  std::uint64_t address = 0;
  Bytes bytes{};
};

struct Range {
  std::uint64_t at = 0;  // in the bytes of the message
  std::size_t length = 0;
};

struct Step {
  const Message* message = nullptr;
  bool is_ours = false;
  std::vector<Fill> fills{};     // ours: before it
  std::vector<Range> lasting{};  // of a write of the program's: bytes that nothing writes again
};

// A place in what the program sends: in its private data (message null), or in a send.
struct Place {
  const Message* message = nullptr;
  std::size_t at = 0;
  bool is_big_endian = false;
};
// Where a message tells a key of the program, and the nearest address below the range that is reached by the key.
struct ToldKey {
  Place key{};
  std::optional<Place> address{};
  std::uint64_t recorded_address = 0;
};

struct Script {
  bool is_initiator = false;  // the played side
  Bytes own_private_data{};
  Bytes private_data{};                               // the program's
  std::map<std::uint32_t, RecordedRegion> regions{};  // by recorded key
  std::map<std::uint32_t, ToldKey> told{};            // by recorded key of the program's
  std::vector<Fill> first_fills{};                    // before the connection
  std::vector<Step> steps{};
  std::size_t receives = 0;  // sends of the program's
  std::size_t longest = 0;   // of them
};

// REQUIRES: `connection` lives as long. Failure when it cannot be replayed.
Script make_script(const Connection& connection, bool is_initiator);

// "message 3 (packet 17)".
std::string name_of(const Message& message);

}  // namespace softdat::tools::capture
