// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/shm_port.h"

#include <new>
#include <utility>

#include "transport/shm/carrier_parts.h"

namespace softdat::transport::shm {

ShmPort::ShmPort(CarrierParts& carrier, std::uint64_t service_id, std::uint32_t backlog, PortSink& sink,
                 Listening listening)
    : carrier_(carrier),
      service_id_(service_id),
      backlog_(backlog),
      sink_(sink),
      file_(std::move(listening.file)),
      listener_(std::move(listening.socket)),
      watch_(carrier.reactor.watch(listener_.get(), *this)) {
  if (watch_) watch_->want(kReadable);
}

ShmPort::~ShmPort() {
  carrier_.ports.remove(service_id_);
  watch_.reset();
  // The name goes before the socket, or it could be another listener's by then (SocketFile).
  file_ = {};
  close_listener(std::move(listener_));
}

// Peers beyond the first 64 get their answers in a later turn. Where descriptors are missing, or the reaper is full,
// they wait: the listener stays readable all that time, so it is not looked at for a while. A peer that could connect
// has passed the kernel's permission check, so it is let in.
void ShmPort::on_ready(std::uint32_t) {
  constexpr int kMostAtOnce = 64;
  if (is_reaper_full()) return carrier_.ports.rest(service_id_);
  for (int i = 0; i < kMostAtOnce; ++i) {
    SocketResult peer = accept_from(listener_.get());
    if (is_short_of_descriptors(peer)) return carrier_.ports.rest(service_id_);
    if (!peer.fd) break;
    carrier_.introductions.greet(PeerSocket(std::move(peer.fd)));
  }
  look_again();
}

PendingAccept::PendingAccept(CarrierParts& carrier, PeerSocket socket)
    : carrier_(carrier), socket_(std::move(socket)), watch_(carrier.reactor.watch(socket_.get(), *this)) {
  // The hello may have come already, together with the connection.
  on_ready(kReadable);
}

// Without memory for the link, or while the reaper is full, the peer is hung up on, and comes again.
void PendingAccept::on_ready(std::uint32_t) try {
  if (is_reaper_full()) {
    is_done_ = true;
    return;
  }
  Hello hello;
  switch (receive_hello(socket_.get(), hello)) {
    case ReceiveResult::kNothing:
      if (watch_) return watch_->want(kReadable);
      break;
    case ReceiveResult::kPacket:
      watch_.reset();
      carrier_.introductions.welcome(std::move(socket_), std::move(hello));
      break;
    case ReceiveResult::kEnd:
      break;
  }
  is_done_ = true;
} catch (const std::bad_alloc&) {
  is_done_ = true;
}

}  // namespace softdat::transport::shm
