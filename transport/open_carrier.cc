// SPDX-License-Identifier: BSD-2-Clause
#include "transport/open_carrier.h"

#include "transport/auto_carrier.h"
#include "transport/loop/loop_carrier.h"
#include "transport/loop/process_network.h"

namespace softdat::transport {

// The kinds "auto", "shm" and "tcp" are one class with one half or both.
std::unique_ptr<Carrier> open_carrier(const CarrierOptions& options) {
  const AutoCarrier::Halves halves{.shm = options.kind != CarrierKind::kTcp, .tcp = options.kind != CarrierKind::kShm};
  tcp::TcpOptions tcp_options;
  tcp_options.address = options.address;
  tcp_options.crc = options.crc;
  tcp_options.mpa_revision = options.mpa == MpaStyle::kPlain ? 1 : 2;
  tcp_options.is_peer_to_peer = options.mpa == MpaStyle::kPeerToPeer;
  tcp_options.peer_timeout = options.tcp_timeout;
  if (options.kind == CarrierKind::kLoop) {
    return std::make_unique<loop::LoopCarrier>(loop::process_network(), options.address);
  }
  const shm::ShmOptions shm_options{.address = options.address, .resources = options.resources};
  return std::make_unique<AutoCarrier>(options.address, halves, shm_options, tcp_options);
}

}  // namespace softdat::transport
