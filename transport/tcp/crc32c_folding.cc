// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/crc32c_folding.h"

#include <array>

#include "base/assert.h"
#include "base/made_once.h"
#include "transport/tcp/crc32c_polynomial.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace softdat::transport::tcp {

#if defined(__x86_64__)
namespace {

#define FOLD_TARGET __attribute__((target("avx512f,vpclmulqdq,sse4.2")))

constexpr std::size_t kVector = sizeof(__m512i);
constexpr std::size_t kVectors = 4;  // side by side, because one product takes longer than the next may begin
constexpr std::size_t kStep = kVectors * kVector;

// The factors that append `bytes` zero bytes to a sum of 16 bytes: one for its first half, which is 64 bits further
// from the end, one for its second. The product of two reflected words is one bit short, hence the 1; the factor is 32
// bits long and stands in the upper half of its word, as x^0 is the highest bit.
constexpr std::uint64_t first_factor(std::size_t bytes) {
  return std::uint64_t{power_of_x(8 * bytes + 64 - 1)} << 32;
}
constexpr std::uint64_t second_factor(std::size_t bytes) {
  return std::uint64_t{power_of_x(8 * bytes - 1)} << 32;
}

template <std::size_t kBytes>
FOLD_TARGET __m512i factors() {
  static constexpr std::uint64_t kFirst = first_factor(kBytes);
  static constexpr std::uint64_t kSecond = second_factor(kBytes);
  const auto first = static_cast<long long>(kFirst);
  const auto second = static_cast<long long>(kSecond);
  return _mm512_set_epi64(second, first, second, first, second, first, second, first);
}

// `sum` with zeros appended as `by` says, plus `more`.
FOLD_TARGET __m512i fold(__m512i sum, __m512i by, __m512i more) {
  constexpr int kExclusiveOr = 0x96;  // of three operands
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(sum, by, 0x00), _mm512_clmulepi64_epi128(sum, by, 0x11),
                                   more, kExclusiveOr);
}

FOLD_TARGET __m512i load(const std::byte* from, std::size_t vector) {
  return _mm512_loadu_si512(from + vector * kVector);
}

// The checksum of the 64 bytes of `sum`.
FOLD_TARGET std::uint32_t end(__m512i sum) {
  std::array<std::uint64_t, kVector / sizeof(std::uint64_t)> words;
  _mm512_storeu_si512(words.data(), sum);
  std::uint64_t crc = 0;
  for (const std::uint64_t word : words) crc = _mm_crc32_u64(crc, word);
  return static_cast<std::uint32_t>(crc);
}

FOLD_TARGET std::uint32_t fold_all(std::uint32_t crc, std::span<const std::byte>& rest) {
  const std::byte* from = rest.data();
  __m512i sums[kVectors] = {load(from, 0), load(from, 1), load(from, 2), load(from, 3)};
  sums[0] = _mm512_xor_si512(sums[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc))));
  const __m512i by_step = factors<kStep>();
  for (rest = rest.subspan(kStep); rest.size() >= kStep; rest = rest.subspan(kStep)) {
    from = rest.data();
    sums[0] = fold(sums[0], by_step, load(from, 0));
    sums[1] = fold(sums[1], by_step, load(from, 1));
    sums[2] = fold(sums[2], by_step, load(from, 2));
    sums[3] = fold(sums[3], by_step, load(from, 3));
  }
  const __m512i by_vector = factors<kVector>();
  return end(fold(fold(fold(sums[0], by_vector, sums[1]), by_vector, sums[2]), by_vector, sums[3]));
}

#undef FOLD_TARGET

bool find_whether_can_fold() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0 &&
         __builtin_cpu_supports("sse4.2") != 0;
}

}  // namespace

bool can_fold_crc32c() {
  static constinit base::FoundOnce<bool> can;
  return can.get(find_whether_can_fold);
}

std::uint32_t fold_crc32c(std::uint32_t crc, std::span<const std::byte>& rest) {
  base::check(rest.size() >= kLeastFolded, "few bytes to fold", rest.size());
  return fold_all(crc, rest);
}
#else
bool can_fold_crc32c() {
  return false;
}

std::uint32_t fold_crc32c(std::uint32_t crc, std::span<const std::byte>&) {
  return crc;
}
#endif

}  // namespace softdat::transport::tcp
