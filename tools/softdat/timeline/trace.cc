// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/timeline/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tools/softdat/timeline/packets.h"

namespace softdat::tools::timeline {
namespace {

namespace field = base::trace::field;
using base::trace::Name;
using base::trace::Type;

// A file with more lanes than any run of ours is damaged.
constexpr std::size_t kMostLanes = 100'000;
constexpr std::size_t kMostName = 200;

struct Sequence {
  std::uint64_t time = 0;
  bool has_clock = false;
};

// What one packet says, before it is known what it means.
struct Packet {
  std::uint64_t time = 0;
  std::uint64_t clock = base::trace::kOwnClock;
  std::uint64_t sequence = 0;
  std::string_view event, track, clocks;
};

Packet packet_of(Fields fields) {
  Packet packet;
  while (fields.next()) {
    switch (fields.number()) {
      case field::kTimestamp:
        packet.time = fields.value();
        break;
      case field::kClock:
        packet.clock = fields.value();
        break;
      case field::kSequence:
        packet.sequence = fields.value();
        break;
      case field::kTrackEvent:
        packet.event = fields.bytes();
        break;
      case field::kTrackDescriptor:
        packet.track = fields.bytes();
        break;
      case field::kClockSnapshot:
        packet.clocks = fields.bytes();
        break;
      default:
        break;
    }
  }
  return packet;
}

std::uint64_t number_in(std::string_view message, std::uint32_t number) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == number && !fields.has_bytes()) return fields.value();
  }
  return 0;
}

std::string text_in(std::string_view message, std::uint32_t number) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == number && fields.has_bytes()) return std::string(fields.bytes().substr(0, kMostName));
  }
  return {};
}

class Reader {
 public:
  explicit Reader(std::size_t most) : most_(most) {}

  void take(std::string_view bytes) {
    const Packet packet = packet_of(Fields(bytes));
    if (!packet.clocks.empty()) set_clock(packet);
    if (!packet.track.empty()) add_lane(packet.track);
    if (!packet.event.empty()) add_event(packet);
  }

  Trace finish() {
    std::ranges::stable_sort(trace_.events, {}, &Event::time);
    return std::move(trace_);
  }

 private:
  void set_clock(const Packet& packet) {
    Fields fields(packet.clocks);
    while (fields.next()) {
      if (fields.number() != field::kClocks) continue;
      if (number_in(fields.bytes(), field::kClockId) != base::trace::kMonotonic) continue;
      sequences_[packet.sequence] = {.time = number_in(fields.bytes(), field::kClockTime), .has_clock = true};
    }
  }

  std::uint32_t lane_of(std::uint64_t uuid) {
    const auto [found, is_new] = lanes_.try_emplace(uuid, static_cast<std::uint32_t>(trace_.lanes.size()));
    if (is_new) trace_.lanes.emplace_back();
    return found->second;
  }

  // A descriptor may name a parent that comes later, so lane_of() makes room for it.
  void add_lane(std::string_view track) {
    const std::uint64_t uuid = number_in(track, field::kUuid);
    if (uuid == 0 || trace_.lanes.size() >= kMostLanes) return note_broken();
    const std::uint32_t index = lane_of(uuid);
    Lane lane{.process = index};
    if (const std::uint64_t parent = number_in(track, field::kParent); parent != 0) lane.process = lane_of(parent);
    Fields fields(track);
    while (fields.next()) {
      if (fields.number() == field::kProcess && fields.has_bytes()) {
        lane.kind = Lane::Kind::kProcess;
        lane.number = number_in(fields.bytes(), field::kProcessId);
        lane.name = text_in(fields.bytes(), field::kProcessName);
      } else if (fields.number() == field::kThread && fields.has_bytes()) {
        lane.kind = Lane::Kind::kThread;
        lane.number = number_in(fields.bytes(), field::kThreadId);
        lane.name = text_in(fields.bytes(), field::kThreadName);
      } else if (fields.number() == field::kTrackName && fields.has_bytes()) {
        lane.name = std::string(fields.bytes().substr(0, kMostName));
      }
    }
    trace_.lanes[index] = std::move(lane);
  }

  void add_event(const Packet& packet) {
    Event event;
    std::uint64_t track = 0, name = 0, type = 0;
    Fields fields(packet.event);
    while (fields.next()) {
      if (fields.number() == field::kType) type = fields.value();
      if (fields.number() == field::kName) name = fields.value();
      if (fields.number() == field::kTrack) track = fields.value();
      if (fields.number() == field::kFlow) event.flow = fields.value();
      if (fields.number() == field::kAnnotation) {
        const std::uint64_t value = number_in(fields.bytes(), field::kAnnotationNumber);
        event.value = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
      }
    }
    const auto time = time_of(packet);
    const auto lane = lanes_.find(track);
    const bool is_named = name <= base::trace::kLastName && (name != 0 || type == 2);
    if (!time || fields.is_broken() || lane == lanes_.end() || !is_named || type < 1 || type > 3) return note_broken();
    event.time = *time;
    event.lane = lane->second;
    event.name = static_cast<Name>(name);
    event.type = static_cast<Type>(type);
    if (event.name == Name::kLost && event.type == Type::kInstant) trace_.lost += event.value;
    if (trace_.events.size() >= most_) {
      ++trace_.left_out;
      return;
    }
    trace_.events.push_back(event);
  }

  // Times are absolute, or count on from the last packet of their sequence (Perfetto's incremental clock).
  std::optional<std::uint64_t> time_of(const Packet& packet) {
    if (packet.clock == base::trace::kMonotonic) return packet.time;
    Sequence& sequence = sequences_[packet.sequence];
    if (!sequence.has_clock || packet.clock != base::trace::kOwnClock) return std::nullopt;
    return sequence.time += packet.time;
  }

  void note_broken() { ++trace_.broken; }

  const std::size_t most_;
  Trace trace_;
  std::map<std::uint64_t, std::uint32_t> lanes_;  // by uuid
  std::map<std::uint64_t, Sequence> sequences_;
};

}  // namespace

Failure too_large(const std::string& path) {
  return Failure(fmt::format(
      "there is no memory for the events of \"{}\"; record a shorter run, or read the file on a larger machine", path));
}

Trace read_trace(const std::string& path, std::size_t most) {
  Reader reader(most);
  const ReadResult result = read_packets(path, [&](std::string_view packet) { reader.take(packet); });
  Trace trace = reader.finish();
  trace.broken += result.broken;
  trace.is_cut_off = result.is_cut_off;
  if (trace.lanes.empty() || trace.events.empty()) {
    throw NothingHappened(
        fmt::format("\"{}\" is no timeline, or nothing happened in it; softdat run --timeline FILE -- PROGRAM "
                    "makes one",
                    path));
  }
  return trace;
}

}  // namespace softdat::tools::timeline
