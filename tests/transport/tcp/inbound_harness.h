// SPDX-License-Identifier: BSD-2-Clause
// Feeds bytes to an Inbound and checks that it keeps its promises whatever they are. Used by the random tests, through
// a socket, and by the fuzzer, from memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/tcp/inbound.h"

namespace softdat::transport::tcp {

struct HarnessResult {
  ReadStatus status = ReadStatus::kDrained;
  TerminateCode fault{};
  std::uint64_t messages = 0;
  std::uint64_t payload = 0;  // bytes placed
};

// A stream socket, seen from both ends.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // What Inbound reads; it does not block.
  virtual int reader() const = 0;
  // Takes a beginning of the bytes, at least one; how many. They must stay as they are until the next call.
  virtual std::size_t send(std::span<const std::byte> bytes) = 0;
  // The peer ends its stream.
  virtual void end() = 0;
};

// What many streams can share: buffers, and memory for their payload.
class InboundHarness {
 public:
  // `cut` bytes at a time; aborts when a promise is broken.
  HarnessResult feed(ByteStream& stream, std::span<const std::byte> bytes, const InboundRules& rules, std::size_t cut);
  // The same, under rules and cuts that the first byte chooses: the fuzzer's entry.
  HarnessResult feed_any(ByteStream& stream, std::span<const std::byte> bytes);

 private:
  BufferPool pool_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(70000);
};

// Through a socket pair.
HarnessResult feed(std::span<const std::byte> bytes, const InboundRules& rules, std::size_t cut);
HarnessResult feed_any(std::span<const std::byte> bytes);

}  // namespace softdat::transport::tcp
