// SPDX-License-Identifier: BSD-2-Clause
#include "base/guarded_atomic.h"

#include <atomic>

#include "base/fault_guard.h"
#include "base/ordered_copy.h"

namespace softdat::base {
namespace {

using Word = std::atomic_ref<std::uint64_t>;
static_assert(Word::is_always_lock_free);
static_assert(Word::required_alignment == sizeof(std::uint64_t));

// The kernel has no atomic operations on memory of a process, so where it has to look, memory that goes between its
// look and the operation is not heard of.
bool is_there_for_kernel(std::byte* target) {
  std::uint64_t before = 0;
  return copy_by_kernel(reinterpret_cast<std::byte*>(&before), target, sizeof before) && is_writable(target, 1);
}

Word word_at(std::byte* target) {
  return Word(*reinterpret_cast<std::uint64_t*>(target));
}

}  // namespace

// On a fault neither memory nor `value` has changed: the fault comes from the locked instruction, before its only
// store.
bool fetch_add(std::byte* target, std::uint64_t& value) {
#if defined(__x86_64__)
  if (has_guarded_instructions()) {
    asm goto("movq (%[value]), %%rax\n" SOFTDAT_GUARDED("lock xaddq %%rax, (%[target])", fault) "movq %%rax, (%[value])"
             :
             : [target] "r"(target), [value] "r"(&value)
             : "rax", "cc", "memory"
             : fault);
    return true;
  fault:
    return false;
  }
#endif
  if (!is_there_for_kernel(target)) return false;
  value = word_at(target).fetch_add(value, std::memory_order_seq_cst);
  return true;
}

// cmpxchg leaves the old word in rax whether or not it exchanged. So `value` is the word before, which an atomic
// response carries (RFC 7306).
bool compare_exchange(std::byte* target, std::uint64_t& value, std::uint64_t desired) {
#if defined(__x86_64__)
  if (has_guarded_instructions()) {
    asm goto("movq (%[value]), %%rax\n" SOFTDAT_GUARDED("lock cmpxchgq %[desired], (%[target])",
                                                        fault) "movq %%rax, (%[value])"
             :
             : [target] "r"(target), [value] "r"(&value), [desired] "r"(desired)
             : "rax", "cc", "memory"
             : fault);
    return true;
  fault:
    return false;
  }
#endif
  if (!is_there_for_kernel(target)) return false;
  word_at(target).compare_exchange_strong(value, desired, std::memory_order_seq_cst);
  return true;
}

}  // namespace softdat::base
