// SPDX-License-Identifier: BSD-2-Clause
// ResponderFailure: why the last request of the peer was refused, for people. The first failure of a connection counts:
// it is the one that ends it.
//
// Costs nothing while nothing fails. Guarded by the queue pair's lane, and the baton. Without memory nothing is noted.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "hca/failure.h"
#include "simnic/scatter_gather.h"

namespace softdat::simnic {

class ResponderFailure {
 public:
  // `memory` outlives it.
  explicit ResponderFailure(const MemoryView& memory) : memory_(memory) {}

  // A connection begins.
  void begin() { failure_.reset(); }
  // Null: nothing was noted.
  std::unique_ptr<hca::Failure> take() { return std::move(failure_); }

  // Returns what to fill in; null: there is no memory, or a failure is noted already.
  [[gnu::cold, gnu::noinline]] hca::Failure* note(hca::CompletionOpcode operation, hca::Rule rule);
  // The key does not give the right to these bytes.
  [[gnu::cold, gnu::noinline]] void note_access(hca::CompletionOpcode operation, std::uint32_t key,
                                                std::uint64_t address, std::uint64_t length, hca::AccessMask right);

 private:
  const MemoryView& memory_;
  std::unique_ptr<hca::Failure> failure_;
};

}  // namespace softdat::simnic
