// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/responder_failure.h"

#include <new>

namespace softdat::simnic {

using hca::CompletionOpcode;
using hca::Rule;

hca::Failure* ResponderFailure::note(CompletionOpcode operation, Rule rule) {
  // The first failure is the cause; later ones follow from it.
  if (failure_ != nullptr) return nullptr;
  // Out of memory: the connection ends all the same, only without an explanation.
  failure_.reset(new (std::nothrow) hca::Failure);
  if (failure_ == nullptr) return nullptr;
  failure_->actor = hca::Actor::kPeersRequest;
  failure_->operation = operation;
  failure_->rule = rule;
  return failure_.get();
}

void ResponderFailure::note_access(CompletionOpcode operation, std::uint32_t key, std::uint64_t address,
                                   std::uint64_t length, hca::AccessMask right) {
  hca::Failure* const noted = note(operation, Rule::kUnknown);
  if (noted != nullptr) memory_.table.explain(key, address, length, right, memory_.who, *noted);
}

}  // namespace softdat::simnic
