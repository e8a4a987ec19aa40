// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/spare_descriptor.h"

#include <sys/socket.h>

namespace softdat::transport::tcp {
namespace {

// A file with an inode of its own, by which UniqueFd knows it again.
base::UniqueFd open_spare() {
  return base::UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

}  // namespace

SpareDescriptor::SpareDescriptor() : spare_(open_spare()) {}

SpareDescriptor::TurnedAway SpareDescriptor::turn_away(int listener) {
  if (!spare_) spare_ = open_spare();
  if (!spare_) return TurnedAway::kNoSpare;
  // The freed number lets accept() take the connection only to close it: the peer is refused at once instead of
  // waiting.
  spare_.reset();
  const bool was_there = static_cast<bool>(base::UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)));
  spare_ = open_spare();
  return was_there ? TurnedAway::kOne : TurnedAway::kNobodyThere;
}

}  // namespace softdat::transport::tcp
