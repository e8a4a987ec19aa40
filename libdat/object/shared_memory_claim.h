// SPDX-License-Identifier: BSD-2-Clause
// The cookies under which the processes of one user have registered shared memory: each names one
// memory for as long as anybody has it registered.
#pragma once

#include <array>
#include <memory>

#include "base/unique_fd.h"
#include "libdat/object/memory_probe.h"

namespace softdat::object {

// Compared whole, whatever bytes it holds.
using SharedCookie = std::array<char, 40>;

// One registration's share in a cookie. A file that bears the cookie's name holds what it names;
// who has registered it holds a lock on the file, so that the death of a process gives up its claims.
class SharedMemoryClaim {
 public:
  // Null when somebody has other memory registered under that cookie. Where files cannot be had
  // nothing can be compared, and the claim is granted.
  static std::unique_ptr<SharedMemoryClaim> make(const SharedCookie& cookie, const SharedIdentity& identity);
  ~SharedMemoryClaim();
  // Of processes that were killed. The first claim of each process does it.
  static void remove_abandoned();
  SharedMemoryClaim(const SharedMemoryClaim&) = delete;
  SharedMemoryClaim& operator=(const SharedMemoryClaim&) = delete;

  const SharedCookie& cookie() const { return cookie_; }

 private:
  SharedMemoryClaim(const SharedCookie& cookie, base::UniqueFd file) : cookie_(cookie), file_(std::move(file)) {}

  // Fixed after construction.
  const SharedCookie cookie_;
  const base::UniqueFd file_;
};

}  // namespace softdat::object
