// SPDX-License-Identifier: BSD-2-Clause
// The events of a timeline file, in the tool's words.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/trace_packets.h"
#include "tools/softdat/dat_call.h"

namespace softdat::tools::timeline {

// A lane of the picture: a process, one of its threads, or one of its endpoints.
struct Lane {
  enum class Kind : std::uint8_t { kProcess, kThread, kEndpoint };
  Kind kind = Kind::kEndpoint;
  std::uint32_t process = 0;  // index of the lane of its process
  std::uint64_t number = 0;   // process or thread id
  std::string name{};
};

struct Event {
  std::uint64_t time = 0;   // nanoseconds of the monotonic clock
  std::uint64_t flow = 0;   // 0: none
  std::uint32_t value = 0;  // bytes, sleeps or a count, as the name has it
  std::uint32_t lane = 0;
  base::trace::Name name = base::trace::Name::kLost;
  base::trace::Type type = base::trace::Type::kInstant;
};

struct Trace {
  std::vector<Lane> lanes;
  std::vector<Event> events;   // by time
  std::uint64_t lost = 0;      // events that the processes could not keep
  std::uint64_t broken = 0;    // packets that make no sense
  std::uint64_t left_out = 0;  // events beyond `most`
  bool is_cut_off = false;
};

// The file has no event: it is no timeline, or the adapters of the run did nothing.
class NothingHappened : public Failure {
 public:
  using Failure::Failure;
};

// The most events that a command reads. An event takes 32 bytes, so all of them take 3.2 GB.
inline constexpr std::size_t kMostEvents = 100'000'000;

// Reads a whole file; of more than `most` events the later ones are left out. Failure when the file cannot be read;
// NothingHappened when it holds nothing of ours.
Trace read_trace(const std::string& path, std::size_t most);

// To be thrown when there is no memory for what the file holds.
Failure too_large(const std::string& path);

}  // namespace softdat::tools::timeline
