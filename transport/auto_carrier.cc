// SPDX-License-Identifier: BSD-2-Clause
#include "transport/auto_carrier.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/local_addresses.h"
#include "base/log.h"
#include "base/process_fence.h"

namespace softdat::transport {
namespace {

// The requests of both halves of a port, counted against one backlog.
using Unanswered = std::shared_ptr<std::size_t>;

class AutoRequest final : public InboundRequest {
 public:
  AutoRequest(std::unique_ptr<InboundRequest> request, Unanswered unanswered, bool shares_memory)
      : request_(std::move(request)), unanswered_(std::move(unanswered)), shares_memory_(shares_memory) {
    ++*unanswered_;
  }
  ~AutoRequest() override { settle(); }

  const Offer& offer() const override { return request_->offer(); }
  bool is_alive() const override { return request_->is_alive(); }
  std::unique_ptr<Channel> accept(const Offer& reply, ChannelSink& sink) override {
    settle();
    if (!shares_memory_ || (offer().features & kNeighbours) == 0) return request_->accept(reply, sink);
    Offer answer = reply;
    // Both sides then know that they share a host but no memory, and each warns its user once (docs/WIRE.md, feature
    // 32).
    answer.features |= kNeighbours;
    return request_->accept(answer, sink);
  }
  void reject(std::span<const std::byte> private_data) override {
    settle();
    request_->reject(private_data);
  }

 private:
  void settle() {
    if (!unanswered_) return;
    base::check(*unanswered_ > 0, "a port counts each request until it is answered");
    --*std::exchange(unanswered_, nullptr);
  }

  const std::unique_ptr<InboundRequest> request_;
  Unanswered unanswered_;
  const bool shares_memory_;
};

class AutoPort final : public Port, public PortSink {
 public:
  AutoPort(std::uint32_t backlog, PortSink& sink, bool shares_memory)
      : backlog_(backlog), sink_(sink), shares_memory_(shares_memory) {}

  // The reason why the half does not listen, if there is one.
  std::optional<ListenError> add(ListenResult half) {
    if (!half.port) return half.error;
    halves_.push_back(std::move(half.port));
    return {};
  }

  void on_request(std::unique_ptr<InboundRequest> request) override {
    // A request that is dropped here is destroyed, and its half tells the peer.
    if (*unanswered_ >= std::max<std::size_t>(backlog_, 1)) return;
    sink_.on_request(std::make_unique<AutoRequest>(std::move(request), unanswered_, shares_memory_));
  }

 private:
  const std::uint32_t backlog_;
  PortSink& sink_;
  const bool shares_memory_;
  const Unanswered unanswered_ = std::make_shared<std::size_t>(0);
  std::vector<std::unique_ptr<Port>> halves_;
};

// Says once per process why TCP serves alone. Without TCP there is no carrier, and each attempt says why.
bool can_share_memory(const shm::ShmOptions& options, bool has_tcp) {
  const std::string problem = shm::ShmCarrier::problem(options);
  if (problem.empty()) return true;
  if (!has_tcp) {
    base::log(base::LogLevel::kError, "no transport by shared memory: %s", problem.c_str());
    throw std::system_error(std::make_error_code(std::errc::not_supported), "no shared memory");
  }
  static std::once_flag is_said;
  std::call_once(is_said, [&] {
    base::log(base::LogLevel::kWarning, "peers on this host are reached by TCP and not by shared memory: %s",
              problem.c_str());
  });
  return false;
}

}  // namespace

AutoCarrier::AutoCarrier(const Address& own, Halves halves, const shm::ShmOptions& shm_options,
                         const tcp::TcpOptions& tcp_options, std::unique_ptr<Reactor> reactor)
    : own_(own), reactor_(std::move(reactor)) {
  base::check(halves.shm || halves.tcp, "a carrier has at least one half");
  if (halves.shm && can_share_memory(shm_options, halves.tcp)) {
    shm_ = std::make_unique<shm::ShmCarrier>(*reactor_, shm_options);
  }
  if (halves.tcp) tcp_ = std::make_unique<tcp::TcpCarrier>(*reactor_, tcp_options);
  if (shm_ && tcp_) {
    tcp_->ask_before_requests([this](const Address& remote, const Offer& request) {
      return (request.features & kNeighbours) != 0 && shm_->is_served(remote, request.service_id);
    });
  }
}

AutoCarrier::~AutoCarrier() = default;

ListenResult AutoCarrier::listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) {
  auto port = std::make_unique<AutoPort>(backlog, sink, shm_ != nullptr);
  for (Carrier* half : {static_cast<Carrier*>(shm_.get()), static_cast<Carrier*>(tcp_.get())}) {
    if (half == nullptr) continue;
    const auto error = port->add(half->listen(service_id, backlog, *port));
    // Where the directory of the socket files has become unusable since, peers find the port by TCP.
    const bool is_dispensable = half == shm_.get() && tcp_ && error != ListenError::kAddressInUse;
    if (error && !is_dispensable) return {nullptr, *error};
  }
  return {std::move(port)};
}

