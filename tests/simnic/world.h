// SPDX-License-Identifier: BSD-2-Clause
// Two NICs on a loop network, driven by hand, and short words for what tests do with them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hca/device.h"
#include "simnic/fault/faulty_nic.h"
#include "simnic/nic.h"
#include "transport/loop/loop_carrier.h"
#include "transport/loop/loop_network.h"

namespace softdat::simnic::testing {

using hca::CompletionOpcode;
using hca::CompletionStatus;
using hca::ConnectionEventType;
using hca::QueuePairState;

inline constexpr std::uint64_t kService = 0x0123'4567'89ab'cdef;

std::vector<std::byte> bytes(std::string_view text);
// `length` bytes that no other seed gives.
std::vector<std::byte> pattern(std::size_t length, std::uint64_t seed);

// Value of a call that must succeed.
template <typename T>
T expect_ok(hca::Result<T> result) {
  EXPECT_TRUE(result.ok()) << "reason " << (result.ok() ? 0 : static_cast<int>(result.reason()));
  return std::move(result).value();
}

// The reason of a call that must fail.
template <typename T>
std::optional<hca::Error> reason(const hca::Result<T>& result) {
  if (result.ok()) return std::nullopt;
  return result.reason();
}

struct CompletionLog final : hca::CompletionSink {
  void on_completion() override { ++completions; }
  void on_overflow() override { ++overflows; }
  int completions = 0;
  int overflows = 0;
};

struct ListenerLog final : hca::ListenerSink {
  void on_request(std::unique_ptr<hca::ConnectionRequest> request) override { requests.push_back(std::move(request)); }
  std::vector<std::unique_ptr<hca::ConnectionRequest>> requests;
};

using Injector = std::shared_ptr<const fault::Injector>;

// One NIC of the world, with a protection domain.
class Host {
 public:
  // `injector`: of a NIC with faults; null: without. With config.nasty the NIC is in nasty mode.
  Host(transport::loop::LoopNetwork& network, std::uint32_t ipv4, const NicConfig& config,
       const Injector& injector = nullptr);

  transport::loop::LoopCarrier& carrier() { return *carrier_; }
  Nic& nic() { return *nic_; }
  hca::ProtectionDomain& pd() { return *pd_; }
  hca::Address address() const { return nic_->attributes().address; }

 private:
  transport::loop::LoopCarrier* carrier_;
  std::unique_ptr<Nic> nic_;
  std::unique_ptr<hca::ProtectionDomain> pd_;
};

inline constexpr hca::AccessMask kEverything =
    hca::kLocalWrite | hca::kRemoteRead | hca::kRemoteWrite | hca::kRemoteAtomic;

// Registered memory.
class Memory {
 public:
  Memory(Host& host, std::vector<std::byte> content, hca::AccessMask access = kEverything,
         hca::ProtectionDomain* pd = nullptr);
  Memory(Host& host, std::size_t length, hca::AccessMask access = kEverything)
      : Memory(host, std::vector<std::byte>(length), access) {}

  std::uint64_t address(std::size_t offset = 0) const {
    return reinterpret_cast<std::uintptr_t>(content_.data()) + offset;
  }
  std::uint32_t key() const { return key_; }
  hca::Segment segment(std::size_t offset, std::size_t length) const {
    return {address(offset), static_cast<std::uint32_t>(length), key_};
  }
  hca::Segment all() const { return segment(0, content_.size()); }
  const std::vector<std::byte>& content() const { return content_; }
  std::vector<std::byte> part(std::size_t offset, std::size_t length) const;
  std::string text(std::size_t length) const;
  std::uint64_t word(std::size_t offset) const;
  void deregister() { region_.reset(); }

 private:
  std::vector<std::byte> content_;
  std::unique_ptr<hca::MemoryRegion> region_;
  std::uint32_t key_;
};

using Segments = std::vector<hca::Segment>;

// A queue pair with its queues and a log of what it was told.
class Endpoint final : public hca::QueuePairSink {
 public:
  static constexpr hca::QueuePairLimits kLimits{
      .send_wr = 16, .recv_wr = 16, .send_sge = 4, .recv_sge = 4, .ird = 4, .ord = 4};

  explicit Endpoint(Host& host, const hca::QueuePairLimits& limits = kLimits, std::size_t cq_capacity = 64,
                    hca::ProtectionDomain* pd = nullptr, hca::SharedReceiveQueue* srq = nullptr);
  ~Endpoint();

  hca::QueuePair& qp() { return *qp_; }
  hca::CompletionQueue& send_cq() { return *send_cq_; }
  hca::CompletionQueue& recv_cq() { return *recv_cq_; }
  CompletionLog& send_log() { return send_log_; }
  CompletionLog& recv_log() { return recv_log_; }
  void destroy_qp() { qp_.reset(); }
  void adopt(std::unique_ptr<hca::QueuePair> qp) { qp_ = std::move(qp); }
  bool has_qp() const { return qp_ != nullptr; }

