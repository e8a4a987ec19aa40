// SPDX-License-Identifier: BSD-2-Clause
// LedgerRegions: memory that the program registers and frees, and windows that it binds to it.
//
// Owned by the Ledger. Any thread; each call takes the ledger's lock. A breach is reported. May throw std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>

#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/memory_region.h"
#include "libdat/sanitize/ledger_buffers.h"
#include "libdat/sanitize/ledger_guards.h"
#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

class LedgerRegions {
 public:
  // All outlive this object.
  LedgerRegions(LedgerState& state, LedgerGuards& guards, LedgerBuffers& buffers)
      : state_(state), guards_(guards), buffers_(buffers) {}

  void on_registered(const object::MemoryRegionParameters& parameters, Handle lmr, const Site& site);
  // Before dat_lmr_free, and after one that was granted.
  void before_deregistration(Handle lmr, const Site& site);
  void on_deregistered(Handle lmr, const Site& site);

  // The window is bound to memory of the region; with the length 0 it is not bound any more.
  void on_window(Handle rmr, std::uint32_t rmr_context, const object::Segment& memory, bool is_zero_based);
  // The memory that the rmr_context of a window or region names, as a local segment. Empty: not known.
  std::optional<object::Segment> find_sink(std::uint64_t address, std::uint32_t length, std::uint32_t rmr_context);

 private:
  // Null: not known.
  RegionRecord* find_locked(Handle lmr);

  LedgerState& state_;
  LedgerGuards& guards_;
  LedgerBuffers& buffers_;
};

}  // namespace softdat::sanitize
