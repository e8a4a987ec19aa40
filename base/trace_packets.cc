// SPDX-License-Identifier: BSD-2-Clause
#include "base/trace_packets.h"

#include <array>

namespace softdat::base::trace {
namespace {

constexpr std::array<std::string_view, kLastName + 1> kNames{"",
                                                             "post send",
                                                             "post receive",
                                                             "post write",
                                                             "post read",
                                                             "post atomic",
                                                             "post refused: queue full",
                                                             "wire",
                                                             "place",
                                                             "complete",
                                                             "complete: error",
                                                             "dequeue",
                                                             "no receive",
                                                             "no room",
                                                             "dat_evd_wait",
                                                             "dat_cno_wait",
                                                             "CNO wake-up",
                                                             "dat_lmr_create",
                                                             "dat_lmr_free",
                                                             "pause between polls",
                                                             "connecting",
                                                             "connected",
                                                             "disconnected",
                                                             "broken",
                                                             "events lost",
                                                             "computed"};
constexpr std::array<std::string_view, 6> kArguments{"", "bytes", "sleeps", "count", "endpoint", "nanoseconds"};

// Bits of TracePacket.sequence_flags.
constexpr std::uint64_t kStateCleared = 1;
constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kLength = 2;

// InternedData.
constexpr std::uint32_t kEventNames = 2, kAnnotationNames = 3;

void put_key(std::string& to, std::uint32_t number, std::uint32_t wire_type) {
  put_varint(to, std::uint64_t{number} << 3 | wire_type);
}

void put_fixed(std::string& to, std::uint32_t number, std::uint64_t value) {
  put_key(to, number, kFixed64);
  for (int shift = 0; shift < 64; shift += 8) to.push_back(static_cast<char>(value >> shift));
}

std::string clock(std::uint64_t id, std::uint64_t time, bool is_incremental) {
  std::string text;
  put_number(text, field::kClockId, id);
  put_number(text, field::kClockTime, time);
  if (is_incremental) put_number(text, field::kIsIncremental, 1);
  return text;
}

void put_name(std::string& to, std::uint32_t kind, std::uint64_t number, std::string_view name) {
  std::string entry;
  put_number(entry, 1, number);
  put_bytes(entry, 2, name);
  put_bytes(to, kind, entry);
}

std::string interned() {
  std::string text;
  for (std::size_t i = 1; i < kNames.size(); ++i) put_name(text, kEventNames, i, kNames[i]);
  for (std::size_t i = 1; i < kArguments.size(); ++i) put_name(text, kAnnotationNames, i, kArguments[i]);
  return text;
}

}  // namespace

std::string_view text_of(Name name) {
  const auto number = static_cast<std::size_t>(name);
  return number < kNames.size() ? kNames[number] : std::string_view();
}

// Protocol Buffers: seven bits a byte, the lowest first, and the top bit set in all but the last.
void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void put_number(std::string& to, std::uint32_t number, std::uint64_t value) {
  put_key(to, number, kVarint);
  put_varint(to, value);
}

void put_bytes(std::string& to, std::uint32_t number, std::string_view bytes) {
  put_key(to, number, kLength);
  put_varint(to, bytes.size());
  to.append(bytes);
}

void Encoder::add_packet(std::string& to, std::string_view body) {
  std::string packet(body);
  put_number(packet, field::kSequence, sequence_);
  put_bytes(to, field::kPacket, packet);
}

// The viewer orders all by the clock that goes on in suspend. We say that it has the monotonic clock's value, so that
// all processes of a host agree to the nanosecond.
void Encoder::begin(std::string& to, std::uint64_t time) {
  last_time_ = time;
  std::string clocks;
  put_bytes(clocks, field::kClocks, clock(kOwnClock, 0, true));
  put_bytes(clocks, field::kClocks, clock(kMonotonic, time, false));
  put_bytes(clocks, field::kClocks, clock(kBoottime, time, false));
  std::string defaults;
  put_number(defaults, field::kClock, kOwnClock);
  std::string packet;
  put_number(packet, field::kSequenceFlags, kStateCleared);
  put_bytes(packet, field::kDefaults, defaults);
  put_bytes(packet, field::kInterned, interned());
  put_bytes(packet, field::kClockSnapshot, clocks);
  add_packet(to, packet);
}

void Encoder::add_process(std::string& to, std::uint32_t process_id, std::string_view name) {
  std::string process;
  put_number(process, field::kProcessId, process_id);
  put_bytes(process, field::kProcessName, name);
  std::string track;
  put_number(track, field::kUuid, uuid(0));
  put_bytes(track, field::kProcess, process);
  std::string packet;
  put_bytes(packet, field::kTrackDescriptor, track);
  add_packet(to, packet);
}

void Encoder::add_thread(std::string& to, std::uint32_t track_number, std::uint32_t process_id, std::uint32_t thread_id,
                         std::string_view name) {
  std::string thread;
  put_number(thread, field::kProcessId, process_id);
  put_number(thread, field::kThreadId, thread_id);
  put_bytes(thread, field::kThreadName, name);
  std::string track;
  put_number(track, field::kUuid, uuid(track_number));
  put_bytes(track, field::kThread, thread);
  put_number(track, field::kParent, uuid(0));
  std::string packet;
  put_bytes(packet, field::kTrackDescriptor, track);
  add_packet(to, packet);
}

void Encoder::add_track(std::string& to, std::uint32_t track_number, std::string_view name) {
  std::string track;
  put_number(track, field::kUuid, uuid(track_number));
  put_bytes(track, field::kTrackName, name);
  put_number(track, field::kParent, uuid(0));
  std::string packet;
  put_bytes(packet, field::kTrackDescriptor, track);
  add_packet(to, packet);
}

// An event from before the last one has the time of the monotonic clock itself.
void Encoder::add(std::string& to, const Event& event) {
  std::string inner;
  put_number(inner, field::kType, static_cast<std::uint64_t>(event.type));
  put_number(inner, field::kTrack, uuid(event.track));
  // Perfetto ends the innermost slice of the track, so an end needs no name.
  if (event.type != Type::kEnd) put_number(inner, field::kName, static_cast<std::uint64_t>(event.name));
  if (event.argument != Argument::kNone) {
    std::string annotation;
    put_number(annotation, field::kAnnotationName, static_cast<std::uint64_t>(event.argument));
    put_number(annotation, field::kAnnotationNumber, event.value);
    put_bytes(inner, field::kAnnotation, annotation);
  }
  if (event.flow != 0) put_fixed(inner, field::kFlow, event.flow);
  std::string packet;
  if (event.time >= last_time_) {
    put_number(packet, field::kTimestamp, event.time - last_time_);
    last_time_ = event.time;
  } else {
    put_number(packet, field::kTimestamp, event.time);
    put_number(packet, field::kClock, kMonotonic);
  }
  put_number(packet, field::kSequence, sequence_);
  put_bytes(packet, field::kTrackEvent, inner);
  put_bytes(to, field::kPacket, packet);
}

}  // namespace softdat::base::trace
