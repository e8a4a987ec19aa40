// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "hca/types.h"
#include "libdat/api/abi.h"
#include "libdat/object/event.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// Writes every member of `to` that the event's kind has; the extension data of DAT 2.0 is left
// alone.
void write_event(const object::Event& from, DAT_EVENT& to);
// The same of a completion that came through this EVD.
void write_event(const hca::Completion& from, object::Handle evd, DAT_EVENT& to);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
