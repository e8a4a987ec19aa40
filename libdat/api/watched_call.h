// SPDX-License-Identifier: BSD-2-Clause
// What the sanitized entry points share (sanitized_calls.h). `ledger` is the sanitizer's.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>

#include "base/assert.h"
#include "libdat/api/answer.h"
#include "libdat/api/calling_place.h"
#include "libdat/object/status.h"
#include "libdat/sanitize/ledger.h"
#include "libdat/sanitize/page_guard.h"
#include "libdat/sanitize/settings.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// The entry points that the sanitized ones call. Written before the registry has the table.
extern DAT_PROVIDER next_entries;

// number_of() of an argument that goes on to another entry point. By value: nothing may refer to such an argument, as
// note() says.
template <typename Enum>
std::uint32_t number_of_argument(Enum argument) {
  return number_of(argument);
}

// Tells the ledger something, unless there is no memory for it.
// The arguments go by value, and nothing refers to them: a consumer may pass a number that its enumeration does not
// have, and such a number must not be read from memory as one.
template <typename Tell, typename... Arguments>
void note(const Tell& tell, Arguments... arguments) {
  try {
    tell(sanitize::Ledger::instance(), arguments...);
  } catch (const std::bad_alloc&) {
  }
}

// Stands on the stack of the call.
class WatchedCall {
 public:
  // `name`: the function's; static.
  WatchedCall(const char* name, const void* return_address) : name_(name), place_(return_address) {
    if (sanitize::mode() != sanitize::Mode::kFull) return;
    note([](sanitize::Ledger&) { sanitize::PageGuard::instance().tell_accesses(); });
  }

  sanitize::Site site() const { return {name_, place_.place()}; }

  // What the consumer is answered, who gave these handles.
  DAT_RETURN finish(DAT_RETURN answer, std::initializer_list<DAT_HANDLE> handles) const {
    if (answer != DAT_SUCCESS) [[unlikely]]
      refuse(answer, {handles.begin(), handles.size()});
    return answer;
  }

 private:
  [[gnu::noinline]] void refuse(DAT_RETURN answer, std::span<const DAT_HANDLE> handles) const {
    const auto type = static_cast<object::StatusType>(static_cast<std::uint32_t>(answer) >> 16 & 0x3fff);
    if (type != object::StatusType::kInvalidHandle) return;
    note([&](sanitize::Ledger& ledger) { ledger.objects().on_refused_handles(handles, site()); });
  }

  const char* const name_;
  const api::KnownPlace place_;
};

template <std::size_t kSize>
struct Literal {
  // NOLINTNEXTLINE: made from a literal without a word.
  constexpr Literal(const char (&from)[kSize]) { std::copy_n(from, kSize, text); }
  char text[kSize];
};

// An argument, if it is a handle.
template <typename Argument>
DAT_HANDLE handle_or_null(Argument argument) {
  if constexpr (std::is_same_v<std::remove_cv_t<Argument>, DAT_HANDLE>) {
    return argument;
  } else {
    return nullptr;
  }
}

// The entry point of a slot, with hooks: before(site, arguments...) and after(site, arguments...), the latter on
// success.
template <auto kSlot, Literal kName, typename Hooks, typename Pointer>
struct Watched;
template <auto kSlot, Literal kName, typename Hooks, typename... Arguments>
struct Watched<kSlot, kName, Hooks, DAT_RETURN (*)(Arguments...)> {
  static DAT_RETURN call(Arguments... arguments) { return watch(__builtin_return_address(0), arguments...); }
  [[gnu::noinline]] static DAT_RETURN watch(void* caller, Arguments... arguments) {
    const WatchedCall call(kName.text, caller);
    note([&](sanitize::Ledger& ledger, Arguments... values) { Hooks::before(ledger, call.site(), values...); },
         arguments...);
    SOFTDAT_DEBUG_CHECK((next_entries.*kSlot) != nullptr, "the entries below are known before a program calls");
    const DAT_RETURN answer = (next_entries.*kSlot)(arguments...);
    if (answer == DAT_SUCCESS) {
      note([&](sanitize::Ledger& ledger, Arguments... values) { Hooks::after(ledger, call.site(), values...); },
           arguments...);
    }
    return call.finish(answer, {handle_or_null<Arguments>(arguments)...});
  }
};

struct NoHooks {
  template <typename... Arguments>
  static void before(sanitize::Ledger&, const sanitize::Site&, Arguments...) {}
  template <typename... Arguments>
  static void after(sanitize::Ledger&, const sanitize::Site&, Arguments...) {}
};

#define SOFTDAT_WATCH(slot, Hooks) \
  table.slot##_func = Watched<&DAT_PROVIDER::slot##_func, "dat_" #slot, Hooks, decltype(table.slot##_func)>::call

void watch_posts(DAT_PROVIDER& table);   // sanitized_posts.cc
void watch_events(DAT_PROVIDER& table);  // sanitized_events.cc
void watch_memory(DAT_PROVIDER& table);  // sanitized_memory.cc

// Before its first use: a handle of that table for fields of events that are void.
void make_void_handle(const void* provider_table);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