  hca::Outcome connect(Host& remote, std::uint64_t service_id = kService, std::string_view private_data = "",
                       base::Duration timeout = base::Duration::max());
  hca::Outcome send(std::uint64_t wr_id, const Segments& local, std::uint32_t flags = hca::kSignaled);
  hca::Outcome write(std::uint64_t wr_id, const Segments& local, const Memory& remote, std::size_t offset = 0,
                     std::uint32_t flags = hca::kSignaled);
  hca::Outcome read(std::uint64_t wr_id, const Segments& local, const Memory& remote, std::size_t offset = 0,
                    std::uint32_t flags = hca::kSignaled);
  hca::Outcome write_immediate(std::uint64_t wr_id, const Segments& local, const Memory& remote,
                               std::uint32_t immediate, std::uint32_t flags = hca::kSignaled);
  // Of the eight bytes at `offset`; what they were goes to `local`.
  hca::Outcome fetch_add(std::uint64_t wr_id, const hca::Segment& local, const Memory& remote, std::size_t offset,
                         std::uint64_t addend, std::uint32_t flags = hca::kSignaled);
  hca::Outcome compare_swap(std::uint64_t wr_id, const hca::Segment& local, const Memory& remote, std::size_t offset,
                            std::uint64_t compare, std::uint64_t swap);
  hca::Outcome recv(std::uint64_t wr_id, const Segments& local, std::uint32_t flags = 0);

  // Everything that waits in the queue, as "wr_id:status" words ("7:ok 8:flushed").
  std::string sends() { return drain(*send_cq_); }
  std::string recvs() { return drain(*recv_cq_); }
  std::optional<hca::Completion> next_send() { return next(*send_cq_); }
  std::optional<hca::Completion> next_recv() { return next(*recv_cq_); }

  // What the sink heard since the last call, as words ("established disconnected").
  std::string events();
  int recv_limits = 0;                       // how often the soft limit was told
  std::optional<hca::Failure> failure;       // the last one
  std::vector<std::byte> private_data;       // of the last event
  std::optional<std::uint64_t> answered_by;  // likewise

 private:
  void on_connection_event(const hca::ConnectionEvent& event) override;
  std::string on_failure(const hca::Failure& heard) override {
    failure = heard;
    return {};
  }
  void on_recv_limit() override { ++recv_limits; }
  static std::optional<hca::Completion> next(hca::CompletionQueue& cq);
  static std::string drain(hca::CompletionQueue& cq);

  CompletionLog send_log_;
  CompletionLog recv_log_;
  std::unique_ptr<hca::CompletionQueue> send_cq_;
  std::unique_ptr<hca::CompletionQueue> recv_cq_;
  std::unique_ptr<hca::QueuePair> qp_;
  std::string events_;
};

const char* name_of(CompletionStatus status);
const char* name_of(ConnectionEventType type);

class World {
 public:
  explicit World(const transport::loop::LoopOptions& options = {}, RnrPolicy rnr = RnrPolicy::kWait,
                 base::Duration connect_grace = base::Duration::zero(), const Injector& here = nullptr,
                 const Injector& there = nullptr);
  // `here` is simulated as that device.
  explicit World(std::shared_ptr<const model::Profile> profile);

  Host& here() { return *here_; }
  Host& there() { return *there_; }
  transport::loop::LoopNetwork& network() { return network_; }
  base::Time now() const { return now_; }
  void kill_there() { there_->carrier().kill(); }

  // Turns both until nothing moves, letting time pass for what is under way.
  void settle();
  void turn_here() { here_->nic().turn(now_); }
  void turn_there() { there_->nic().turn(now_); }
  void pass(base::Duration time);

  // Establishes active (at here) with passive (at there, or elsewhere).
  void connect(Endpoint& active, Endpoint& passive) { connect(active, passive, *there_); }
  void connect(Endpoint& active, Endpoint& passive, Host& remote);

 private:
  transport::loop::LoopNetwork network_;
  base::Time now_{std::chrono::hours(1)};
  std::unique_ptr<Host> here_;
  std::unique_ptr<Host> there_;
};

// A world with one established connection: active_ (here) to passive_ (there).
class ConnectedTest : public ::testing::Test {
 protected:
  void use(const transport::loop::LoopOptions& options, RnrPolicy rnr = RnrPolicy::kWait,
           const hca::QueuePairLimits& limits = Endpoint::kLimits, std::size_t cq_capacity = 64);
  void SetUp() override { use({}); }
  void TearDown() override { tear_down(); }
  // Two fresh endpoints, the passive one of which answers so many reads at a time.
  void reconnect_with_ird(std::uint32_t ird);
  void settle() { world_->settle(); }
  Host& here() { return world_->here(); }
  Host& there() { return world_->there(); }

  std::unique_ptr<World> world_;
  std::unique_ptr<Endpoint> active_;
  std::unique_ptr<Endpoint> passive_;

 private:
  void tear_down();
};

}  // namespace softdat::simnic::testing
