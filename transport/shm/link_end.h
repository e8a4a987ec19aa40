// SPDX-License-Identifier: BSD-2-Clause
// LinkEnd: whether a link has to end, and why. The carrier ends it in its next turn. REQUIRES the baton.
#pragma once

#include "transport/shm/attention.h"

namespace softdat::transport::shm {

class LinkEnd {
 public:
  // `attention` outlives it.
  explicit LinkEnd(Attention& attention) : attention_(attention) {}

  bool is_due() const { return is_broken_ || is_peer_gone_; }
  bool is_broken() const { return is_broken_; }
  bool is_peer_gone() const { return is_peer_gone_; }

  // The peer has broken the protocol, or there is no memory or descriptor to go on with.
  void break_down() {
    is_broken_ = true;
    attention_.note_work();
  }
  // The peer has hung up, has died, or cannot be heard any more.
  void lose_peer() {
    is_peer_gone_ = true;
    attention_.note_work();
  }
  // The link has ended: nothing is sent any more.
  void finish() { is_peer_gone_ = true; }

 private:
  Attention& attention_;
  bool is_broken_ = false;
  bool is_peer_gone_ = false;
};

}  // namespace softdat::transport::shm
