// SPDX-License-Identifier: BSD-2-Clause
// The names of DAT 2.0 events and completion statuses, as the headers spell them.
#pragma once

#include <dat2/udat.h>

#include <string>

namespace softdat::tools {

// "DAT_CONNECTION_EVENT_UNREACHABLE (no way to the address)"; "unknown event 0x1234" for a number without a name.
std::string event_text(DAT_EVENT_NUMBER number);

// "DAT_DTO_ERR_REMOTE_ACCESS (the peer's key, bounds or rights forbid it)"; "unknown status 42".
std::string completion_status_text(DAT_DTO_COMPLETION_STATUS status);

}  // namespace softdat::tools
