// SPDX-License-Identifier: BSD-2-Clause
// The format of the counters that a process shows to the tools of its user, and the owner's end of the file.
//
// The file is a memfd of the owner. Nothing names it but the owner's descriptor, so it is gone with the process,
// however that ends. A reader finds it in /proc/PID/fd, whose permission check (ptrace_may_access) lets in the same
// user and root. It is sealed: its size is fixed, and only the owner's mapping can write.
// docs/decisions/0023-counters-in-a-memfd.md gives the reasons.
//
// Layout: a CounterFileHeader at 0; from kHalvesAt on two halves of half_bytes each. Snapshot g stands in half g mod 2:
// a SnapshotHead, then records, each with a RecordHead. The owner writes snapshot g + 1 while `generation` is g, and
// then stores g + 1 (release). So a reader that finds the same generation before and after its copy of half g mod 2 has
// a whole snapshot; an owner that is stopped, even in the middle of writing, leaves one.
//
// A reader must believe nothing: every number and text may be wrong. It reads with pread(), which cannot fault.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/unique_fd.h"

namespace softdat::base {

// What readlink() says of a descriptor of the file.
inline constexpr char kCounterFileName[] = "softdat-counters";
inline constexpr char kCounterFileLink[] = "/memfd:softdat-counters (deleted)";

inline constexpr std::uint64_t kCounterFileMagic = 0x7372746e756f6373;  // "scountrs"
// Another version is another layout. Readers refuse it.
inline constexpr std::uint32_t kCounterFileVersion = 2;
inline constexpr std::uint64_t kHalvesAt = 4096;
inline constexpr std::uint64_t kHalfBytes = std::uint64_t{16} << 20;

struct CounterFileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t pid;  // as the owner counts; readers compare it with the last NSpid of /proc/PID/status
  std::uint64_t half_bytes;
  std::uint64_t start;       // base/process_start.h of the owner, whose number another process may get
  std::uint64_t generation;  // atomic; 0: no snapshot yet
};

struct SnapshotHead {
  std::uint64_t generation;
  std::uint64_t bytes;         // of this head and all records
  std::uint64_t records;       // how many follow
  std::uint64_t left_out;      // objects for which there was no room
  std::uint64_t published_ns;  // CLOCK_MONOTONIC
  std::uint64_t period_ns;     // at which the owner means to publish
};

enum class RecordKind : std::uint32_t { kProcess = 1, kIa = 2, kEp = 3, kEvd = 4, kSrq = 5, kLmr = 6, kFailure = 7 };

struct RecordHead {
  std::uint32_t kind;
  std::uint32_t bytes;  // of head and body, a multiple of 8
};

template <std::size_t kSize>
using CounterText = std::array<char, kSize>;  // ends with a zero byte

// Operations and their bytes, in the order of hca::Transfer.
inline constexpr std::size_t kCountedTransfers = 13;
struct CountedTransfer {
  std::uint64_t number;
  std::uint64_t bytes;
};
using CountedTransfers = std::array<CountedTransfer, kCountedTransfers>;

// Completions that failed, in the order of hca::CompletionStatus; the first is always 0.
inline constexpr std::size_t kCountedStatuses = 10;
using CountedStatuses = std::array<std::uint64_t, kCountedStatuses>;

// What endpoints count. All members are numbers of 64 bits.
struct EndpointSums {
  CountedTransfers transfers;
  CountedStatuses failed_requests;
  CountedStatuses failed_receives;
  std::uint64_t rnr_waits;
  std::uint64_t resends;
  std::uint64_t connect_retries;
};

// The last record of a snapshot.
struct ProcessRecord {
  EndpointSums sums;  // of all endpoints, those that have been freed too; never goes back
};

// In the order of the enum ia_counter of libdat/object/counters.h.
inline constexpr std::size_t kCountedIaEvents = 85;
struct IaRecord {
  std::uint64_t id;  // the handle; ids of other records mean these
  std::array<std::uint64_t, kCountedIaEvents> events;
  CounterText<64> name;
  CounterText<64> address;
  CounterText<32> vendor;
  CounterText<16> direct;  // direct access: none, auto, on
};

