// SPDX-License-Identifier: BSD-2-Clause
// LedgerPrivateData: private data that the program gets with a connection request or a connection event, and that ends
// with the request or the EP. In mode `full` an access after that is a finding.
//
// Owned by the Ledger. Any thread; each call takes the ledger's lock, and that of PageGuard within. May throw
// std::bad_alloc. Pages of ended data stay mapped for ever, so their number is limited.
#pragma once

#include <cstddef>

#include "libdat/sanitize/ledger_state.h"
#include "libdat/sanitize/operation.h"
#include "libdat/sanitize/site.h"

namespace softdat::sanitize {

class LedgerPrivateData {
 public:
  // The state outlives this object.
  explicit LedgerPrivateData(LedgerState& state) : state_(state) {}

  // The private data that the program gets ends with `owner`, an EP or a connection request. In mode `full` returns
  // memory of its own with the same bytes. Otherwise, and when there is no page for it, returns `data`.
  const void* watch(Handle owner, const void* data, std::size_t length, const Site& site);
  void end(Handle owner, const Site& site);

 private:
  LedgerState& state_;
};

}  // namespace softdat::sanitize
