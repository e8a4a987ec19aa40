// SPDX-License-Identifier: BSD-2-Clause
// A stream socket whose kernel is the test: recv(), readv() and ioctl(FIONREAD) on its number read bytes in memory,
// which takes no system call. The linker sends these calls here (WRAP in CMakeLists.txt); every other number goes on to
// the kernel. One such stream per process at a time.
#pragma once

#include "tests/transport/tcp/inbound_harness.h"

namespace softdat::fuzz {

class MemoryStream final : public transport::tcp::ByteStream {
 public:
  MemoryStream();
  ~MemoryStream() override;
  MemoryStream(const MemoryStream&) = delete;
  MemoryStream& operator=(const MemoryStream&) = delete;

  int reader() const override;
  std::size_t send(std::span<const std::byte> bytes) override;
  void end() override;
};

}  // namespace softdat::fuzz
