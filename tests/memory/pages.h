// SPDX-License-Identifier: BSD-2-Clause
// Memory for tests of direct access.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/unique_fd.h"
#include "memory/arena.h"
#include "tests/scarce_limit.h"

namespace softdat::memory::testing {

inline constexpr std::size_t kPage = 4096;

// Fresh private pages of their own. A page that can be read lies before them, because memory right behind a guard may
// be a stack and is not shared.
class Pages {
 public:
  // `wanted`: there, if there is room.
  explicit Pages(std::size_t count, int flags = MAP_PRIVATE | MAP_ANONYMOUS, std::uint64_t wanted = 0)
      : length_(count * kPage), data_(map(length_, flags, wanted)) {}
  ~Pages() { ::munmap(data_ - kPage, kPage + length_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }
  std::size_t size() const { return length_; }

 private:
  static std::byte* map(std::size_t length, int flags, std::uint64_t wanted) {
    void* const hint = wanted == 0 ? nullptr : reinterpret_cast<void*>(wanted - kPage);
    auto* const before = static_cast<std::byte*>(::mmap(hint, kPage + length, PROT_READ, flags, -1, 0));
    EXPECT_NE(static_cast<void*>(before), MAP_FAILED);
    EXPECT_EQ(::mprotect(before + kPage, length, PROT_READ | PROT_WRITE), 0);
    return before + kPage;
  }

  std::size_t length_;
  std::byte* data_;
};

// Sanitizers end the process when they get no memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMayLackMemory = false;
#else
inline constexpr bool kMayLackMemory = true;
#endif

// What a peer that maps the arena reads there.
inline std::byte read_arena(const Arena& arena, std::uint64_t offset) {
  std::byte byte{};
  EXPECT_EQ(::pread(arena.file(), &byte, 1, static_cast<off_t>(offset)), 1);
  return byte;
}

// Whether this system lets us do it at all; without, there is nothing to test.
inline bool is_supported() {
  PageMover mover;
  return mover.is_able();
}

inline base::UniqueFd duplicate(int fd) {
  return base::UniqueFd(::dup(fd));
}

}  // namespace softdat::memory::testing
