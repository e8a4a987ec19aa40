// SPDX-License-Identifier: BSD-2-Clause
// KeptOutput: the end of what a program prints. The beginning is dropped, so that a program that prints without end
// fills neither a disk nor memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace softdat::tools::run {

class KeptOutput {
 public:
  // Keeps the last `most` bytes. Failure when the system refuses a pipe.
  explicit KeptOutput(std::size_t most);
  ~KeptOutput();
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;

  // For the program's standard output and error, until close().
  int descriptor() const { return write_end_; }
  // When the program has been started: it has copies of its own.
  void close();

  // After the program has ended. Takes what the pipe holds, and does not wait for other processes that have it open.
  // The text begins with a line that says how much is left out, if something is.
  std::string finish();

 private:
  void run();
  void keep(const char* data, std::size_t length);

  const std::size_t most_;
  base::UniqueFd read_end_;
  int write_end_ = -1;         // no UniqueFd: the program's side of a fork needs it
  base::UniqueFd ended_;       // an eventfd: the program has ended
  std::string text_;           // of the thread, until it is joined
  std::uint64_t dropped_ = 0;  // bytes
  std::thread thread_;
};

}  // namespace softdat::tools::run
