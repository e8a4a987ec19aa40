// SPDX-License-Identifier: BSD-2-Clause
#include "base/ordered_copy.h"

#include <algorithm>

#include "base/assert.h"
#include "base/made_once.h"
#include "base/prefetch.h"

namespace softdat::base {

#if defined(__x86_64__)
namespace {

// One word from a place to a place, by instructions that the compiler neither merges nor re-orders nor turns into a
// call of memcpy; x86-64 keeps stores in program order by itself. `label`: where a fault goes on.
#define SOFTDAT_MOVE(load, store, scratch, bytes, label)                                              \
  asm goto(SOFTDAT_GUARDED(load " (%[from]), %%" scratch "\n" store " %%" scratch ", (%[to])", label) \
           :                                                                                          \
           : [from] "r"(from), [to] "r"(to)                                                           \
           : SOFTDAT_CLOBBERED, "memory"                                                              \
           : label);                                                                                  \
  to += (bytes);                                                                                      \
  from += (bytes);                                                                                    \
  length -= (bytes)

constexpr std::size_t kVector = 16;
// Where stores of 16 bytes, one in each cycle, would be what holds a copy up.
constexpr std::size_t kWorthWide = 256;
constexpr std::size_t kWide = 32;

bool has_wide_stores() {
  static constinit FoundOnce<bool> has;
  return has.get([] { return __builtin_cpu_supports("avx") != 0; });
}

// A copy under way. Its members move on with the bytes.
struct Copy {
  std::byte* to;
  const std::byte* from;
  std::size_t length;
};

// Up to a place where no store lies across two cache lines, whose halves could be seen in any order.
inline bool align_target(Copy& copy) {
  auto& [to, from, length] = copy;
  const auto must_move = [&](std::uintptr_t size) {
    return (reinterpret_cast<std::uintptr_t>(copy.to) & size) != 0 && copy.length >= size;
  };
#define SOFTDAT_CLOBBERED "rax"
  if (must_move(1)) {
    SOFTDAT_MOVE("movb", "movb", "al", 1, fault);
  }
  if (must_move(2)) {
    SOFTDAT_MOVE("movw", "movw", "ax", 2, fault);
  }
  if (must_move(4)) {
    SOFTDAT_MOVE("movl", "movl", "eax", 4, fault);
  }
  if (must_move(8)) {
    SOFTDAT_MOVE("movq", "movq", "rax", 8, fault);
  }
#undef SOFTDAT_CLOBBERED
  return true;
fault:
  return false;
}

// The rest, of fewer bytes than a vector.
inline bool copy_tail(Copy& copy) {
  SOFTDAT_DEBUG_CHECK(copy.length < kVector, "the tail is shorter than a vector", copy.length);
  auto& [to, from, length] = copy;
#define SOFTDAT_CLOBBERED "rax"
  if (length >= 8) {
    SOFTDAT_MOVE("movq", "movq", "rax", 8, fault);
  }
  if (length >= 4) {
    SOFTDAT_MOVE("movl", "movl", "eax", 4, fault);
  }
  if (length >= 2) {
    SOFTDAT_MOVE("movw", "movw", "ax", 2, fault);
  }
  if (length >= 1) {
    SOFTDAT_MOVE("movb", "movb", "al", 1, fault);
  }
#undef SOFTDAT_CLOBBERED
  return true;
fault:
  return false;
}

inline bool move_vector(Copy& copy) {
  auto& [to, from, length] = copy;
#define SOFTDAT_CLOBBERED "xmm0"
  SOFTDAT_MOVE("movups", "movups", "xmm0", kVector, fault);
#undef SOFTDAT_CLOBBERED
  return true;
fault:
  return false;
}

// REQUIRES: a multiple of kWide bytes; `to` is aligned to as many.
__attribute__((target("avx"))) bool copy_wide(std::byte* to, const std::byte* from, std::size_t length) {
  SOFTDAT_DEBUG_CHECK(length % kWide == 0 && reinterpret_cast<std::uintptr_t>(to) % kWide == 0,
                      "wide stores are whole and aligned", length, reinterpret_cast<std::uintptr_t>(to));
#define SOFTDAT_MOVE_WIDE(at) "vmovdqu " #at "(%[from]), %%ymm0\nvmovdqa %%ymm0, " #at "(%[to])\n"
  for (; length >= 4 * kWide; to += 4 * kWide, from += 4 * kWide, length -= 4 * kWide) {
    asm goto(
        SOFTDAT_GUARDED(SOFTDAT_MOVE_WIDE(0) SOFTDAT_MOVE_WIDE(32) SOFTDAT_MOVE_WIDE(64) SOFTDAT_MOVE_WIDE(96), fault)
        :
        : [from] "r"(from), [to] "r"(to)
        : "xmm0", "memory"
        : fault);
  }
  for (; length > 0; to += kWide, from += kWide, length -= kWide) {
    asm goto(SOFTDAT_GUARDED(SOFTDAT_MOVE_WIDE(0), fault)
             :
             : [from] "r"(from), [to] "r"(to)
             : "xmm0", "memory"
             : fault);
  }
#undef SOFTDAT_MOVE_WIDE
  asm volatile("vzeroupper");
  return true;
fault:
  asm volatile("vzeroupper");
  return false;
}

// Most of it. What programs watch is the end, which is left to stores that no processor makes in two.
inline bool copy_bulk(Copy& copy) {
  SOFTDAT_DEBUG_CHECK(copy.length >= kWorthWide, "wide stores are for long copies", copy.length);
  if (reinterpret_cast<std::uintptr_t>(copy.to) % kWide != 0 && !move_vector(copy)) return false;
  const std::size_t bulk = (copy.length - kWide) / kWide * kWide;
  if (!copy_wide(copy.to, copy.from, bulk)) return false;
  copy = {copy.to + bulk, copy.from + bulk, copy.length - bulk};
  return true;
}

// Few branches, wherever `to` lies.
bool copy_short(std::byte* to, const std::byte* from, std::size_t length) {
  Copy copy{to, from, length};
  while (copy.length >= kVector) {
    if (!move_vector(copy)) return false;
  }
  return copy_tail(copy);
}

bool copy_by_instructions(std::byte* to, const std::byte* from, std::size_t length) {
  Copy copy{to, from, length};
  if (reinterpret_cast<std::uintptr_t>(to) % kVector != 0 && !align_target(copy)) return false;
  // Wide stores take all but the end, at least 32 bytes of it, which vectors and words move.
  if (copy.length >= kWorthWide && has_wide_stores() && !copy_bulk(copy)) return false;
  while (copy.length >= kVector) {
    if (!move_vector(copy)) return false;
  }
  return copy_tail(copy);
}
#undef SOFTDAT_MOVE

// Fetches the target's lines for writing, all but the first. Another processor may cache them; the stores of a copy
// would then wait for each line in turn. The first line is left alone, because it may begin before `to`, with a word
// that a reader polls.
void fetch_lines(const std::byte* to, std::size_t length) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = kLine; at < length; at += kLine) prefetch_to_write(to + at);
}

