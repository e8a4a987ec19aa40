// SPDX-License-Identifier: BSD-2-Clause
#include "base/private_fd.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/uncancelled.h"

namespace softdat::base {
namespace {

constexpr int kBits = 64;
constexpr int kMostNumbers = 65536;

// A bit for each number that is a PrivateFd's. Each bit is written by whoever owns the descriptor; a
// child is alone with them all.
constinit std::array<std::atomic<std::uint64_t>, kMostNumbers / kBits> g_open{};

std::atomic<std::uint64_t>& word_of(int fd) {
  return g_open[static_cast<std::size_t>(fd / kBits)];
}

std::uint64_t bit_of(int fd) {
  return std::uint64_t{1} << (fd % kBits);
}

void close_in_child() {
  for (std::size_t i = 0; i < g_open.size(); ++i) {
    std::uint64_t bits = g_open[i].exchange(0, std::memory_order_relaxed);
    for (; bits != 0; bits &= bits - 1) ::close(static_cast<int>(i) * kBits + std::countr_zero(bits));
  }
}

}  // namespace

PrivateFd::PrivateFd(UniqueFd fd) : fd_(fd.release()) {
  [[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, close_in_child);
  if (fd_ >= 0 && fd_ < kMostNumbers) word_of(fd_).fetch_or(bit_of(fd_), std::memory_order_relaxed);
}

void PrivateFd::reset() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0) return;
  const bool is_noted = fd < kMostNumbers;
  // In a child that has closed it the number may be somebody else's by now.
  const bool is_ours = !is_noted || (word_of(fd).fetch_and(~bit_of(fd), std::memory_order_relaxed) & bit_of(fd)) != 0;
  if (!is_ours) return;
  const Uncancelled guard;
  ::close(fd);
}

}  // namespace softdat::base
