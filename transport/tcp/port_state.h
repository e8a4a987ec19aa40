// SPDX-License-Identifier: BSD-2-Clause
// What a listening port and the requests that came through it share. Baton only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transport/carrier.h"

namespace softdat::transport::tcp {

struct PortState {
  // Fixed after construction.
  std::uint64_t service_id = 0;
  std::uint16_t port = 0;
  std::size_t backlog = 1;

  // Owned by the baton.
  PortSink* sink = nullptr;    // null once the port is closed
  std::size_t unanswered = 0;  // requests that the sink has and has not answered
};
using SharedPort = std::shared_ptr<PortState>;

}  // namespace softdat::transport::tcp
