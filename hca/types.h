// SPDX-License-Identifier: BSD-2-Clause
// The values of the port. Lengths are in bytes, numbers in host byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/ip_address.h"

namespace softdat::hca {

// Rights of a memory region, and how its addresses count. Local read is granted unless kNoLocalRead is set.
enum Access : std::uint32_t {
  kLocalWrite = 1u << 0,
  kRemoteRead = 1u << 1,
  kRemoteWrite = 1u << 2,
  kRemoteAtomic = 1u << 3,
  kZeroBased = 1u << 4,       // no right: addresses count from 0 at the region's start
  kBindRemoteRead = 1u << 5,  // windows that grant remote read may be bound to it; to bind those that
                              // grant more takes kLocalWrite
  kNoLocalRead = 1u << 6,     // no right: requests may not read from it, where the device can tell
};
using AccessMask = std::uint32_t;
// What a region grants unless kNoLocalRead gave it up, and a window never; beside the rights above in what is looked
// up.
inline constexpr AccessMask kLocalRead = 1u << 31;

// A range of registered local memory: [address, address + length) within the region of `lkey`.
struct Segment {
  std::uint64_t address;
  std::uint32_t length;
  std::uint32_t lkey;
};
static_assert(sizeof(Segment) == 16);

enum class SendOpcode : std::uint8_t {
  kSend,
  kWrite,
  kRead,
  kSendInvalidate,      // a send that voids the peer's key `rkey` before its receive completes
  kReadToWindow,        // a read into one segment, named by the key of a window that grants remote write
  kWriteWithImmediate,  // a write that consumes a receive of the peer's, which is told `immediate`
  kFetchAdd,            // of eight aligned bytes of the peer's; what they were goes to eight local ones
  kCompareSwap,
  kBind,  // posted by post_bind() alone; the last
};

// Requests whose answer brings bytes from the peer; they count against the limits of reads.
[[gnu::always_inline]] constexpr bool awaits_response(SendOpcode opcode) {
  return opcode == SendOpcode::kRead || opcode == SendOpcode::kReadToWindow || opcode == SendOpcode::kFetchAdd ||
         opcode == SendOpcode::kCompareSwap;
}
constexpr bool is_atomic(SendOpcode opcode) {
  return opcode == SendOpcode::kFetchAdd || opcode == SendOpcode::kCompareSwap;
}

// Flags of a send request.
enum SendFlag : std::uint32_t {
  kSignaled = 1u << 0,   // a success adds a completion (a failure always does)
  kSolicited = 1u << 1,  // sends: the peer's completion is a solicited one
  kFence = 1u << 2,      // starts after all earlier reads of this queue pair have completed
  kQuiet = 1u << 3,      // the completion wakes no waiter and calls no sink
};

struct SendRequest {
  std::uint64_t wr_id = 0;  // returned verbatim in the completion
  SendOpcode opcode = SendOpcode::kSend;
  std::uint32_t flags = 0;  // SendFlag
  std::uint32_t rkey = 0;   // all but kSend
  std::uint64_t remote_address = 0;
  std::span<const Segment> local;  // gather (send, write) or scatter (the others) list; copied by the call
  std::uint32_t immediate = 0;     // kWriteWithImmediate
  std::uint64_t operand = 0;       // kFetchAdd: what is added; kCompareSwap: the new value ...
  std::uint64_t compare = 0;       // ... if the old one is this
};

class MemoryWindow;

// Binds a window to a part of a region, or, with length 0, to nothing.
struct BindRequest {
  std::uint64_t wr_id = 0;
  std::uint32_t flags = 0;         // kSignaled, kFence, kQuiet
  MemoryWindow* window = nullptr;  // of the queue pair's device
  std::uint32_t lkey = 0;
  std::uint64_t address = 0;  // as the region counts
  std::uint64_t length = 0;
  AccessMask access = 0;   // remote rights, kZeroBased
  std::uint32_t note = 0;  // comes back in WindowBinding
};

struct RecvRequest {
  std::uint64_t wr_id = 0;
  std::uint32_t flags = 0;         // kQuiet
  std::span<const Segment> local;  // copied by the call
};

enum class CompletionOpcode : std::uint8_t {
  kSend,
  kWrite,
  kRead,
  kRecv,
  kRecvInvalidate,  // a receive whose sender has voided a key of ours
  kBind,
  kWriteWithImmediate,
  kFetchAdd,
  kCompareSwap,
  kRecvWriteImmediate,  // a receive consumed by the peer's write; length: what was written
  kRecvImmediate,       // a receive consumed by immediate data alone
  kSendDatagram,
  kRecvDatagram,  // the last
};

enum class CompletionStatus : std::uint8_t {
  kSuccess,
  kLocalLength,       // a message longer than the posted receive
  kLocalProtection,   // a local segment's key, range or rights were bad when it was used
  kFlushed,           // not carried out: the queue pair left the connected state
  kRemoteAccess,      // the peer refused the rkey, range or rights
  kRemoteOperation,   // the peer failed while carrying it out (its receive too short, its memory
                      // gone)
  kRetryExceeded,     // the peer stopped answering
  kRnrRetryExceeded,  // the peer had no receive posted and strict mode forbids waiting
  kBadResponse,       // the peer broke the protocol
  kBindFailed,        // the region went before a window could be bound to it; the last
};

struct Completion {
  std::uint64_t wr_id;
  // What the creator of the queue pair gave (kBind: of the window); never dereferenced by the device.
  std::uint64_t qp_context;
  std::uint32_t length;  // bytes transferred; of a failed one 0
  CompletionStatus status;
  CompletionOpcode opcode;
  bool solicited;                 // a receive whose sender asked for attention
  std::uint32_t invalidated = 0;  // kRecvInvalidate: the key
  // The device's own, for the books of a shared receive queue. 0: the receive was none of such a queue.
  std::uint16_t srq_account = 0;
  std::uint32_t immediate = 0;  // kRecvWriteImmediate, kRecvImmediate
};

// A queue pair's or listener's is the device's; the port is 0 where a service id is used instead.
using Address = base::IpAddress;

// The kind of network, which decides what no other attribute tells.
enum class Transport : std::uint8_t { kSimulated, kInfiniBand, kIwarp };

// Which registered memory peers on this host may reach without the device's help.
enum class DirectAccess : std::uint8_t {
  kNone,
  kWhereHarmless,  // what can be made reachable without disturbing the program
  kWhereAble,      // what can be made reachable
};

struct DeviceAttributes {
  std::string name;    // "sim0", "verbs:rxe0"
  std::string vendor;  // who makes the adapter, in words
  Address address;
  std::uint32_t max_qp;
  std::uint32_t max_wr;  // per queue
  std::uint32_t max_sge;
  std::uint32_t max_cq;
  std::uint32_t max_cqe;
  std::uint32_t max_mr;
  std::uint32_t max_pd;
  std::uint64_t max_mr_size;
  std::uint32_t max_message_size;
  std::uint32_t max_ird;  // per queue pair, as responder
  std::uint32_t max_ord;  // per queue pair, as initiator
  std::uint32_t max_private_data;
  std::uint32_t max_srq = 0;  // 0: no shared receive queues
  std::uint32_t max_srq_wr = 0;
  std::uint32_t max_srq_sge = 0;
  // What devices differ in. A request for what is missing is answered kUnsupported.
  std::uint32_t max_mw = 0;        // 0: no memory windows
  std::uint32_t max_read_sge = 0;  // segments of a read
  bool has_atomics = false;
  bool has_immediate = false;   // writes with immediate data
  bool has_zero_based = false;  // regions whose addresses count from 0
  bool has_datagrams = false;   // is a DatagramDevice too
  // An RDMA read wants its own memory to grant remote write.
  bool needs_remote_write_to_read = false;
  std::string profile{};  // of the device that is simulated; empty: none in particular
  Transport transport = Transport::kSimulated;
  DirectAccess direct = DirectAccess::kNone;
  std::uint64_t nasty = 0;  // the device does the oddest that is legal, by this seed; 0: it does not
};

struct QueuePairLimits {
  std::uint32_t send_wr = 0;
  std::uint32_t recv_wr = 0;
  std::uint32_t send_sge = 0;
  std::uint32_t recv_sge = 0;
  std::uint32_t ird = 0;
  std::uint32_t ord = 0;
};

}  // namespace softdat::hca
