// SPDX-License-Identifier: BSD-2-Clause
// Refusals: channels whose sinks are to hear at the next turn that they are refused, because no sink may be called
// within connect(). REQUIRES the baton. A channel that is closed meanwhile leaves by itself, and hears nothing.
#pragma once

#include <cstddef>

#include "transport/shm/attention.h"
#include "transport/shm/shm_channel.h"

namespace softdat::transport::shm {

class Refusals {
 public:
  // `attention` outlives it.
  explicit Refusals(Attention& attention) : attention_(attention) {}

  void add(ShmChannel& channel, Refusal reason) {
    channel.opening().set_refusal(reason);
    channel.unlink();
    channels_.push_back(channel);
    attention_.note_work();
  }
  bool are_none() const { return channels_.empty(); }
  // Tells them. How many.
  std::size_t tell() {
    std::size_t count = 0;
    ChannelQueue now;  // what is added meanwhile waits for the next turn
    now.splice(now.end(), channels_);
    for (; !now.empty(); ++count) {
      ShmChannel& channel = now.front();
      now.pop_front();
      channel.on_refusal({.reason = channel.opening().refusal()});
    }
    return count;
  }

 private:
  Attention& attention_;
  ChannelQueue channels_;
};

}  // namespace softdat::transport::shm