std::unique_ptr<Channel> AutoCarrier::connect(const Address& remote, const Offer& request, ChannelSink& sink) {
  if (!tcp_) return shm_->connect(remote, request, sink);
  if (!may_share_memory_with(remote)) return tcp_->connect(remote, request, sink);
  auto shared = shm_->try_connect(remote, request, sink);
  if (shared.ok()) return std::move(shared).value();
  // If no process of this user serves the id in shared memory, one of another user or container may, by TCP.
  Offer by_tcp = request;
  if (shared.reason() == shm::LinkConnector::Begin::kNobody) by_tcp.features |= kNeighbours;
  return tcp_->connect(remote, by_tcp, sink);
}

bool AutoCarrier::may_share_memory_with(const Address& remote) const {
  return shm_ && (remote.with_port(0) == own_ || is_local_address(remote));
}

// With the baton. TCP's timers and direct reads come first, then the kernel is asked if either half wants it, then the
// rings are read, and settle() publishes to wait() what is left. After a wait the rings come before the kernel.
std::size_t AutoCarrier::turn(base::Time now) {
  if (tcp_) tcp_->move(now);
  const bool has_waited = has_waited_.load(std::memory_order_relaxed);
  std::size_t count = has_waited ? take_records_first(now) : 0;
  is_kernel_next_ = count > 0;
  if (count == 0) {
    const bool look = wants_look(now);
    if (look || has_waited) {
      // Pairs with the release in wait(), which runs without the baton: marks that a wait() collected must be
      // dispatched.
      has_waited_.exchange(false, std::memory_order_acquire);
      count = reactor_->dispatch(look);
      if (shm_) shm_->parts().attention.stir();
    }
    if (shm_) count += shm_->move(now);
  }
  const std::size_t by_tcp = tcp_ ? tcp_->settle(now) : 0;
  note_tcp(by_tcp);
  if (shm_ && !is_tcp_idle()) shm_->parts().attention.watch_more();
  return count + by_tcp;
}

// The thread that a bell has woken takes the message before it reads the bell. Not 0: the next turn hears the kernel.
// An answer that came through a socket in time must not come after its timer, so the kernel is heard first while a peer
// is being met, and where there are connections over TCP.
std::size_t AutoCarrier::take_records_first(base::Time now) {
  if (!shm_ || is_kernel_next_ || shm_->parts().introductions.are_under_way()) return 0;
  if (tcp_ && tcp_->has_connections()) return 0;
  const std::size_t count = shm_->move(now);
  if (count > 0) shm_->parts().attention.watch_more();
  return count;
}

Look AutoCarrier::look() {
  if (has_waited_.load(std::memory_order_relaxed)) return kTakesTurn;
  if (!shm_ || !is_tcp_idle()) return look_by_tcp();
  shm::CarrierParts& parts = shm_->parts();
  if (!parts.attention.is_calm()) return kTakesTurn;
  return {.done = static_cast<std::uint32_t>(parts.links.poll_hot())};
}

// Reads the few connections over TCP that are busy. While there are links over shared memory, or one is being made,
// that takes a turn.
Look AutoCarrier::look_by_tcp() {
  if (shm_ && shm_->has_work()) return kTakesTurn;
  const Look look = tcp_->look();
  if (!look.takes_turn) note_tcp(look.done);
  return look;
}

// An idle half for TCP asks for a look at the kernel in every turn. While there are links over shared memory, this
// counts only while TCP is busy, because the system call would delay their messages.
bool AutoCarrier::wants_look(base::Time now) {
  const bool by_shm = shm_ && shm_->wants_look(now);
  if (!tcp_) return by_shm;
  const bool by_tcp = tcp_->wants_look();
  const bool is_tcp_heard = !shm_ || shm_->parts().links.is_empty() || tcp_busy_turns_ > 0;
  return by_shm || (by_tcp && is_tcp_heard);
}

// One wait. The destructor ends it, because a thread that is cancelled in the wait is unwound.
class AutoCarrier::Waiting {
 public:
  Waiting(AutoCarrier& carrier, base::Time deadline) : carrier_(carrier), deadline_(deadline) {
    carrier_.reactor_->prepare_wait();
    // Time::min(): a half still has work, so this thread does not sleep.
    if (carrier_.tcp_) deadline_ = std::min(deadline_, carrier_.tcp_->wait_until());
    if (carrier_.shm_) deadline_ = std::min(deadline_, carrier_.shm_->prepare_wait());
  }
  ~Waiting() {
    if (carrier_.shm_) carrier_.shm_->finish_wait();
    carrier_.has_waited_.store(true, std::memory_order_release);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  base::Time deadline() const { return deadline_; }

 private:
  AutoCarrier& carrier_;
  base::Time deadline_;
};

// Senders of links that are made from then on need no fences.
void AutoCarrier::warm_up() {
  if (shm_) base::join_fences();
}

void AutoCarrier::wait(base::Time deadline) {
  const Waiting waiting(*this, deadline);
  reactor_->wait(waiting.deadline());
}

base::WakeReason AutoCarrier::wait_cancellably(base::Time deadline) {
  const Waiting waiting(*this, deadline);
  return reactor_->wait_cancellably(waiting.deadline());
}

void AutoCarrier::tap(Tapper* tapper) {
  if (shm_) shm_->tap(tapper);
  if (tcp_) tcp_->tap(tapper);
}

bool AutoCarrier::has_failed() const {
  return (shm_ && shm_->has_failed()) || (tcp_ && tcp_->has_failed());
}

void AutoCarrier::interrupt() {
  reactor_->interrupt();
}

}  // namespace softdat::transport
