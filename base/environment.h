// SPDX-License-Identifier: BSD-2-Clause
// Every environment variable that the provider reads, in one table (docs: README, "Environment").
#pragma once

#include <optional>
#include <string_view>

namespace softdat::base {

enum class Variable {
  kBackend,       // SOFTDAT_BACKEND: sim | verbs | verbs:DEVICE
  kTransport,     // SOFTDAT_TRANSPORT: auto | shm | tcp | loop
  kAddress,       // SOFTDAT_ADDRESS: IPv4 or IPv6 address or interface name that sim0 uses
  kCrc,           // SOFTDAT_CRC: on | off, CRC32C on the TCP wire
  kMpa,           // SOFTDAT_MPA: p2p | 2 | 1, how connections begin on the TCP wire
  kRnr,           // SOFTDAT_RNR: wait | terminate, what a send without a posted receive does
  kDirect,        // SOFTDAT_DIRECT: auto | on | off, or 1 | 0: direct access over shared memory
  kConnectGrace,  // SOFTDAT_CONNECT_GRACE: 0 to 60000, the milliseconds for which a connect without a listener tries
                  // again
  kLog,           // SOFTDAT_LOG: error | warning | notice | trace
  kAnyIa,         // SOFTDAT_ANY_IA: 1 | 0; 1 routes every unknown IA name to this library (read by the registries)
  kTcpTimeout,    // SOFTDAT_TCP_TIMEOUT: 2 to 600, after how many seconds of silence a TCP peer is lost
  kCounters,      // SOFTDAT_COUNTERS: on | off, whether tools of the same user can read this process's counters
  kSanitize,      // SOFTDAT_SANITIZE: off | on | full | completions, whether the program's use of DAT is watched
  kSanitizeSuppressions,  // SOFTDAT_SANITIZE_SUPPRESSIONS: a file of findings that are not told
  kFaults,                // SOFTDAT_FAULTS: a fault plan, or @FILE (docs/FAULTS.md)
  kFaultsLog,             // SOFTDAT_FAULTS_LOG: a file to which each fault that fires adds a line
  kNasty,                 // SOFTDAT_NASTY: 0 to 4294967295, the seed of the nasty mode (docs/NASTY.md); 0: off
  kCapture,               // SOFTDAT_CAPTURE: a directory, in which each process captures what its adapters do
  kCaptureSnap,           // SOFTDAT_CAPTURE_SNAP: 0 to 65535, the most payload bytes of a packet that are captured
  kCaptureBuffer,         // SOFTDAT_CAPTURE_BUFFER: 128 to 1048576, KiB of the buffer before the file
  kProfile,               // SOFTDAT_PROFILE: the device that is simulated, NAME or @FILE (docs/PROFILES.md)
  kTimeline,              // SOFTDAT_TIMELINE: a directory, in which each process writes a timeline
  kTimelineBuffer,        // SOFTDAT_TIMELINE_BUFFER: 128 to 1048576, KiB of the buffer before that file
  kTimelineCpu,           // SOFTDAT_TIMELINE_CPU: on | off, whether the timeline tells how long threads computed
};

// The variable's value, or an empty view when it is unset or not understood. A word has the spelling of the list above,
// in whatever letter case it was written; "yes" and "true" mean on, "no" and "false" off. The text lives as long as the
// process's environment. Those that name a file are empty in a set-user-id program, which would read or write files for
// anybody.
std::string_view environment(Variable variable);

// Both are allowed.
struct Limits {
  unsigned least = 0;
  unsigned most = 0;
};
// The limits of a variable whose value is a number. The word of dat.conf with the same meaning has the same limits.
Limits limits_of(Variable variable);
// A whole decimal number within the limits of the variable, or nothing.
std::optional<unsigned> read_number(Variable variable, std::string_view text);

// Says, once per process, which SOFTDAT_ variables are set but unknown (with the nearest known
// name) and which hold a value that is not one of those listed above.
void report_environment_mistakes();

}  // namespace softdat::base
