// SPDX-License-Identifier: BSD-2-Clause
// Packets of Perfetto's trace format, as ui.perfetto.dev reads them (protobuf,
// perfetto.dev/docs/reference/trace-packet-proto): one sequence of track events with interned names and a clock that
// counts from packet to packet. docs/TIMELINES.md lists the events. Plain values; throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace softdat::base::trace {

// What an event tells. The numbers are the interned names' in a file, so they must not change; 0 is no name.
enum class Name : std::uint8_t {
  kPostSend = 1,
  kPostReceive,
  kPostWrite,
  kPostRead,
  kPostAtomic,
  kPostRefused,  // for want of room in a queue
  kWire,         // handed over to the carrier
  kPlace,        // a message is in the receiver's memory
  kComplete,
  kCompleteError,
  kDequeue,
  kNoReceive,  // a message found no receive
  kNoRoom,     // the carrier has no room for a message
  kEvdWait,
  kCnoWait,
  kCnoWakeUp,
  kRegister,
  kUnregister,
  kPause,  // between an empty poll and the next call
  kConnecting,
  kConnected,
  kDisconnected,
  kBroken,
  kLost,     // events that found no room, or no space in the file
  kCompute,  // processor time of a thread between two calls
};
inline constexpr std::uint8_t kLastName = static_cast<std::uint8_t>(Name::kCompute);
std::string_view text_of(Name name);

// TrackEvent.Type.
enum class Type : std::uint8_t { kBegin = 1, kEnd = 2, kInstant = 3 };

// Numbers that an event may have beside it. As for Name.
enum class Argument : std::uint8_t { kNone, kBytes, kSleeps, kCount, kEndpoint, kNanoseconds };

struct Event {
  std::uint64_t time = 0;  // nanoseconds of the monotonic clock
  std::uint64_t flow = 0;  // the same number: the same message; 0: none
  std::uint64_t value = 0;
  std::uint32_t track = 0;
  Name name = Name::kLost;
  Type type = Type::kInstant;
  Argument argument = Argument::kNone;
};

// Writes one sequence. One thread at a time.
class Encoder {
 public:
  // `sequence`: from 1 on; no other of the same file has it.
  explicit Encoder(std::uint32_t sequence) : sequence_(sequence) {}

  // Before all events: names and the clock.
  void begin(std::string& to, std::uint64_t time);
  void add_process(std::string& to, std::uint32_t process_id, std::string_view name);
  void add_thread(std::string& to, std::uint32_t track, std::uint32_t process_id, std::uint32_t thread_id,
                  std::string_view name);
  // A track below the process.
  void add_track(std::string& to, std::uint32_t track, std::string_view name);
  void add(std::string& to, const Event& event);

  // Tracks of the sequence are numbered from 0 on, which is the process.
  std::uint64_t uuid(std::uint32_t track) const { return std::uint64_t{sequence_} << 20 | track; }

 private:
  void add_packet(std::string& to, std::string_view body);

  const std::uint32_t sequence_;
  std::uint64_t last_time_ = 0;
};

// The parts of the format that its readers need, too.
void put_varint(std::string& to, std::uint64_t value);
void put_number(std::string& to, std::uint32_t field, std::uint64_t value);
void put_bytes(std::string& to, std::uint32_t field, std::string_view bytes);

namespace field {
// Trace
inline constexpr std::uint32_t kPacket = 1;
// TracePacket
inline constexpr std::uint32_t kClockSnapshot = 6;
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kSequence = 10;
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInterned = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kCompressed = 50;
inline constexpr std::uint32_t kClock = 58;
inline constexpr std::uint32_t kDefaults = 59;
inline constexpr std::uint32_t kTrackDescriptor = 60;
// TrackEvent
inline constexpr std::uint32_t kAnnotation = 4;
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kName = 10;
inline constexpr std::uint32_t kTrack = 11;
inline constexpr std::uint32_t kFlow = 47;
// DebugAnnotation
inline constexpr std::uint32_t kAnnotationName = 1;
inline constexpr std::uint32_t kAnnotationNumber = 3;
// TrackDescriptor
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kTrackName = 2;
inline constexpr std::uint32_t kProcess = 3;
inline constexpr std::uint32_t kThread = 4;
inline constexpr std::uint32_t kParent = 5;
// ProcessDescriptor, ThreadDescriptor
inline constexpr std::uint32_t kProcessId = 1;
inline constexpr std::uint32_t kThreadId = 2;
inline constexpr std::uint32_t kThreadName = 5;
inline constexpr std::uint32_t kProcessName = 6;
// ClockSnapshot, its clocks
inline constexpr std::uint32_t kClocks = 1;
inline constexpr std::uint32_t kClockId = 1;
inline constexpr std::uint32_t kClockTime = 2;
inline constexpr std::uint32_t kIsIncremental = 3;
}  // namespace field

// Clocks of the format: ours counts from packet to packet.
inline constexpr std::uint64_t kMonotonic = 3;
inline constexpr std::uint64_t kBoottime = 6;
inline constexpr std::uint64_t kOwnClock = 64;

}  // namespace softdat::base::trace
