// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/memory_region.h"

#include "simnic/engine.h"
#include "simnic/memory_table.h"

namespace softdat::simnic {

MemoryRegion::~MemoryRegion() {
  const Engine::Hold hold(engine_);
  if (!is_revoked_) table_.remove(key_);
}

hca::Outcome MemoryRegion::revoke() {
  const Engine::Hold hold(engine_);
  if (!is_revoked_ && !table_.remove_unused(key_)) return hca::fail(hca::Error::kInvalidState);
  is_revoked_ = true;
  return hca::Done{};
}

}  // namespace softdat::simnic
