// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/adapter_counters.h"

#include <optional>

namespace softdat::object {
namespace {

// The index of the counter of creations of this kind, or nothing. The counter of ends follows it.
std::optional<std::size_t> creations_of(Kind kind) {
  switch (kind) {
    case Kind::kPz:
      return ia_counter::kPzCreate;
    case Kind::kLmr:
      return ia_counter::kLmrCreate;
    case Kind::kRmr:
      return ia_counter::kRmrCreate;
    case Kind::kPsp:
      return ia_counter::kPspCreate;
    case Kind::kRsp:
      return ia_counter::kRspCreate;
    case Kind::kEvd:
      return ia_counter::kEvdCreate;
    case Kind::kEp:
      return ia_counter::kEpCreate;
    case Kind::kSrq:
      return ia_counter::kSrqCreate;
    default:
      return std::nullopt;
  }
}

}  // namespace

void AdapterCounters::add_created(Kind kind) {
  if (const auto counter = creations_of(kind)) add(*counter);
  if (kind == Kind::kPsp || kind == Kind::kRsp) add(ia_counter::kListen);
}

void AdapterCounters::add_freed(Kind kind) {
  const auto creations = creations_of(kind);
  // A PSP's ends do not follow its creations, because DAT counts dat_psp_create_any in between.
  if (creations) add(kind == Kind::kPsp ? std::size_t{ia_counter::kPspFree} : *creations + 1);
}

}  // namespace softdat::object
