// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/stack_frames.h"

#include <pthread.h>
#include <unwind.h>

#include <cstddef>

#include "base/uncancelled.h"
#include "libdat/object/consumer_frame.h"

namespace softdat::sanitize {
namespace {

struct Bounds {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // 0: not known yet
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Bounds t_bounds{};

const Bounds& bounds() {
  if (t_bounds.end != 0) return t_bounds;
  t_bounds.end = 1;               // known to be nowhere
  const base::Uncancelled guard;  // the stack of the first thread is read from a file
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return t_bounds;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    t_bounds.begin = reinterpret_cast<std::uintptr_t>(lowest);
    t_bounds.end = t_bounds.begin + size;
  }
  ::pthread_attr_destroy(&attributes);
  return t_bounds;
}

// A function is known by where its frame ends. What it calls may move where its frame begins.
struct Search {
  std::uintptr_t address = 0;
  std::uintptr_t end = 0;       // of the frame: found, or to be found
  std::uintptr_t function = 0;  // whose frame it is; while searching, the one visited last
  bool is_consumer_reached = false;
  bool is_found = false;
  bool is_below = false;  // of all of the consumer's functions
};

std::uintptr_t function_of(_Unwind_Context* context) {
  void* const inside = reinterpret_cast<void*>(_Unwind_GetIP(context) - 1);  // NOLINT(performance-no-int-to-ptr)
  return reinterpret_cast<std::uintptr_t>(_Unwind_FindEnclosingFunction(inside));
}

// _Unwind_GetCFA() is the stack pointer of the visited function: where its frame begins, and that of its callee ends.
_Unwind_Reason_Code visit_for_owner(_Unwind_Context* context, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::uintptr_t begin = _Unwind_GetCFA(context);
  if (!search.is_consumer_reached) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (object::is_our_code(reinterpret_cast<void*>(_Unwind_GetIP(context)))) return _URC_NO_REASON;
    search.is_consumer_reached = true;
    search.is_below = search.address < begin;
    if (search.is_below) return _URC_END_OF_STACK;
  } else if (search.address < begin) {
    search.end = begin;
    search.is_found = true;
    return _URC_END_OF_STACK;
  }
  search.function = function_of(context);
  return _URC_NO_REASON;
}

struct Wanted {
  const FrameOwner& owner;
  std::uintptr_t last_function = 0;
  bool is_found = false;
  bool is_passed = false;  // a frame above it has been visited
};

_Unwind_Reason_Code visit_for_frame(_Unwind_Context* context, void* data) {
  auto& wanted = *static_cast<Wanted*>(data);
  const std::uintptr_t begin = _Unwind_GetCFA(context);
  wanted.is_found = begin == wanted.owner.frame && wanted.last_function == wanted.owner.function;
  wanted.is_passed = wanted.is_passed || (begin > wanted.owner.frame && begin < bounds().end);
  wanted.last_function = function_of(context);
  return wanted.is_found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

FrameOwner find_owner(std::uint64_t address) {
  const Bounds& stack = bounds();
  if (address < stack.begin || address >= stack.end) return {};
  Search search{.address = address};
  _Unwind_Backtrace(visit_for_owner, &search);
  if (search.is_found) return {.thread = &t_bounds, .frame = search.end, .function = search.function};
  // Above main(), or where code without unwind tables ends the walk, it is not ours to judge.
  return {.thread = search.is_below ? static_cast<const void*>(&t_bounds) : nullptr};
}

// Only the thread that owns the stack can tell, and only if the walk comes past the frame: code without unwind tables
// ends it early, and a coroutine has a stack of its own.
bool has_returned(const FrameOwner& owner) {
  if (owner.thread != &t_bounds) return false;
  if (owner.frame == 0) return true;
  Wanted wanted{.owner = owner};
  _Unwind_Backtrace(visit_for_frame, &wanted);
  return wanted.is_passed && !wanted.is_found;
}

}  // namespace softdat::sanitize
