// SPDX-License-Identifier: BSD-2-Clause
// Children of a process that has shared memory.
#include <sys/wait.h>

#include "memory/fork_handlers.h"
#include "tests/memory/pages.h"

namespace softdat::memory::testing {
namespace {

class Fork : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_supported()) GTEST_SKIP() << "no userfaultfd here";
    arena_ = Arena::create();
    ASSERT_NE(arena_, nullptr);
    ASSERT_EQ(::pipe(to_child_), 0);
    offset_ = arena_->share(pages_.address(), pages_.size());
    ASSERT_TRUE(offset_.has_value());
    std::memset(pages_.data(), 1, pages_.size());
  }
  // Runs `body` in a child, which begins it after tell_child(); its result is the child's exit code.
  template <typename Body>
  void fork_child(Body body) {
    child_ = ::fork();
    if (child_ != 0) return;
    char byte;
    if (::read(to_child_[0], &byte, 1) != 1) ::_exit(100);
    ::_exit(body());
  }
  void tell_child() { EXPECT_EQ(::write(to_child_[1], "x", 1), 1); }
  int child_result() {
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  Pages pages_{16};
  std::unique_ptr<Arena> arena_;
  std::optional<std::uint64_t> offset_;
  int to_child_[2] = {};
  pid_t child_ = 0;
};

TEST_F(Fork, TheChildKeepsWhatWasThereWhateverTheParentStores) {
  fork_child([&] { return std::to_integer<int>(pages_.data()[5]) + std::to_integer<int>(pages_.data()[9 * kPage]); });
  std::memset(pages_.data(), 2, pages_.size());
  tell_child();
  EXPECT_EQ(child_result(), 2);
}

TEST_F(Fork, TheParentDoesNotSeeWhatTheChildStores) {
  fork_child([&] {
    std::memset(pages_.data(), 3, pages_.size());
    return pages_.data()[0] == std::byte{3} ? 0 : 1;
  });
  tell_child();
  EXPECT_EQ(child_result(), 0);
  EXPECT_EQ(pages_.data()[0], std::byte{1});
  EXPECT_EQ(read_arena(*arena_, *offset_ + 7 * kPage), std::byte{1});
}

TEST_F(Fork, TheParentsMemoryIsSharedAsBefore) {
  fork_child([] { return 0; });
  tell_child();
  EXPECT_EQ(child_result(), 0);
  pages_.data()[100] = std::byte{9};
  EXPECT_EQ(read_arena(*arena_, *offset_ + 100), std::byte{9});
  EXPECT_EQ(arena_->share(pages_.address(), pages_.size()), offset_);
}

TEST_F(Fork, WhatIsProtectedOrMovedAwayIsDividedToo) {
  const Pages elsewhere(4);
  std::byte* const moved = pages_.data() + 8 * kPage;
  ASSERT_EQ(::mprotect(pages_.data(), 4 * kPage, PROT_READ), 0);
  ASSERT_EQ(::mremap(moved, 4 * kPage, 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.data()), elsewhere.data());
  fork_child([&] {
    if (pages_.data()[0] != std::byte{1} || elsewhere.data()[0] != std::byte{1}) return 1;
    if (::mprotect(pages_.data(), 4 * kPage, PROT_READ | PROT_WRITE) != 0) return 2;
    pages_.data()[0] = elsewhere.data()[0] = std::byte{3};
    return 0;
  });
  elsewhere.data()[0] = std::byte{2};
  tell_child();
  EXPECT_EQ(child_result(), 0);
  EXPECT_EQ(pages_.data()[0], std::byte{1});
  EXPECT_EQ(elsewhere.data()[0], std::byte{2});
}

// More views than the child's list holds at a time.
TEST_F(Fork, AChildWithoutMemoryEndsByItselfAndLeavesItsParentsAlone) {
  if (!kMayLackMemory) GTEST_SKIP() << "a sanitizer needs memory of its own";
  constexpr std::size_t kViews = 70;
  const Pages many(2 * kViews);
  for (std::size_t i = 0; i < kViews; ++i) ASSERT_TRUE(arena_->share(many.address() + 2 * i * kPage, kPage));
  many.data()[0] = std::byte{1};
  {
    const ScarceLimit memory(RLIMIT_DATA, kPage);
    fork_child([&] {
      if (many.data()[0] != std::byte{1}) return 1;
      many.data()[0] = std::byte{7};
      return 2;
    });
  }
  tell_child();
  EXPECT_EQ(child_result(), -1);  // by a signal
  EXPECT_EQ(many.data()[0], std::byte{1});
}

TEST_F(Fork, AChildWithoutDescriptorsHasMemoryOfItsOwn) {
  const int lowest_free = ::dup(to_child_[0]);
  ::close(lowest_free);
  {
    const ScarceLimit descriptors(RLIMIT_NOFILE, static_cast<rlim_t>(lowest_free));
    fork_child([&] {
      std::memset(pages_.data(), 3, pages_.size());
      return 0;
    });
  }
  tell_child();
  EXPECT_EQ(child_result(), 0);
  EXPECT_EQ(pages_.data()[0], std::byte{1});
}

TEST_F(Fork, WhatIsUnmappedIsTheChildsToUse) {
  ASSERT_EQ(::munmap(pages_.data() + 4 * kPage, 4 * kPage), 0);
  fork_child([&] {
    void* const hole = pages_.data() + 4 * kPage;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    return ::mmap(hole, 4 * kPage, PROT_READ, flags, -1, 0) == hole && pages_.data()[0] == std::byte{1} ? 0 : 1;
  });
  tell_child();
  EXPECT_EQ(child_result(), 0);
}

TEST_F(Fork, TheChildMayShareMemoryInAnArenaOfItsOwn) {
  fork_child([&] {
    const auto arena = Arena::create();
    const auto offset = arena == nullptr ? std::nullopt : arena->share(pages_.address(), pages_.size());
    if (!offset) return 1;
    pages_.data()[3] = std::byte{7};
    return read_arena(*arena, *offset + 3) == std::byte{7} ? 0 : 2;
  });
  tell_child();
  EXPECT_EQ(child_result(), 0);
  EXPECT_EQ(read_arena(*arena_, *offset_ + 3), std::byte{1});
}

TEST_F(Fork, GenerationsTellChildrenFromParents) {
  const unsigned mine = fork_generation();
  fork_child([mine] { return fork_generation() == mine ? 1 : 0; });
  tell_child();
  EXPECT_EQ(child_result(), 0);
  EXPECT_EQ(fork_generation(), mine);
}

}  // namespace
}  // namespace softdat::memory::testing
