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
[[gnu::cold, gnu::noinline]] Status post_failure(hca::Error error, bool is_write);

DtoStatus dto_status(hca::CompletionStatus status);
// "DAT_DTO_ERR_FLUSHED".
const char* name_of(DtoStatus status);
DtoOperation dto_operation(hca::CompletionOpcode opcode);

// A refused bind; `privileges` are those asked for, `argument` is the triplet.
Status bind_failure(hca::Error error, std::uint32_t privileges, StatusDetail argument);

// A completion as DAT's event; its context is the EP's handle. REQUIRES: not that of a bind.
inline DtoCompletion dto_completion(const hca::Completion& from) {
  return {reinterpret_cast<Handle>(from.qp_context),
          from.wr_id,
          from.length,
          dto_status(from.status),
          dto_operation(from.opcode),
          from.invalidated,
          from.immediate};
}
// The same of any completion; that of a bind has the RMR's handle as its context.
inline void write_completion(const hca::Completion& from, Event& to) {
  if (from.opcode == hca::CompletionOpcode::kBind) [[unlikely]] {
    to.body = RmrBindCompletion{reinterpret_cast<Handle>(from.qp_context), from.wr_id, dto_status(from.status)};
  } else {
    to.body = dto_completion(from);
  }
}

ConnectionResult connection_result(hca::ConnectionEventType type);

}  // namespace softdat::object
