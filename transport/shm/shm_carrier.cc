// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/shm_carrier.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/local_addresses.h"
#include "base/log.h"
#include "base/place.h"
#include "base/socket_holder.h"
#include "base/uncancelled.h"
#include "transport/shm/reaper.h"
#include "transport/shm/shm_port.h"

namespace softdat::transport::shm {
namespace {

// How often a turn looks at the kernel while the rings are all there is to look at.
constexpr std::uint32_t kTurnsPerLook = 256;
constexpr base::Duration kPauseBetweenLooks = std::chrono::microseconds(50);

}  // namespace

ShmCarrier::ShmCarrier(Reactor& reactor, const ShmOptions& options) : parts_(reactor, options) {
  prepare_reaper();
  parts_.rendezvous.sweep();
}

std::string ShmCarrier::problem(const ShmOptions& options) {
  const std::string no_directory = Rendezvous().problem();
  return no_directory.empty() ? Segment::problem(options.ring_bytes) : no_directory;
}

// Before the links are destroyed, which closes their sockets.
ShmCarrier::~ShmCarrier() {
  parts_.links.say_farewells();
}

ListenResult ShmCarrier::listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) {
  if (has_failed_) return {nullptr, ListenError::kNoResources};
  const Address& own = parts_.options.address;
  Listening listening = parts_.rendezvous.listen(own, service_id);
  if (listening.error == EADDRINUSE) {
    const std::string path = parts_.rendezvous.path(own, service_id);
    base::blame_holder_of_unix_socket(base::file_name(path.c_str()));
    return {nullptr, ListenError::kAddressInUse};
  }
  if (!listening.socket) {
    base::log(base::LogLevel::kWarning,
              "service %llu: cannot make its socket file (%s), so peers do not find it by shared memory",
              static_cast<unsigned long long>(service_id), std::strerror(listening.error));
    return {nullptr, ListenError::kNoResources};
  }
  auto port = std::make_unique<ShmPort>(parts_, service_id, backlog, sink, std::move(listening));
  if (!port->is_open()) return {nullptr, ListenError::kNoResources};
  parts_.ports.add(service_id, *port);
  return {std::move(port)};
}

// Without TCP beside it: a service that nobody serves in shared memory is refused here.
std::unique_ptr<Channel> ShmCarrier::connect(const Address& remote, const Offer& request, ChannelSink& sink) {
  auto channel = std::make_unique<ShmChannel>(parts_, sink);
  const LinkConnector::Begin answer = begin(*channel, remote, request);
  if (answer != LinkConnector::Begin::kUnderWay) {
    const bool is_known_host = answer == LinkConnector::Begin::kNobody && is_local_address(remote);
    parts_.refusals.add(*channel, is_known_host ? Refusal::kNoListener : Refusal::kUnreachable);
  }
  if (parts_.tapper != nullptr) channel->tap(parts_.tapper);
  return channel;
}

base::Result<std::unique_ptr<Channel>, LinkConnector::Begin> ShmCarrier::try_connect(const Address& remote,
                                                                                     const Offer& request,
                                                                                     ChannelSink& sink) {
  auto channel = std::make_unique<ShmChannel>(parts_, sink);
  const LinkConnector::Begin answer = begin(*channel, remote, request);
  if (answer != LinkConnector::Begin::kUnderWay) return base::Failure{answer};
  if (parts_.tapper != nullptr) channel->tap(parts_.tapper);
  return {std::move(channel)};
}

LinkConnector::Begin ShmCarrier::begin(ShmChannel& channel, const Address& remote, const Offer& request) {
  channel.opening().ask({.remote = remote, .offer = request});
  return parts_.introductions.start(channel);
}

void ShmCarrier::tap(Tapper* tapper) {
  for (ShmChannel& channel : parts_.channels) channel.tap(nullptr);
  parts_.tapper = tapper;
  if (tapper == nullptr) return;
  for (ShmChannel& channel : parts_.channels) channel.tap(tapper);
}

// Marks that a wait() left are dispatched at once. Without a wait() there are none until the next look.
std::size_t ShmCarrier::turn(base::Time now) {
  const bool look = wants_look(now);
  const bool has_waited = parts_.attention.take_wait();
  std::size_t told = 0;
  if (look || has_waited) {
    told = parts_.reactor.dispatch(look);
    parts_.attention.stir();
  }
  return told + move(now);
}

// Often while a peer is being met, else now and then: everything that matters to an established
// link is in memory, but for its peer's death.
bool ShmCarrier::wants_look(base::Time now) {
  const bool is_time = ++turns_since_look_ >= kTurnsPerLook || now - last_look_ >= kPauseBetweenLooks;
  if (!is_time && !parts_.introductions.are_under_way()) return false;
  turns_since_look_ = 0;
  last_look_ = now;
  return true;
}

// A calm carrier has nothing to do but to look at its hot links, so its turns take the short way.
std::size_t ShmCarrier::move(base::Time now) {
  return parts_.attention.is_calm() ? parts_.links.poll_hot() : move_slow(now);
}

// All that a turn may have to do beside the hot links. Whether the next one can be short is decided at its end.
std::size_t ShmCarrier::move_slow(base::Time now) {
  const base::Uncancelled guard;
  const bool fails_now = parts_.reactor.has_failed() && !std::exchange(has_failed_, true);
  if (fails_now) {
    parts_.links.lose_all();
    parts_.introductions.give_up();
  }
  if (now >= check_links_at_) {
    check_links_at_ = base::deadline_after(now, kPauseBetweenChecks);
    parts_.links.check();
  }
  std::size_t count = parts_.links.poll();
  count += parts_.refusals.tell() + (fails_now ? 1 : 0);
  if (parts_.introductions.are_under_way()) parts_.introductions.turn(now);
  if (parts_.ports.are_resting()) parts_.ports.turn(now);
  if (!parts_.abandoned.are_none()) parts_.abandoned.turn(now);
  parts_.departed.turn();
  parts_.attention.set_calm(can_be_calm());
  parts_.links.publish_words();
  return count;
}

bool ShmCarrier::has_work() const {
  return !parts_.links.is_empty() || !is_meeting_nobody();
}

bool ShmCarrier::is_meeting_nobody() const {
  return parts_.refusals.are_none() && !parts_.introductions.are_under_way() && !parts_.ports.are_resting() &&
         parts_.abandoned.are_none();
}

// Links that are not hot have to be looked at in turns.
bool ShmCarrier::can_be_calm() const {
  return is_meeting_nobody() && parts_.links.are_all_hot();
}

// Announced before the rings are looked at (Reactor::prepare_wait): another thread's turn may meet a peer meanwhile.
void ShmCarrier::wait(base::Time deadline) {
  parts_.reactor.prepare_wait();
  const base::Time latest = prepare_wait();
  parts_.reactor.wait(std::min(deadline, latest));
  finish_wait();
}

base::Time ShmCarrier::prepare_wait() {
  base::Duration longest = parts_.links.prepare_wait();
  if (longest == base::Duration::zero()) return base::Time::min();
  for (const Duty* duty : {&parts_.introductions.duty(), &parts_.abandoned.duty(), &parts_.ports.duty()}) {
    duty->shorten(longest);
  }
  return base::deadline_after(base::Clock::now(), longest);
}

void ShmCarrier::finish_wait() {
  parts_.links.finish_wait();
  parts_.attention.note_wait();
}

}  // namespace softdat::transport::shm
