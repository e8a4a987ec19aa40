// SPDX-License-Identifier: BSD-2-Clause
// What the kernel knows about whether the peer of a TCP socket is still there (docs/decisions/0017).
#pragma once

#include <cstdint>

namespace softdat::transport::tcp {

struct PeerSigns {
  // Something that was sent has no answer yet: data, a SYN, or a probe of a closed window or an idle connection.
  bool is_awaited = false;
  // Segments that have come from the peer; wraps.
  std::uint32_t heard = 0;
};

// Nothing is awaited where the kernel does not tell.
PeerSigns peer_signs(int fd);

}  // namespace softdat::transport::tcp