struct EpRecord {
  std::uint64_t id;
  std::uint64_t ia;
  std::uint64_t request_evd;  // 0: none
  std::uint64_t recv_evd;
  std::uint64_t connect_evd;
  std::uint64_t srq;
  std::uint64_t state_ns;  // CLOCK_MONOTONIC of the last change of the state
  std::uint64_t remote_qual;
  EndpointSums sums;
  std::uint64_t completed_requests;  // with success
  std::uint64_t completed_receives;  // with success
  std::uint64_t connects;            // calls
  std::uint64_t disconnects;         // calls
  std::uint32_t state;               // object::EndpointState, numbered as DAT_EP_STATE
  std::uint32_t is_datagram;
  std::uint32_t sends_outstanding;
  std::uint32_t recvs_outstanding;
  std::uint32_t send_capacity;
  std::uint32_t recv_capacity;
  std::uint32_t send_high_water;
  std::uint32_t recv_high_water;
  CounterText<64> remote;
};

// In the order of the enum evd_counter of libdat/object/counters.h.
inline constexpr std::size_t kCountedEvdCalls = 10;
struct EvdRecord {
  std::uint64_t id;
  std::uint64_t ia;
  std::array<std::uint64_t, kCountedEvdCalls> calls;
  std::uint64_t lost;
  std::uint32_t streams;  // DAT_EVD_FLAGS
  std::uint32_t capacity;
  std::uint32_t depth;
  std::uint32_t high_water;
};

struct SrqRecord {
  std::uint64_t id;
  std::uint64_t ia;
  std::uint32_t capacity;
  std::uint32_t available;
  std::uint32_t outstanding;
  std::uint32_t low_watermark;
  std::uint32_t high_water;  // the most that were outstanding at once
  std::uint32_t unused;
};

struct LmrRecord {
  std::uint64_t id;
  std::uint64_t ia;
  std::uint64_t bytes;
  std::uint32_t privileges;  // DAT_MEM_PRIV_FLAGS
  std::uint32_t unused;
};

// One of the last failures of an endpoint.
struct FailureRecord {
  std::uint64_t ep;
  std::uint64_t when_ns;  // CLOCK_MONOTONIC
  CounterText<512> text;  // cut
};

template <std::size_t kSize>
void set_text(CounterText<kSize>& text, std::string_view words) {
  text = {};
  std::memcpy(text.data(), words.data(), words.size() < kSize ? words.size() : kSize - 1);
}

// The owner's end. One thread at a time. Each snapshot is begin(), any number of add(), publish().
class CounterFile {
 public:
  CounterFile() = default;
  // Unmaps the file; what was published is gone when the descriptor is.
  ~CounterFile();
  CounterFile(const CounterFile&) = delete;
  CounterFile& operator=(const CounterFile&) = delete;

  // Makes the file. False, with errno set, if the system or RLIMIT_FSIZE refuses, or /proc does not tell when the
  // process started. May be called again.
  [[nodiscard]] bool open();
  // Whether the file is open and its descriptor is still ours: a program may have called closefrom(3).
  bool is_intact() const { return memory_ != nullptr && file_.is_intact(); }

  void begin();
  template <typename Record>
  void add(RecordKind kind, const Record& record) {
    static_assert(sizeof record % 8 == 0 && std::is_trivially_copyable_v<Record>);
    add_bytes(kind, std::as_bytes(std::span(&record, 1)));
  }
  void publish(std::uint64_t now_ns, std::uint64_t period_ns);

 private:
  void close();
  void add_bytes(RecordKind kind, std::span<const std::byte> body);
  CounterFileHeader& header() const { return *reinterpret_cast<CounterFileHeader*>(memory_); }
  std::byte* half(std::uint64_t generation) const { return memory_ + kHalvesAt + generation % 2 * kHalfBytes; }

  UniqueFd file_;
  std::byte* memory_ = nullptr;
  // The owner's own copies. It reads nothing back from the file, where others may have written.
  std::uint64_t generation_ = 0;
  SnapshotHead head_{};
};

}  // namespace softdat::base
