// SPDX-License-Identifier: BSD-2-Clause
// A failure in words: clauses and sentences that either side of a connection can say.
#pragma once

#include <cstdint>
#include <string>

#include "hca/failure.h"

namespace softdat::object {

// "RDMA write", "send" ...
const char* operation_text(hca::CompletionOpcode operation);

// The manual page of the call that posts it: "dat_ep_post_rdma_write(3)".
const char* page_of(hca::CompletionOpcode operation);

// "[0x1000, 0x1040), 64 bytes".
std::string range_text(std::uint64_t address, std::uint64_t length);

// The rule and its facts, as a clause: "rmr_context 0x102 lacks the right of remote write (...); ...".
std::string rule_text(const hca::Failure& failure);

// What to do, as a sentence; empty when nothing general can be said.
const char* remedy_text(const hca::Failure& failure);

}  // namespace softdat::object
