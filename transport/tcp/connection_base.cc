// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/connection_base.h"

#include "base/assert.h"

namespace softdat::transport::tcp {

void ConnectionBase::advance(Event event) {
  // connection_state.h has the table. Any other step is a bug of ours, whatever the peer has sent.
  const Step next = step_of(state_, event);
  base::check(next.has_value(), "a step of the connection's table", static_cast<std::uint64_t>(state_),
              static_cast<std::uint64_t>(event));
  state_ = *next;
}

void ConnectionBase::end() {
  if (state_ == State::kClosed) return;
  advance(Event::kEnd);
  // Order: no sink hears of a connection that ends, the socket is closed, the parts drop their bytes, and last the hub
  // lets go of its reference.
  owner_.detach();
  stop_timer();
  socket_.close();
  on_end();
  hub_.connections().remove_half_open(*this);
  hub_.forget(*this);
}

}  // namespace softdat::transport::tcp
