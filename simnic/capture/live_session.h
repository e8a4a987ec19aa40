// SPDX-License-Identifier: BSD-2-Clause
// The process's side of `softdat capture PID`: a thread of its own talks to one tool, from its request to the end of
// the capture. Nothing that the tool does or leaves undone holds up the process.
#pragma once

#include "base/unique_fd.h"

namespace softdat::simnic::capture {

// Any thread. Starts the thread, or closes the connection where that cannot be: too many tools ask at once, or
// there is no thread.
void serve_capture(base::UniqueFd connection);

// A child made by fork() has none of the threads of its parent.
void forget_live_sessions_in_child();

}  // namespace softdat::simnic::capture
