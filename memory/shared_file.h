// SPDX-License-Identifier: BSD-2-Clause
// Anonymous files that processes share, and views of them. A view never fails at an access: a file
// that could shrink is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace softdat::memory {

// A new file of so many bytes that takes memory only where it is written, and can neither shrink nor
// grow. Empty when the system, or the process's limit on file sizes, refuses.
base::UniqueFd create_shared_file(const char* name, std::uint64_t bytes);

// Whether a write up to there would be within the process's limit on file sizes; beyond, it would raise SIGXFSZ.
bool is_file_size_allowed(std::uint64_t bytes);

// From now on nobody else can map it for writing; views that exist stay as they are.
void forbid_new_writers(int file);

// Why create_shared_file() failed just now, in words for the user.
std::string shared_file_problem(std::uint64_t bytes);

// Whether it is a memfd (of ordinary pages) whose size cannot change. Never asks a foreign file system, so a peer
// cannot make it block.
bool is_sealed_memory(int file);

// Whether it is a file as create_shared_file() makes them, of exactly that size.
bool is_shared_file(int file, std::uint64_t bytes);

// Owns one mapping of a shared file. Core dumps leave it out.
class SharedView {
 public:
  enum class Rights { kRead, kReadWrite };

  SharedView() = default;
  // Empty when the system refuses.
  SharedView(int file, std::uint64_t offset, std::size_t length, Rights rights);
  SharedView(SharedView&& other) noexcept;
  SharedView& operator=(SharedView&& other) noexcept;
  ~SharedView();

  // Children of this process do not get it.
  void keep_from_children();

  std::byte* data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  std::byte* data_ = nullptr;
  std::size_t length_ = 0;
};

}  // namespace softdat::memory
