// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/connection.h"

#include "base/assert.h"

namespace softdat::simnic::fault {

void Connection::establish() {
  SOFTDAT_DEBUG_CHECK(number_ == 0, "a connection is established once", number_);
  EndpointState& state = carrier_.endpoint(endpoint_);
  number_ = ++state.connections;
  state.fate.reset();
}

Point Connection::point(base::FaultStage stage, base::FaultOp op, std::uint64_t number) const {
  return {.stage = stage, .op = op, .endpoint = endpoint_, .connection = number_, .number = number, .peer = peer_};
}

}  // namespace softdat::simnic::fault
