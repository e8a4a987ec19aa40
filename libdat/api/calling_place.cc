// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/calling_place.h"

#include <array>
#include <cstdint>

#include "base/assert.h"
#include "libdat/object/consumer_frame.h"

namespace softdat::api {
namespace {

// Which module an address is of takes a microsecond to find out; calls come from few places.
struct Known {
  const void* address = nullptr;
  bool is_ours = false;
};
constinit thread_local std::array<Known, 64> t_known{};

// The place of an entry point of ours that has called another one.
[[gnu::tls_model("initial-exec")]] constinit thread_local const void* t_place = nullptr;

}  // namespace

const void* calling_place(const void* address) {
  Known& known = t_known[reinterpret_cast<std::uintptr_t>(address) / 4 % t_known.size()];
  if (known.address != address) known = {address, object::is_our_code(address)};
  if (!known.is_ours) return address;
  return t_place != nullptr ? t_place : object::find_consumer_frame();
}

// Not the place of the outer call: a wait agent of the consumer's may have called.
KnownPlace::KnownPlace(const void* address) : outer_(t_place) {
  t_place = nullptr;
  place_ = calling_place(address);
  t_place = place_;
}

KnownPlace::~KnownPlace() {
  SOFTDAT_DEBUG_CHECK(t_place == place_, "calls of entry points by others end in the reverse order");
  t_place = outer_;
}

}  // namespace softdat::api
