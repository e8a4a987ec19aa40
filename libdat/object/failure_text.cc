// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/failure_text.h"

#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "base/descriptor_shortage.h"
#include "base/place.h"

namespace softdat::object {
namespace {

using namespace hca;

[[gnu::format(printf, 1, 2)]] std::string print(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

struct Right {
  AccessMask mask;
  const char* text;
};

constexpr std::array kRights{
    Right{kLocalRead, "local read (DAT_MEM_PRIV_LOCAL_READ_FLAG)"},
    Right{kLocalWrite, "local write (DAT_MEM_PRIV_LOCAL_WRITE_FLAG)"},
    Right{kRemoteRead, "remote read (DAT_MEM_PRIV_REMOTE_READ_FLAG)"},
    Right{kRemoteWrite, "remote write (DAT_MEM_PRIV_REMOTE_WRITE_FLAG)"},
    Right{kRemoteAtomic, "remote atomic (DAT_IB_MEM_PRIV_REMOTE_ATOMIC)"},
    // A window for remote reads may be bound to memory that is open to local reads.
    Right{kBindRemoteRead, "local read (DAT_MEM_PRIV_LOCAL_READ_FLAG)"},
};

// Names the rights in `mask`; without the names of the flags if `is_short`.
std::string rights_text(AccessMask mask, bool is_short) {
  std::string text;
  for (const Right& right : kRights) {
    if ((mask & right.mask) == 0) continue;
    std::string name(right.text);
    if (is_short) name.erase(name.find(" ("));
    if (text.find(name) != std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "no right" : text;
}

// "the region [..), 64 bytes, of local read, local write, registered by set_up at both.h:50".
std::string region_text(const RegionFacts& region) {
  const char* const kind = region.is_window ? "window" : "region";
  std::string text = std::string("the ") + kind + ' ' + range_text(region.address, region.length) + " with " +
                     rights_text(region.access, true);
  const std::string place = base::place_text(region.registered);
  if (!place.empty()) text += std::string(region.is_window ? ", bound" : ", registered") + " by " + place;
  return text;
}

const char* key_name(const Failure& failure) {
  return failure.is_local ? "lmr_context" : "rmr_context";
}

std::string asked_text(const Failure& failure) {
  return "the range asked for is " + range_text(failure.address, failure.length);
}

// Where the receives come from, if from a queue that several endpoints share.
std::string source_text(const Failure& failure) {
  return failure.is_shared ? ", as the shared receive queue is empty" : "";
}

std::string gone_text(const Failure& failure, const char* how) {
  const std::string was = failure.region.key == 0 ? "" : "; it was that of " + region_text(failure.region);
  const std::string now = failure.present_key == 0 ? ""
                                                   : print("; the memory is registered now with %s 0x%x",
                                                           key_name(failure), failure.present_key);
  return print("%s 0x%x %s", key_name(failure), failure.key, how) + was + now + "; " + asked_text(failure);
}

// Guesses at the mistake: a key in the wrong byte order, or one that differs a little from an issued key.
std::string never_text(const Failure& failure) {
  std::string text = print("%s 0x%x was never issued", key_name(failure), failure.key);
  if (failure.region.key != 0 && failure.region.key == __builtin_bswap32(failure.key)) {
    text += print("; with its bytes in the other order (htonl) it is 0x%x, that of ", failure.region.key) +
            region_text(failure.region);
  } else if (failure.region.key != 0) {
    text += print("; the nearest is 0x%x, that of ", failure.region.key) + region_text(failure.region);
  }
  return text + "; " + asked_text(failure);
}

// How a program may have spoilt an address that lies elsewhere; empty if nothing tells.
std::string spoilt_address_text(std::uint64_t address, const RegionFacts& region) {
  const auto is_within = [&](std::uint64_t at) { return at >= region.address && at - region.address < region.length; };
  if (is_within(__builtin_bswap64(address))) return "; with its bytes in the other order (htobe64) it would lie there";
  const std::uint64_t upper = region.address >> 32 << 32;
  if (address >> 32 == 0 && is_within(upper | address)) return "; the upper 32 bits of the address are missing";
  if (region.address == 0) return "; the region is zero-based (DAT_VA_TYPE_ZB), so that an offset is wanted";
  if (address < region.length) return "; an offset was given where an address is wanted (DAT_VA_TYPE_VA)";
  return "";
}

// A range that touches the region is too long; one that does not has a wrong address.
std::string excess_text(const Failure& failure) {
  const RegionFacts& region = failure.region;
  const std::uint64_t end = failure.address + failure.length;
  const std::uint64_t last = region.address + region.length;
  std::string text =
      asked_text(failure) + print(", but %s 0x%x is that of ", key_name(failure), failure.key) + region_text(region);
  const auto bytes = [](std::uint64_t count) { return print("%" PRIu64 " byte%s", count, count == 1 ? "" : "s"); };
  if (failure.address >= last || end <= region.address) {
    return text + ", which it does not touch" + spoilt_address_text(failure.address, region);
  }
  if (failure.address < region.address) text += ": it begins " + bytes(region.address - failure.address) + " too early";
  if (end > last)
    text += (failure.address < region.address ? " and" : ": it") + (" ends " + bytes(end - last)) + " too late";
  return text;
}

std::string domain_text(const Failure& failure) {
  const bool is_bind = failure.operation == CompletionOpcode::kBind;
  const char* const other = is_bind ? " than the window (RMR)" : ", or another endpoint, than the one it is used on";
  return print("%s 0x%x belongs to another protection zone (PZ)", key_name(failure), failure.key) + other +
         (failure.region.key == 0 ? "" : "; it is that of " + region_text(failure.region)) + "; " + asked_text(failure);
}

std::string right_text(const Failure& failure) {
  // Without the region's facts, all rights that the operation needs are named.
  const AccessMask missing = failure.region.key == 0 ? failure.needed : failure.needed & ~failure.region.access;
  std::string text = print("%s 0x%x lacks the right of ", key_name(failure), failure.key) + rights_text(missing, false);
  if (failure.region.key != 0) text += "; it is that of " + region_text(failure.region);
  return text + "; " + asked_text(failure);
}

// An IPv4 address whose bytes, read from behind, are one of this host: it was turned once too often, or not at all.
std::string turned_address_text(const Address& remote) {
  constexpr unsigned kLoopback = 127;
  const std::string text = base::text_of(remote.with_port(0));
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (std::sscanf(text.c_str(), "%u.%u.%u.%u", &a, &b, &c, &d) != 4 || d != kLoopback || a == kLoopback) return "";
  return print(" (with its bytes in the other order, htonl, it is %u.%u.%u.%u)", d, c, b, a);
}

std::string where_text(const Failure& failure) {
  return base::text_of(failure.remote.with_port(0)) + turned_address_text(failure.remote) +
         print(", connection qualifier %" PRIu64, failure.service_id);
}

// The text of a rule about what the adapter can do.
std::string device_rule_text(const Failure& failure) {
  if (failure.rule == Rule::kNotOffered) return std::string("the adapter has no ") + operation_text(failure.operation);
  return print("%" PRIu64 " bytes were given, and the adapter takes %" PRIu64 " at most (max_message_size of ",
               failure.length, failure.room) +
         "dat_ia_query)";
}

// A connection that could not be made may have failed because one side had no descriptor for it. The peer's shortage is
// known only if the peer is in this process.
std::string with_shortage(std::string text) {
  constexpr auto kJustNow = std::chrono::seconds(5);
  return base::was_short_of_descriptors(kJustNow) ? text + "; " + base::shortage_text() : text;
}

// The text of a rule about connections; empty for other rules.
std::string connection_rule_text(const Failure& failure) {
  switch (failure.rule) {
    case Rule::kNobodyListens:
      return with_shortage("nobody listens at " + where_text(failure));
    case Rule::kServiceBusy:
      return "a program listens at " + where_text(failure) +
             ", but takes no request now: the EVD of its service point is full of requests that are not answered yet, "
             "or the service point was freed meanwhile";
    case Rule::kUnreachable:
      return with_shortage("no way leads to " + where_text(failure) +
                           ", or the program that listens there ended meanwhile");
    case Rule::kRejected:
      return "the program that listens at " + where_text(failure) + " rejected the request (dat_cr_reject)";
    case Rule::kTimedOut:
      return "the timeout" + (failure.room == 0 ? "" : print(" of %" PRIu64 " microseconds", failure.room)) +
             " has passed, and " + where_text(failure) + " has neither accepted nor rejected the request";
    case Rule::kAcceptFailed:
      return "the peer at " + base::text_of(failure.remote) + " gave up, or ended, before the accept was complete";
    case Rule::kPeerLost:
      return "the peer at " + base::text_of(failure.remote) + " ended without disconnecting, or the network failed";
    case Rule::kProtocol:
      return "the peer at " + base::text_of(failure.remote) + " broke the protocol";
    case Rule::kReceiveLimit:
      return "more receives are outstanding than the hard high watermark allows (dat_ep_set_watermark)";
    case Rule::kDisconnected:
      return "the connection has ended";
    default:
      return "";
  }
}

}  // namespace

const char* operation_text(CompletionOpcode operation) {
  switch (operation) {
    case CompletionOpcode::kSend:
    case CompletionOpcode::kSendDatagram:
      return "send";
    case CompletionOpcode::kWrite:
      return "RDMA write";
    case CompletionOpcode::kRead:
      return "RDMA read";
    case CompletionOpcode::kRecv:
    case CompletionOpcode::kRecvInvalidate:
    case CompletionOpcode::kRecvWriteImmediate:
    case CompletionOpcode::kRecvImmediate:
    case CompletionOpcode::kRecvDatagram:
      return "receive";
    case CompletionOpcode::kBind:
      return "bind";
    case CompletionOpcode::kWriteWithImmediate:
      return "RDMA write with immediate data";
    case CompletionOpcode::kFetchAdd:
      return "atomic fetch and add";
    case CompletionOpcode::kCompareSwap:
      return "atomic compare and swap";
  }
  return "operation";
}

const char* page_of(CompletionOpcode operation) {
  switch (operation) {
    case CompletionOpcode::kSend:
      return "dat_ep_post_send(3)";
    case CompletionOpcode::kWrite:
      return "dat_ep_post_rdma_write(3)";
    case CompletionOpcode::kRead:
      return "dat_ep_post_rdma_read(3)";
    case CompletionOpcode::kBind:
      return "dat_rmr_bind(3)";
    case CompletionOpcode::kWriteWithImmediate:
    case CompletionOpcode::kFetchAdd:
    case CompletionOpcode::kCompareSwap:
    case CompletionOpcode::kSendDatagram:
      return "dat_ib_extensions(3)";
    default:
      return "dat_ep_post_recv(3)";
  }
}

std::string range_text(std::uint64_t address, std::uint64_t length) {
  return print("[0x%" PRIx64 ", 0x%" PRIx64 "), %" PRIu64 " byte%s", address, address + length, length,
               length == 1 ? "" : "s");
}

std::string rule_text(const Failure& failure) {
  switch (failure.rule) {
    case Rule::kUnknown:
      return "the peer ended the connection, and has not said why";
    case Rule::kKeyNeverIssued:
      return never_text(failure);
    case Rule::kKeyFreed:
      return gone_text(failure, "was freed");
    case Rule::kKeyRebound:
      return gone_text(failure, "is void since its window was bound anew (re-bound)");
    case Rule::kKeyUnbound:
      return gone_text(failure, "is void since its window was unbound");
    case Rule::kKeyInvalidated:
      return gone_text(failure, "is void since a send invalidated it");
    case Rule::kKeyNotOpen:
      return gone_text(failure, "is not open yet: the bind of its window has not been carried out");
    case Rule::kKeyUnknown:
      return print("%s 0x%x opens nothing there; ", key_name(failure), failure.key) + asked_text(failure);
    case Rule::kOtherDomain:
      return domain_text(failure);
    case Rule::kRangeWraps:
      return asked_text(failure) + ", which passes the end of the address space";
    case Rule::kOutOfRange:
      if (failure.region.key != 0) return excess_text(failure);
      return asked_text(failure) + print(", which leaves the region of %s 0x%x", key_name(failure), failure.key);
    case Rule::kMissingRight:
      return right_text(failure);
    case Rule::kMemoryGone:
      return gone_text(failure, "is registered, but its memory was unmapped or cannot be accessed");
    case Rule::kNoReceive:
      return print("no receive is posted for a message of %" PRIu64 " bytes", failure.length) + source_text(failure);
    case Rule::kReceiveLacking:
      if (failure.actor == Actor::kOurRequest) return "the peer has posted no receive for it";
      return "no receive is posted for it" + source_text(failure);
    case Rule::kDeviceReport:
      return "the device reports " + failure.device_words;
    case Rule::kReceiveTooShort:
      if (failure.room == Failure::kUnknownRoom) return "the receive that the peer has posted is too short for it";
      return print("the message has %" PRIu64 " bytes, and the receive has room for %" PRIu64, failure.length,
                   failure.room);
    case Rule::kMisaligned:
      return print("the target of the atomic, 0x%" PRIx64 ", is not aligned to 8 bytes", failure.address);
    case Rule::kNoWindow:
      return print("rmr_context 0x%x, which the send was to invalidate, is none of a bound memory window", failure.key);
    case Rule::kQueueFull:
      return print("%" PRIu64 " requests are outstanding, as many as the queue has room for", failure.room);
    case Rule::kTooManySegments:
      return print("%" PRIu64 " segments were given, and %" PRIu64 " %s allowed", failure.length, failure.room,
                   failure.room == 1 ? "is" : "are");
    case Rule::kMessageTooLong:
    case Rule::kNotOffered:
      return device_rule_text(failure);
    case Rule::kNoReads:
      return "the endpoint's max_rdma_read_out is 0, so it may post no RDMA read and no atomic";
    case Rule::kTooManyReads:
      return print("the peer asked for more RDMA reads at a time than the %" PRIu64 " of max_rdma_read_in",
                   failure.room);
    case Rule::kCompletionsLost:
      return "an event dispatcher (EVD) for its completions was full, so that a completion was lost";
    case Rule::kCannot:
      return "the peer cannot carry out such operations, or answers no reads (its max_rdma_read_in is 0)";
    case Rule::kFlushed:
      return print("%" PRIu64 " request%s posted and not complete when the connection ended: flushed", failure.length,
                   failure.length == 1 ? " was" : "s were");
    default:
      return connection_rule_text(failure);
  }
}

const char* remedy_text(const Failure& failure) {
  switch (failure.rule) {
    case Rule::kKeyNeverIssued:
    case Rule::kKeyUnknown:
      return failure.is_local
                 ? "Use the lmr_context that dat_lmr_create gave."
                 : "Use the rmr_context that the process that registered the memory was given in this run.";
    case Rule::kKeyFreed:
      if (failure.present_key != 0 && failure.is_local) return "Use the lmr_context of the present registration.";
      if (failure.present_key != 0) return "Tell the peer the rmr_context of each new registration.";
      return "Free memory after the last operation on it has completed on both sides.";
    case Rule::kKeyRebound:
    case Rule::kKeyUnbound:
    case Rule::kKeyInvalidated:
      return "Tell the peer the rmr_context of each new bind.";
    case Rule::kKeyNotOpen:
      return "Tell the peer the rmr_context after the bind has completed.";
    case Rule::kOtherDomain:
      if (failure.operation == CompletionOpcode::kBind) return "Create window and region in the same PZ.";
      return "Create endpoint and region in the same PZ.";
    case Rule::kRangeWraps:
    case Rule::kOutOfRange:
      return "Keep address and length within the region, or register more.";
    case Rule::kMissingRight:
      return "Register the memory with that right (mem_privileges of dat_lmr_create, or of dat_rmr_bind).";
    case Rule::kMemoryGone:
      return "Keep memory mapped until its region has been freed.";
    case Rule::kNoReceive:
    case Rule::kReceiveLacking:
      if (failure.is_shared) return "Post more receives to it, and earlier; dat_srq_set_lw tells when they run low.";
      return "Post receives before the peer sends, best before the connection is accepted.";
    case Rule::kDeviceReport:
      return "Run both sides on the simulator (SOFTDAT_BACKEND=sim), which says what is wrong with the request.";
    case Rule::kReceiveTooShort:
      return "Post receives as long as the longest message.";
    case Rule::kMisaligned:
      return "Align the target to 8 bytes.";
    case Rule::kNoWindow:
      return "Invalidate only the rmr_context of a bound RMR.";
    case Rule::kQueueFull:
      if (failure.is_shared)
        return "Reap completions before more is posted, or create the queue with more max_recv_dtos.";
      return "Reap completions before more is posted, or create the endpoint with longer queues.";
    case Rule::kTooManySegments:
      if (failure.is_shared) return "Create the queue with a larger max_recv_iov.";
      return "Create the endpoint with a larger max_request_iov or max_recv_iov.";
    case Rule::kMessageTooLong:
      return "Send it in parts.";
    case Rule::kNotOffered:
      return "Ask dat_ia_query what the adapter offers, and do without what it lacks.";
    case Rule::kNoReads:
    case Rule::kTooManyReads:
    case Rule::kCannot:
      return "Set max_rdma_read_in and max_rdma_read_out of both endpoints.";
    case Rule::kCompletionsLost:
      return "Create the EVD with a longer queue (min_qlen), or take events out faster.";
    case Rule::kFlushed:
      return "Wait for the completions before the connection is ended.";
    case Rule::kNobodyListens:
      return "Start the server first, and compare address and connection qualifier on both sides.";
    case Rule::kServiceBusy:
      return "Have the server answer requests faster, or create that EVD with a longer queue (evd_min_qlen).";
    case Rule::kUnreachable:
      return "Look at the address; SOFTDAT_ADDRESS says which address an adapter listens on.";
    case Rule::kTimedOut:
      return "Have the server call dat_cr_accept, see whether it is stopped or busy, or give a longer timeout; it is "
             "in microseconds.";
    default:
      return "";
  }
}

}  // namespace softdat::object
