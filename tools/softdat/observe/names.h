// SPDX-License-Identifier: BSD-2-Clause
// The names of counters, as `softdat top --json` and `softdat metrics` print them. docs/OBSERVING.md says what each
// means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/counter_file.h"

namespace softdat::tools::observe {

// In the order of hca::Transfer and of hca::CompletionStatus.
inline constexpr std::array<const char*, base::kCountedTransfers> kTransferNames{
    "send",      "datagram", "post_recv",     "write",    "write_imm",      "read", "compare_swap",
    "fetch_add", "recv",     "recv_datagram", "recv_imm", "recv_write_imm", "bind"};
inline constexpr std::array<const char*, base::kCountedStatuses> kStatusNames{
    "success",          "local_length",   "local_protection",   "flushed",      "remote_access",
    "remote_operation", "retry_exceeded", "rnr_retry_exceeded", "bad_response", "bind_failed"};
inline constexpr std::size_t kFlushed = 3;
// In the order of the enum evd_counter of libdat/object/counters.h.
inline constexpr std::array<const char*, base::kCountedEvdCalls> kEvdCallNames{
    "wait",          "wait_blocked", "wait_notified", "dequeue",          "dequeue_found",
    "dequeue_empty", "poll",         "poll_found",    "connection_event", "completion_event"};

// Those of the enum ia_counter that SoftDAT counts.
struct IaEventName {
  std::size_t index;
  const char* name;
};
inline constexpr std::array<IaEventName, 34> kIaEventNames{{{0, "pz_create"},
                                                            {1, "pz_free"},
                                                            {2, "lmr_create"},
                                                            {3, "lmr_free"},
                                                            {4, "rmr_create"},
                                                            {5, "rmr_free"},
                                                            {6, "psp_create"},
                                                            {8, "psp_free"},
                                                            {9, "rsp_create"},
                                                            {10, "rsp_free"},
                                                            {11, "evd_create"},
                                                            {12, "evd_free"},
                                                            {13, "ep_create"},
                                                            {14, "ep_free"},
                                                            {15, "srq_create"},
                                                            {16, "srq_free"},
                                                            {17, "cr"},
                                                            {18, "cr_accepted"},
                                                            {19, "cr_rejected"},
                                                            {23, "async_error"},
                                                            {24, "async_ep_error"},
                                                            {25, "async_evd_error"},
                                                            {26, "listen"},
                                                            {27, "connect_sent"},
                                                            {28, "connect_received"},
                                                            {33, "reject_sent"},
                                                            {34, "reject_received"},
                                                            {35, "established_active"},
                                                            {36, "established_passive"},
                                                            {40, "disconnect_sent"},
                                                            {41, "disconnect_received"},
                                                            {47, "connection_error"},
                                                            {55, "refused"},
                                                            {57, "timed_out"}}};

// The name of EpRecord::state; "unknown" for a number that is no state.
std::string state_name(std::uint32_t state);
bool is_connected(std::uint32_t state);

// "0x7f12..." as programs print handles.
std::string id_text(std::uint64_t id);

// "dto,connection"; of EvdRecord::streams.
std::string streams_text(std::uint32_t streams);

// Whether the endpoint's device counts failures, waits for receives and the depth of its queues. RDMA devices do not,
// and an endpoint has no queues before it has a queue pair.
inline bool counts_all(const base::EpRecord& ep) {
  return ep.send_capacity != 0 || ep.recv_capacity != 0;
}

// The counters of all kinds, of requests alone: operations that this side asked for, and their bytes.
std::uint64_t requests(const base::CountedTransfers& transfers);
std::uint64_t request_bytes(const base::CountedTransfers& transfers);
std::uint64_t received(const base::CountedTransfers& transfers);
std::uint64_t received_bytes(const base::CountedTransfers& transfers);
// All statuses but flushed, of requests and receives.
std::uint64_t failures(const base::EndpointSums& sums);

}  // namespace softdat::tools::observe
