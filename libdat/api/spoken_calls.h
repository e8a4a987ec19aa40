// SPDX-License-Identifier: BSD-2-Clause
// Entry points that say why they refuse a call, and note from where it came: they take the place of the others in the
// provider's table while words are wanted (base/words.h), so that nobody else pays for them.
#pragma once

#include "libdat/api/abi.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

void speak(DAT_PROVIDER& table);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
