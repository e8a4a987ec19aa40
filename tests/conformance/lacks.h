// SPDX-License-Identifier: BSD-2-Clause
// What the adapter under test cannot do. Each answers with the attribute that says so, for GTEST_SKIP, or with nothing;
// so the suite runs unchanged over any device, and shows what it left out (docs/BACKENDS.md).
#pragma once

#include <string>

#include "tests/conformance/adapter.h"

namespace softdat::conformance {

using Lack = std::string;  // empty: it can

Lack lack_of_windows();
Lack lack_of_shared_receives();
Lack lack_of_zero_based_regions();
Lack lack_of_immediate_data();
Lack lack_of_atomics();
Lack lack_of_datagrams();
// An RDMA read that scatters.
Lack lack_of_read_segments();

// Told by the calls alone: dat_evd_resize, dat_srq_resize.
Lack lack_of_resizing();
Lack lack_of_shared_resizing();

// By SOFTDAT_TRANSPORT, where DAT has no attribute. iWARP: what finds no receive breaks the connection, a write or send
// is done when TCP has it, refused or not, and an accepted peer says nothing.
Lack lack_of_waiting_sends();
Lack lack_of_refusals();
Lack lack_of_confirmations();
// Peers that are other processes, by the variable SOFTDAT_TRANSPORT.
Lack lack_of_other_processes();
// Descriptors of an adapter, by the same.
Lack lack_of_descriptors();
// What only an adapter of our own can promise.
Lack lack_of_simulation();
// What it promises unless it is simulated as another device (SOFTDAT_PROFILE), which its vendor says.
Lack lack_of_own_limits();

inline bool is_simulated() {
  return lack_of_simulation().empty();
}
// What a peer's end is heard as, when it is none of a consumer's: a device says goodbye in one way only.
inline DAT_EVENT_NUMBER end_of_broken_peer() {
  return is_simulated() ? DAT_CONNECTION_EVENT_BROKEN : DAT_CONNECTION_EVENT_DISCONNECTED;
}

// Bytes of private data that every adapter takes: InfiniBand leaves no more.
inline DAT_COUNT least_private_data() {
  return lack_of_own_limits().empty() ? 64 : 52;
}

// Segments of an RDMA read.
DAT_COUNT max_read_segments();

}  // namespace softdat::conformance
