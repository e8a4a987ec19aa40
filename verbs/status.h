// SPDX-License-Identifier: BSD-2-Clause
// From the words of verbs to those of the port; each translation is total.
#pragma once

#include "hca/result.h"
#include "hca/types.h"
#include "verbs/library.h"

namespace softdat::verbs {

// Of an errno that a creating call left or returned.
hca::Error error_of(int number);

// A driver did not like what was posted; some say so by a negative number.
bool is_refused(int number);
// It does not take what was posted for a connection any more; some say so by a negative number.
bool is_disconnected(int number);

hca::CompletionStatus status_of(ibv_wc_status status);

}  // namespace softdat::verbs
