// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/replay.h"

#include "tools/softdat/dat_call.h"

namespace softdat::tools::capture {
int replay(const ReplayPlan&) {
  throw Failure("not yet");
}
}  // namespace softdat::tools::capture
