// SPDX-License-Identifier: BSD-2-Clause
#include "transport/open_carrier.h"

#include "transport/auto_carrier.h"
#include "transport/loop/loop_carrier.h"
#include "transport/loop/process_network.h"

namespace softdat::transport {

std::unique_ptr<Carrier> open_carrier(const CarrierOptions& options) {
  if (options.kind == CarrierKind::kLoop) {
    return std::make_unique<loop::LoopCarrier>(loop::process_network(), Address{.ipv4 = options.ipv4});
  }
  const AutoCarrier::Halves halves{.shm = options.kind != CarrierKind::kTcp, .tcp = options.kind != CarrierKind::kShm};
  tcp::TcpOptions tcp_options;
  tcp_options.address = options.ipv4;
  tcp_options.crc = options.crc;
  tcp_options.mpa_revision = options.mpa == MpaStyle::kPlain ? 1 : 2;
  tcp_options.is_peer_to_peer = options.mpa == MpaStyle::kPeerToPeer;
  return std::make_unique<AutoCarrier>(options.ipv4, halves,
                                       shm::ShmOptions{.ipv4 = options.ipv4, .home = options.home}, tcp_options);
}

}  // namespace softdat::transport
