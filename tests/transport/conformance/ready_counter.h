// SPDX-License-Identifier: BSD-2-Clause
// ReadyCounter counts how often a reactor tells of its descriptor.
#pragma once

#include "transport/reactor.h"

namespace softdat::transport::conformance {

class ReadyCounter final : public ReadinessSink {
 public:
  void on_ready(std::uint32_t) override { ++count; }
  int count = 0;
};

}  // namespace softdat::transport::conformance
