// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/control.h"

#include <fmt/format.h>
#include <time.h>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/event_names.h"
#include "tools/softdat/perf/foreign_memory.h"
#include "tools/softdat/perf/lanes.h"

namespace softdat::tools::perf {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kIncoming = 0;
constexpr std::size_t kOutgoing = kLongestText;
constexpr DAT_COUNT kQueue = 4;

}  // namespace

// A connection of its own, so that control texts wait behind no message.
Control::Control(const Adapter& adapter)
    : memory_(adapter, 2 * kLongestText),
      requests_(adapter, kQueue, DAT_EVD_DTO_FLAG),
      receives_(adapter, kQueue, DAT_EVD_DTO_FLAG),
      connections_(adapter, kQueue, DAT_EVD_CONNECTION_FLAG) {
  ep_ = create_endpoint(adapter, kQueue, receives_, requests_, connections_);
  post_receive();
}

// The first byte is cleared, so sleep_until_text() sees a text arrive without calling the library.
void Control::post_receive() {
  memory_.data()[kIncoming] = 0;
  DAT_LMR_TRIPLET segment = memory_.local(kIncoming, kLongestText);
  require(dat_ep_post_recv(ep_, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
}

void Control::connect(DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual) {
  require(
      dat_ep_connect(ep_, address, qual, kConnectPatience, 0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
      "dat_ep_connect");
  await_established();
}

void Control::accept(DAT_CR_HANDLE request) {
  require(dat_cr_accept(request, ep_, 0, nullptr), "dat_cr_accept");
  await_established();
}

void Control::await_established() {
  const DAT_EVENT event = connections_.await("the connection");
  if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) return;
  if (event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED) {
    throw Failure(
        "nobody listens there: is `softdat perf --server` running, with the same --port and --transport? A server for "
        "other hosts needs SOFTDAT_ADDRESS, because the simulated adapter listens on loopback otherwise");
  }
  throw Failure(fmt::format("the connection failed: {}", event_text(event.event_number)));
}

// One text at a time: each is answered before the next, so one receive is enough.
void Control::send(const std::string& text) {
  if (text.size() > kLongestText) throw Failure("a control text is too long");
  set_foreign_text(memory_.data() + kOutgoing, text);
  DAT_LMR_TRIPLET segment = memory_.local(kOutgoing, text.size());
  require(dat_ep_post_send(ep_, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_send");
  DAT_EVENT event;
  requests_.take(Waiting::kBlock, checker(), event);
  completion_of(event);
}

std::string Control::receive(Target target) {
  if (target == Target::kSleep) sleep_until_text();
  DAT_EVENT event;
  receives_.take(target == Target::kPoll ? Waiting::kPoll : Waiting::kBlock, checker(), event);
  const std::size_t length = completion_of(event).transfered_length;
  std::string text = foreign_text(memory_.data() + kIncoming, length);
  post_receive();
  return text;
}

// The text lands in our memory whether we look or not.
void Control::sleep_until_text() {
  constexpr timespec kNap{0, 2'000'000};
  constexpr int kNapsBetweenChecks = 500;
  for (int naps = 1; foreign_byte(memory_.data() + kIncoming) == 0; ++naps) {
    ::nanosleep(&kNap, nullptr);
    if (naps % kNapsBetweenChecks == 0) check();
  }
}

// The end of the connection comes to a queue that nobody reads during a measurement, so this asks now and then.
void Control::check() const {
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  require(dat_ep_get_status(ep_, &state, nullptr, nullptr), "dat_ep_get_status");
  if (state != DAT_EP_STATE_CONNECTED) throw Failure("the other side is gone");
}

void Control::disconnect() {
  require(dat_ep_disconnect(ep_, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
  await_disconnect();
}

void Control::await_disconnect() {
  (void)connections_.await("the disconnect");
}

}  // namespace softdat::tools::perf
