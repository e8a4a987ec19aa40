// SPDX-License-Identifier: BSD-2-Clause
// Checks that hold for each survivor of a peer's death.
#pragma once

#include <set>
#include <string>

#include "tests/conformance/remote_peer.h"
#include "tests/runtime_directory.h"

namespace softdat::conformance {

unsigned number_from_environment(const char* name, unsigned otherwise);

// What of ours could be left behind where files outlive processes.
std::set<std::string> leftovers();

// One event ends the connection, an ESTABLISHED before it aside.
void expect_one_end(Peer& survivor, DAT_EVENT_NUMBER expected);

// Everything that was posted comes back.
void expect_all_completed(Peer& survivor);

}  // namespace softdat::conformance
