// SPDX-License-Identifier: BSD-2-Clause
// Sealed memfds that processes share, and mappings of them. An access to a mapping cannot fault, because files that
// could shrink are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace softdat::memory {

// Creates a sparse file of `bytes` bytes that can neither shrink nor grow. Empty if the system or RLIMIT_FSIZE refuses.
base::UniqueFd create_shared_file(const char* name, std::uint64_t bytes);

// Whether RLIMIT_FSIZE allows a write up to `bytes`. A write beyond the limit would raise SIGXFSZ.
bool is_file_size_allowed(std::uint64_t bytes);

// Forbids new writable mappings of the file. Existing ones stay.
void forbid_new_writers(int file);

// Why create_shared_file() has just failed, for a log line.
std::string shared_file_problem(std::uint64_t bytes);

// Whether it is a memfd of ordinary pages whose size cannot change. Asks for seals only, which no file system of a
// peer's can answer, so it never blocks.
bool is_sealed_memory(int file);

// Whether it is a sealed memfd of exactly that size, as create_shared_file() makes it.
bool is_shared_file(int file, std::uint64_t bytes);

// Owns one mapping of a shared file. Core dumps do not contain it. mlockall() allocates all its pages; SparseView is
// for large files. One thread at a time.
class SharedView {
 public:
  enum class Rights { kNone, kRead, kReadWrite };

  SharedView() = default;
  // Empty if mmap() fails.
  SharedView(int file, std::uint64_t offset, std::size_t length, Rights rights);
  SharedView(SharedView&& other) noexcept;
  SharedView& operator=(SharedView&& other) noexcept;
  ~SharedView();

  // A child made by fork() does not get the mapping.
  void keep_from_children() const;

  std::byte* data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  std::byte* data_ = nullptr;
  std::size_t length_ = 0;
};

// As mmap() takes it.
int protection_of(SharedView::Rights rights);

}  // namespace softdat::memory
