// SPDX-License-Identifier: BSD-2-Clause
#include "memory/fork_copies.h"

#include <sys/mman.h>

#include <mutex>

#include "memory/lock_places.h"
#include "tests/memory/pages.h"

namespace softdat::memory::testing {
namespace {

// As a child finds it whose parent could not read its own file.
TEST(ForkCopiesTest, WhatCouldNotBeReadStaysTheFiles) {
  constexpr int kNoFile = -1;
  const base::UniqueFd file(::memfd_create("fork_copies_test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), kPage), 0);
  void* const place = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  ASSERT_NE(place, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(place);
  bytes[5] = std::byte{7};
  const auto begin = reinterpret_cast<std::uint64_t>(place);
  base::Mutex<locks::kArena> mutex;
  {
    const std::lock_guard lock(mutex);
    ForkCopies copies;
    copies.make_room(1);
    copies.add({0, kPage});
    copies.read(kNoFile);
    copies.replace({begin, begin + kPage, MappingKind::kArena, PROT_READ | PROT_WRITE, 0}, file.get());
    copies.forget();
  }
  EXPECT_EQ(bytes[5], std::byte{7});
  // Its own from now on.
  bytes[5] = std::byte{8};
  std::byte of_file{};
  EXPECT_EQ(::pread(file.get(), &of_file, 1, 5), 1);
  EXPECT_EQ(of_file, std::byte{7});
  ::munmap(place, kPage);
}

}  // namespace
}  // namespace softdat::memory::testing