bool read_byte(const std::byte* from) {
  asm goto(SOFTDAT_GUARDED("movb (%[from]), %%al", fault) : : [from] "r"(from) : "rax", "memory" : fault);
  return true;
fault:
  return false;
}

// A locked OR with 0 stores the byte that is there, so it tests for write access without losing another thread's store.
bool rewrite_byte(std::byte* to) {
  asm goto(SOFTDAT_GUARDED("lock orb $0, (%[to])", fault) : : [to] "r"(to) : "cc", "memory" : fault);
  return true;
fault:
  return false;
}

}  // namespace

bool copy_ordered_at_length(std::byte* to, const std::byte* from, std::size_t length) {
  if (!has_guarded_instructions()) [[unlikely]]
    return copy_by_kernel(to, from, length);
  return copy_by_instructions(to, from, length);
}

bool copy_in_at_length(std::byte* to, const std::byte* from, std::size_t length) {
  if (!has_guarded_instructions()) [[unlikely]]
    return copy_by_kernel(to, from, length);
  // Nobody polls the bytes of the target, which is the library's own memory, so it needs no alignment.
  if (length < kWorthWide) return copy_short(to, from, length);
  fetch_lines(to, length);
  return copy_by_instructions(to, from, length);
}

#else

bool copy_in_at_length(std::byte* to, const std::byte* from, std::size_t length) {
  return copy_by_kernel(to, from, length);
}

bool copy_ordered_at_length(std::byte* to, const std::byte* from, std::size_t length) {
  return copy_by_kernel(to, from, length);
}

#endif

namespace {

constexpr std::uintptr_t kPage = 4096;

// Calls `touch` with the first byte of each page; false as soon as that is false.
template <typename Byte, typename Touch>
bool touch_pages(Byte* at, std::size_t length, const Touch& touch) {
  while (length > 0) {
    if (!touch(at)) return false;
    const std::size_t step = std::min(length, kPage - reinterpret_cast<std::uintptr_t>(at) % kPage);
    at += step;
    length -= step;
  }
  return true;
}

}  // namespace

// One byte of each page is enough, because protection counts by page.
bool is_readable(const std::byte* from, std::size_t length) {
  return touch_pages(from, length, [](const std::byte* at) {
#if defined(__x86_64__)
    if (has_guarded_instructions()) return read_byte(at);
#endif
    std::byte got;
    return copy_by_kernel(&got, at, 1);
  });
}

// By the kernel, what others store into the same byte at that moment is lost. No guarded instruction is to be had then.
bool is_writable(std::byte* to, std::size_t length) {
  return touch_pages(to, length, [](std::byte* at) {
#if defined(__x86_64__)
    if (has_guarded_instructions()) return rewrite_byte(at);
#endif
    std::byte got;
    return copy_by_kernel(&got, at, 1) && copy_by_kernel(at, &got, 1);
  });
}

}  // namespace softdat::base
