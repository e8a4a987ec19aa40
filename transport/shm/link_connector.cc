// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/link_connector.h"

#include <cerrno>
#include <new>

#include "transport/shm/carrier_parts.h"

namespace softdat::transport::shm {
namespace {

// A peer that says "we have a link" of which we know nothing (yet), or hangs up.
constexpr int kMostAttempts = 100;
// A peer that has been stopped answers late or never. Its answer is awaited for so long after the last connect that
// waited for it has been given up.
constexpr base::Duration kPatience = std::chrono::seconds(1);

}  // namespace

LinkConnector::Begin LinkConnector::begin() {
  if (is_reaper_full()) return Begin::kNoResources;
  SocketResult peer = carrier_.rendezvous.connect(key_.first, key_.second);
  if (peer.error == EAGAIN) {
    // Its accept queue is full: the peer is alive and busy. The waiting connects have deadlines of their own.
    is_retrying_ = true;
    carrier_.attention.note_work();
    return Begin::kUnderWay;
  }
  if (peer.error == ECONNREFUSED) return Begin::kNobody;
  if (!peer.fd) return Begin::kNoResources;
  self_ = carrier_.sender();
  if (!send_hello(peer.fd.get(), self_, carrier_.introductions.resource_files())) {
    // Other errors are shortages of this process, such as ETOOMANYREFS for too many descriptors in flight.
    return errno == EPIPE || errno == ECONNRESET ? Begin::kNobody : Begin::kNoResources;
  }
  socket_ = PeerSocket(std::move(peer.fd));
  watch_ = carrier_.reactor.watch(socket_.get(), *this);
  if (!watch_) return Begin::kNoResources;
  watch_->want(kReadable);
  return Begin::kUnderWay;
}

void LinkConnector::retry_if_due(base::Time now) try {
  if (!is_retrying_) return;
  // Every connect that waited has been given up, so nobody needs the link.
  if (waiting_.empty()) {
    if (attempts_ > 0) carrier_.abandoned.add(key_);
    return give_up(Refusal::kUnreachable);
  }
  if (!retry_at_) retry_at_ = base::deadline_after(now, kRetryPause);
  if (now < *retry_at_) return;
  is_retrying_ = false;
  retry_at_.reset();
  switch (begin()) {
    case Begin::kUnderWay:
      return;
    case Begin::kNobody:
      return give_up(Refusal::kNoListener);
    case Begin::kNoResources:
      return give_up(Refusal::kUnreachable);
  }
} catch (const std::bad_alloc&) {
  give_up(Refusal::kUnreachable);
}

void LinkConnector::give_up_if_unwanted(base::Time now) {
  if (!waiting_.empty()) return unwanted_at_.reset();
  if (!unwanted_at_) unwanted_at_ = base::deadline_after(now, kPatience);
  if (now >= *unwanted_at_) give_up(Refusal::kUnreachable);
}

void LinkConnector::on_ready(std::uint32_t) try {
  // A welcome may carry descriptors that only the reaper can close without blocking.
  if (is_reaper_full()) return retry_later();
  Welcome welcome;
  switch (receive_welcome(socket_.get(), welcome)) {
    case ReceiveResult::kNothing:
      return watch_->want(kReadable);
    case ReceiveResult::kPacket:
      watch_.reset();
      return take(std::move(welcome));
    case ReceiveResult::kEnd:
      // The port was closed with us in its queue, or its process died. Is there another?
      return retry_later();
  }
} catch (const std::bad_alloc&) {
  give_up(Refusal::kUnreachable);
}

void LinkConnector::take(Welcome welcome) {
  Link* link = nullptr;
  switch (welcome.answer) {
    case Answer::kNewLink:
      link = carrier_.introductions.join(std::move(socket_), self_, std::move(welcome));
      break;
    case Answer::kExistingLink:
      link = carrier_.links.find(welcome.sender);
      break;
    case Answer::kNoCommonVersion:
      return give_up(Refusal::kProtocol);
  }
  // An existing link that is not here yet is under way in another connector's socket.
  return link != nullptr ? resolve(*link) : retry_later();
}

void LinkConnector::retry_later() {
  watch_.reset();
  socket_.reset();
  if (++attempts_ >= kMostAttempts) return give_up(Refusal::kUnreachable);
  is_retrying_ = true;
}

// All connects that waited for this service go over the link, in their order.
void LinkConnector::resolve(Link& link) {
  is_done_ = true;
  carrier_.introductions.remember(key_, link);
  while (!waiting_.empty()) {
    ShmChannel& channel = waiting_.front();
    waiting_.pop_front();
    try {
      link.conversations().open(channel);
    } catch (const std::bad_alloc&) {
      carrier_.refusals.add(channel, Refusal::kUnreachable);
    }
  }
}

void LinkConnector::give_up(Refusal reason) {
  is_done_ = true;
  is_retrying_ = false;
  watch_.reset();
  while (!waiting_.empty()) carrier_.refusals.add(waiting_.front(), reason);
}

}  // namespace softdat::transport::shm
