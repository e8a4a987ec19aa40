// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/memory_region.h"

#include "simnic/engine.h"
#include "simnic/memory_table.h"

namespace softdat::simnic {

MemoryRegion::~MemoryRegion() {
  const Engine::Hold hold(engine_);
  table_.remove(key_);
}

}  // namespace softdat::simnic
