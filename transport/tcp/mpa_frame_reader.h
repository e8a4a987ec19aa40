// SPDX-License-Identifier: BSD-2-Clause
// MpaFrameReader: reads one MPA frame off a socket, and no byte beyond it. Baton only.
#pragma once

#include <optional>
#include <vector>

#include "transport/offer.h"
#include "transport/tcp/mpa_frame.h"

namespace softdat::transport::tcp {

class MpaFrameReader {
 public:
  // At most one of frame and fault is set; neither: more has to come.
  struct Reading {
    bool has_moved = false;  // the socket had something to tell
    std::optional<MpaFrame> frame{};
    std::optional<Refusal> fault{};  // what is wrong, as an initiator would tell it
  };

  // Throws std::bad_alloc.
  Reading read(int fd, MpaFrameKind kind);
  // Drops what has come.
  void restart() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace softdat::transport::tcp
