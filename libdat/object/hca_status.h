// SPDX-License-Identifier: BSD-2-Clause
// The border between the port's words and DAT's: each function here is total.
#pragma once

#include "hca/connection.h"
#include "hca/result.h"
#include "hca/types.h"
#include "libdat/object/event.h"
#include "libdat/object/status.h"

namespace softdat::object {

// Creating something: `resource` is what ran out, `argument` what the device can never take.
Status creation_failure(hca::Error error, StatusDetail resource, StatusDetail argument);

// Opening the device of an IA.
Status opening_failure(hca::Error error);

// A refused post. `is_write`: the device would have written into the local segments.
Status post_failure(hca::Error error, bool is_write);

DtoStatus dto_status(hca::CompletionStatus status);
DtoOperation dto_operation(hca::CompletionOpcode opcode);

// A completion as DAT's event; the queue pair's context is the EP's handle.
inline DtoCompletion dto_completion(const hca::Completion& from) {
  return {reinterpret_cast<Handle>(from.qp_context), from.wr_id, from.length, dto_status(from.status),
          dto_operation(from.opcode)};
}

ConnectionResult connection_result(hca::ConnectionEventType type);

}  // namespace softdat::object
