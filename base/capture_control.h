// SPDX-License-Identifier: BSD-2-Clause
// How `softdat capture PID` asks a running process for a capture: packets on a Unix socket (SOCK_SEQPACKET).
//
// Each adapter listens at a socket file in a private directory of the user (base/socket_directory.h). The kernel lets
// in the same user and root only. The tool sends one request with one descriptor, the file to write; the
// process answers kStarted, or why not. The capture ends when the tool closes its side for writing or dies, after the
// time that the request names, or with the process. The process then writes what is left and answers kFinished.
// docs/decisions/0030-captures-of-running-processes.md gives the reasons.
#pragma once

#include <cstdint>
#include <string>

namespace softdat::base {

inline constexpr std::uint64_t kCaptureControlMagic = 0x65727574'70616373;  // "scapture"
// Another version is another layout.
inline constexpr std::uint32_t kCaptureControlVersion = 1;

struct CaptureRequest {
  std::uint64_t magic = kCaptureControlMagic;
  std::uint32_t version = kCaptureControlVersion;
  std::uint32_t snap_length = 0;
  std::uint32_t buffer_kib = 0;
  std::uint32_t unused = 0;
  std::uint64_t milliseconds = 0;  // 0: no limit
};

enum class CaptureVerdict : std::uint32_t {
  kStarted = 1,
  kFinished = 2,
  kBusy = 3,          // another tool captures the process
  kAlwaysOn = 4,      // SOFTDAT_CAPTURE does
  kOtherVersion = 5,  // of this protocol
  kBadRequest = 6,    // or its descriptor is no regular file
  kNoMemory = 7,      // or no thread
};

struct CaptureAnswer {
  std::uint64_t magic = kCaptureControlMagic;
  std::uint32_t version = kCaptureControlVersion;
  CaptureVerdict verdict = CaptureVerdict::kStarted;
  std::uint32_t owner = 0;        // kBusy: the process number of the other tool, as the kernel told it
  std::uint32_t connections = 0;  // kStarted: that were there already
};

// Adapters of one process that listen; more of them have no socket.
inline constexpr unsigned kCaptureSockets = 16;

// A process. Another one may get its number.
struct CaptureTarget {
  std::uint64_t pid_namespace = 0;  // the inode of the PID namespace in which `pid` counts
  std::uint32_t pid = 0;
  std::uint64_t start = 0;  // base/process_start.h
};

// The name of socket `number` of a process.
inline std::string capture_socket_name(const CaptureTarget& target, unsigned number) {
  return "capture-" + std::to_string(target.pid_namespace) + '-' + std::to_string(target.pid) + '-' +
         std::to_string(target.start) + '-' + std::to_string(number);
}

}  // namespace softdat::base
