// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/churn.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/event_names.h"
#include "tools/softdat/perf/lanes.h"

namespace softdat::tools::perf {
namespace {

constexpr DAT_COUNT kCompletions = 64;  // none ever comes

}  // namespace

Churn::Churn(const Adapter& adapter, EventQueue& queue, DAT_COUNT depth, Waiting waiting, LivenessCheck check)
    : adapter_(adapter),
      queue_(queue),
      depth_(depth),
      waiting_(waiting),
      check_(std::move(check)),
      requests_(adapter, kCompletions, DAT_EVD_DTO_FLAG),
      receives_(adapter, kCompletions, DAT_EVD_DTO_FLAG) {}

DAT_EP_HANDLE Churn::create() {
  return create_endpoint(adapter_, depth_, receives_, requests_, queue_);
}

void Churn::begin(DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual) {
  require(dat_ep_connect(create(), address, qual, kConnectPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG),
          "dat_ep_connect");
}

// Keeps `window` connections on their way: each that has ended makes room for the next.
void Churn::connect(DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, std::uint64_t count, std::uint32_t window) {
  std::uint64_t begun = 0;
  for (; begun < std::min<std::uint64_t>(window, count); ++begun) begin(address, qual);
  for (std::uint64_t ended = 0; ended < count;) {
    DAT_EVENT event;
    queue_.take(waiting_, check_, event);
    const DAT_EP_HANDLE ep = event.event_data.connect_event_data.ep_handle;
    if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) {
      require(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
    } else if (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED) {
      require(dat_ep_free(ep), "dat_ep_free");
      ++ended;
      if (begun < count) begin(address, qual), ++begun;
    } else {
      throw Failure(fmt::format("a connection failed: {}", event_text(event.event_number)));
    }
  }
}

// Both kinds of events come to one queue, in any order: up to the client's window are under way.
void Churn::accept(std::uint64_t count) {
  for (std::uint64_t ended = 0; ended < count;) {
    DAT_EVENT event;
    queue_.take(waiting_, check_, event);
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
      require(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, create(), 0, nullptr), "dat_cr_accept");
    } else if (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED) {
      require(dat_ep_free(event.event_data.connect_event_data.ep_handle), "dat_ep_free");
      ++ended;
    } else if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
      throw Failure(fmt::format("a connection failed: {}", event_text(event.event_number)));
    }
  }
}

}  // namespace softdat::tools::perf
