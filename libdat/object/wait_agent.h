// SPDX-License-Identifier: BSD-2-Clause
// DAT_OS_WAIT_PROXY_AGENT, member by member.
#pragma once

#include "libdat/object/object.h"

namespace softdat::object {

// A null function is no agent.
struct WaitAgent {
  void* instance_data = nullptr;
  void (*function)(void* instance_data, Handle evd) = nullptr;
};

}  // namespace softdat::object
