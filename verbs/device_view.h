// SPDX-License-Identifier: BSD-2-Clause
// DeviceView: what a queue pair uses of its device. The device owns all of it, and outlives its queue pairs.
#pragma once

#include "verbs/event_thread.h"
#include "verbs/memory_table.h"
#include "verbs/traits.h"
#include "verbs/withheld_established.h"

namespace softdat::verbs {

struct DeviceView {
  EventThread& events;
  Adapter& adapter;
  MemoryTable& memory;
  WithheldEstablished& withheld;
  const Traits& traits;

  const Library& library() const { return adapter.library(); }
};

}  // namespace softdat::verbs
