// SPDX-License-Identifier: BSD-2-Clause
// Every slot of the provider table as calls that are right but for what the test makes wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libdat/object/object.h"
#include "libdat/object/status.h"
#include "tests/libdat/api/provider_fixture.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// Room for what a call writes; larger than any structure of either API.
struct alignas(64) Outputs {
  std::array<std::byte, 4096> bytes;
  template <typename T>
  T* as(std::size_t index = 0) {
    return reinterpret_cast<T*>(bytes.data() + index * 1024);
  }
};

// One handle argument of one slot.
struct HandleSlot {
  std::size_t slot;  // its offset in DAT_PROVIDER
  std::string name;  // "ep_create recv_evd"
  object::Kind kind;
  object::StatusDetail answer;
  std::function<DAT_RETURN(LiveObjects&, Outputs&, DAT_HANDLE)> call;
  enum Rule { kStrict, kNullAllowed, kAnyKind } rule = kStrict;
};
std::vector<HandleSlot> handle_slots();

// One other argument of one slot that is wrong.
struct ArgumentSlot {
  std::size_t slot;
  std::string name;  // "ep_create attributes: negative count"
  object::Status answer;
  std::function<DAT_RETURN(LiveObjects&, Outputs&)> call;
};
std::vector<ArgumentSlot> argument_slots();

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
