// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/memory_window.h"

#include "simnic/engine.h"
#include "simnic/memory_table.h"

namespace softdat::simnic {

MemoryWindow::MemoryWindow(Engine& engine, MemoryTable& table, std::uint32_t domain, hca::WindowScope scope,
                           std::uint64_t context)
    : engine_(engine), table_(table), state_(*new WindowState(domain, scope, context)) {}

MemoryWindow::~MemoryWindow() {
  const Engine::Hold hold(engine_);
  if (const std::uint32_t key = state_.key()) table_.remove(key);
  state_.set_key(0);
  // Posted binds may still name the state, which lives until the last of them is finished.
  state_.leave();
  state_.release();
}

hca::WindowBinding MemoryWindow::binding() const {
  return table_.describe(state_.key());
}

}  // namespace softdat::simnic
