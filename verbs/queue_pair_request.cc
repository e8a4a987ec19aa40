// SPDX-License-Identifier: BSD-2-Clause
// How a connection is asked for: the address is resolved, then the route, then the request goes out. Each step but the
// first is taken on the event thread.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.h"
#include "verbs/address.h"
#include "verbs/private_data.h"
#include "verbs/queue_pair.h"
#include "verbs/service_port.h"
#include "verbs/status.h"

namespace softdat::verbs {

using hca::ConnectionEventType;
using hca::QueuePairState;

namespace {

constexpr std::uint8_t kRetries = 7;
// A neighbour that does not answer by then is not there.
constexpr base::Duration kLongestResolution = std::chrono::seconds(4);
// Of a host with half of its ports taken one in 65536 requests finds none then.
constexpr int kPortsTried = 16;

bool is_unreachable(int number) {
  return number == ENETUNREACH || number == EHOSTUNREACH || number == ENODEV || number == EADDRNOTAVAIL ||
         number == EINVAL;
}

}  // namespace

hca::Outcome QueuePair::connect(const hca::ConnectParameters& parameters) {
  if (!is_single_host(parameters.remote)) return hca::fail(hca::Error::kBadAddress);
  if (parameters.private_data.size() > device_.traits.max_private_data) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  const std::lock_guard lock(mutex_);
  if (is_retired() || !next_state(state(), QueuePairEvent::kConnect)) return hca::fail(hca::Error::kInvalidState);
  return ask_locked(parameters);
}

// A host that cannot be reached is told of as one that does not answer: by an event.
hca::Outcome QueuePair::ask_locked(const hca::ConnectParameters& parameters) try {
  const base::Time deadline = base::deadline_after(base::Clock::now(), parameters.timeout);
  private_data_.assign(parameters.private_data.begin(), parameters.private_data.end());
  const auto id = make_id();
  if (!id) return hca::fail(id.reason());
  id_ = id.value();
  if (deadline != base::kNever) device_.events.wake_at(*this, deadline);
  remote_ = parameters.remote;
  service_asked_ = parameters.service_id;
  deadline_ = deadline;
  ports_left_ = kPortsTried - 1;
  advance_locked(QueuePairEvent::kConnect);
  resolve_address_locked();
  return hca::Done{};
} catch (const std::bad_alloc&) {
  device_.events.bury(std::exchange(id_, nullptr));
  return hca::fail(hca::Error::kNoMemory);
}

// Its events are ours from now on.
hca::Result<rdma_cm_id*> QueuePair::make_id() {
  rdma_cm_id* id = nullptr;
  if (library().create_id(device_.adapter.connections, &id, nullptr, RDMA_PS_TCP) != 0) {
    return hca::fail(error_of(errno));
  }
  try {
    device_.events.add(key_of(id), *this);
  } catch (const std::bad_alloc&) {
    library().destroy_id(id);  // of which nobody has heard yet
    return hca::fail(hca::Error::kNoMemory);
  }
  return id;
}

// For one step.
int QueuePair::milliseconds_left() const {
  const base::Duration left = deadline_ == base::kNever ? kLongestResolution : deadline_ - base::Clock::now();
  const auto bounded = std::clamp<base::Duration>(left, std::chrono::milliseconds(1), kLongestResolution);
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(bounded).count());
}

void QueuePair::resolve_address_locked() {
  base::require_lock(locks::kVerbsQueuePair);
  const hca::Address& own = device_.traits.place.address;
  sockaddr_storage source = socket_address(own, 0);
  sockaddr_storage target = socket_address(remote_, port_of_service(service_asked_));
  if (is_loopback(remote_) && !is_loopback(own)) {
    return end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kUnreachable);
  }
  const int failed = library().resolve_addr(id_, reinterpret_cast<sockaddr*>(&source),
                                            reinterpret_cast<sockaddr*>(&target), milliseconds_left());
  if (failed == 0) return;
  const auto news = is_unreachable(errno) ? ConnectionEventType::kUnreachable : ConnectionEventType::kTimedOut;
  end_locked(QueuePairEvent::kRefuse, news);
}

void QueuePair::resolve_route_locked() {
  base::require_lock(locks::kVerbsQueuePair);
  if (library().resolve_route(id_, milliseconds_left()) == 0) return;
  end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kUnreachable);
}

void QueuePair::send_request_locked() {
  base::require_lock(locks::kVerbsQueuePair);
  const OutgoingPrivateData data(private_data_, device_.traits.is_iwarp);
  rdma_conn_param wish = conn_param(data, limits_.ird, limits_.ord);
  wish.retry_count = kRetries;
  note_port_locked();
  if (move_to(IBV_QPS_INIT, 0, 0) && library().connect(id_, &wish) == 0) return;
  const int error = errno;  // of TCP, where the device connects before it returns
  if (error == EADDRINUSE && take_another_port_locked()) return;
  base::log(base::LogLevel::kNotice, "verbs:%s cannot ask for a connection: %s", device_.traits.place.device.c_str(),
            std::strerror(error));
  end_locked(QueuePairEvent::kRefuse, error == ECONNREFUSED || error == ECONNRESET
                                          ? ConnectionEventType::kNonPeerRejected
                                          : ConnectionEventType::kUnreachable);
}

// The connection manager chooses our port among those that no id has. An iWARP device in software has TCP connect from
// there, where a socket of some program's may be, of which the connection manager knows nothing.
bool QueuePair::take_another_port_locked() {
  base::require_lock(locks::kVerbsQueuePair);
  if (ports_left_ == 0) return false;
  const auto id = make_id();
  if (!id) return false;
  --ports_left_;
  device_.events.bury(std::exchange(id_, id.value()));
  resolve_address_locked();
  return true;
}

}  // namespace softdat::verbs
