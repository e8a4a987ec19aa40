// SPDX-License-Identifier: BSD-2-Clause
// ChunkCutter: cuts the message that an end sends into chunks, and remembers between two calls of send() how far it has
// come. Internal to transport/loop.
//
// A member of its End. Guarded by the network's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/channel.h"
#include "transport/loop/item.h"

namespace softdat::transport::loop {

class ChunkCutter {
 public:
  // How many bytes of the message have been cut off.
  std::uint64_t taken() const { return taken_; }
  // Cuts off the next `length` bytes. The caller passes the same message until all of it is taken, and then calls
  // finish(). None: the payload cannot be read. Throws std::bad_alloc.
  std::optional<Item> cut(const Message& message, PayloadSource* payload, std::size_t length);
  // The next call of cut() begins a message. Returns taken().
  std::uint64_t finish();

 private:
  std::uint64_t taken_ = 0;
};

}  // namespace softdat::transport::loop
