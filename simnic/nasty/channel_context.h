// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "simnic/nasty/decisions.h"
#include "simnic/nasty/nasty_carrier.h"
#include "transport/channel.h"

namespace softdat::simnic::nasty {

// ChannelContext: shared by the parts of a NastyChannel. The channel owns and writes it; its parts look at is_over
// again after each call of the sink. Owned by the baton.
struct ChannelContext {
  NastyCarrier& carrier;
  transport::ChannelSink& sink;  // the queue pair's
  Where where{};                 // set when it is established
  bool is_over = false;          // the sink is not called again
};

}  // namespace softdat::simnic::nasty
