// SPDX-License-Identifier: BSD-2-Clause
// UniqueFd: the owner of one file descriptor. Every descriptor that this library keeps is one.
//
// * Its number is 3 or higher. A program that runs with 0, 1 or 2 closed goes on writing to these numbers.
// * A child made by fork() does not keep it: the child closes it before fork() returns, so that peers hear of the death
//   of its parent. (O_CLOEXEC covers children that run another program. Numbers from 65536 on stay open in a child.)
// * It closes its number only while that still names the file that was put there. A program that calls closefrom(3)
//   and then opens files of its own keeps them. Files without an inode of their own (eventfd, epoll) look alike.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace softdat::base {

// One thread at a time.
class UniqueFd {
 public:
  UniqueFd() = default;
  // Takes over `fd`; a negative one means none. Empty, with errno set, when 0, 1 or 2 cannot be exchanged for a higher
  // number.
  explicit UniqueFd(int fd) { adopt(fd); }
  UniqueFd(UniqueFd&& other) noexcept : held_(std::exchange(other.held_, {})) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this == &other) return *this;
    reset();
    held_ = std::exchange(other.held_, {});
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return held_.fd; }
  explicit operator bool() const { return held_.fd >= 0; }
  // The caller owns the descriptor from now on; a child made by fork() keeps it.
  [[nodiscard]] int release();
  void reset() {
    if (held_.fd >= 0) close_held();
  }
  void reset(int fd) {
    reset();
    adopt(fd);
  }
  // Whether the number still names the file that was put there.
  bool is_intact() const;

 private:
  struct Held {
    int fd = -1;
    dev_t device = 0;
    ino_t inode = 0;
  };
  void adopt(int fd);
  void close_held();

  Held held_;
};

// A file of its own inode, which tells whether the program has closed numbers of ours and reused them. `name` is seen
// in /proc. A socket where memfd_create() is denied; empty, with errno set, where neither can be had.
UniqueFd open_witness(const char* name);

// Descriptors of another library, which a child made by fork() closes too. Their files may have no inode of their own,
// so a witness says whether the numbers still name them: they do as long as the witness is intact. Numbers from 65536
// on stay open. One thread at a time.
class ClosedInChild {
 public:
  ClosedInChild() = default;
  // The witness outlives this object.
  ClosedInChild(const UniqueFd& witness, std::span<const int> numbers);
  ~ClosedInChild() { forget(); }
  ClosedInChild(const ClosedInChild&) = delete;
  ClosedInChild& operator=(const ClosedInChild&) = delete;

  // Must run before the other library closes them.
  void forget();

 private:
  static constexpr std::size_t kMost = 4;
  std::array<int, kMost> numbers_{};
  std::size_t count_ = 0;
};

}  // namespace softdat::base
