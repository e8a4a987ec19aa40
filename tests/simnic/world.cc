// SPDX-License-Identifier: BSD-2-Clause
#include "tests/simnic/world.h"

#include "simnic/nasty/nasty_carrier.h"

namespace softdat::simnic::testing {
namespace {

NicConfig config_of(std::string name, RnrPolicy rnr, base::Duration connect_grace) {
  return {.name = std::move(name), .rnr = rnr, .drive = Drive::kByHand, .connect_grace = connect_grace};
}

std::unique_ptr<Nic> make_nic(std::unique_ptr<transport::Carrier> carrier, const NicConfig& config,
                              const Injector& injector) {
  if (config.nasty != 0) {
    auto decisions = std::make_shared<nasty::Decisions>(config.nasty, "test", config.name, nullptr);
    carrier = std::make_unique<nasty::NastyCarrier>(std::move(carrier), std::move(decisions), config.port_base,
                                                    transport::kMaxPrivateData, nasty::HoldClock::kTurns);
  }
  if (injector == nullptr) return std::make_unique<Nic>(std::move(carrier), config);
  return std::make_unique<fault::FaultyNic>(std::move(carrier), config, injector);
}

}  // namespace

std::vector<std::byte> bytes(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

std::vector<std::byte> pattern(std::size_t length, std::uint64_t seed) {
  std::vector<std::byte> content(length);
  std::uint64_t state = seed * 0x9e37'79b9'7f4a'7c15 + 1;
  std::byte* const bytes = content.data();  // no iterators: without optimisation they take half of a simulation's time
  for (std::size_t i = 0; i < length; ++i) {
    state = state * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    bytes[i] = static_cast<std::byte>(state >> 56);
  }
  return content;
}

const char* name_of(CompletionStatus status) {
  switch (status) {
    case CompletionStatus::kSuccess:
      return "ok";
    case CompletionStatus::kLocalLength:
      return "local-length";
    case CompletionStatus::kLocalProtection:
      return "local-protection";
    case CompletionStatus::kFlushed:
      return "flushed";
    case CompletionStatus::kRemoteAccess:
      return "remote-access";
    case CompletionStatus::kRemoteOperation:
      return "remote-operation";
    case CompletionStatus::kRetryExceeded:
      return "retry-exceeded";
    case CompletionStatus::kRnrRetryExceeded:
      return "rnr-retry-exceeded";
    case CompletionStatus::kBadResponse:
      return "bad-response";
    case CompletionStatus::kBindFailed:
      return "bind-failed";
  }
  return "?";
}

const char* name_of(ConnectionEventType type) {
  switch (type) {
    case ConnectionEventType::kEstablished:
      return "established";
    case ConnectionEventType::kPeerRejected:
      return "peer-rejected";
    case ConnectionEventType::kNonPeerRejected:
      return "non-peer-rejected";
    case ConnectionEventType::kUnreachable:
      return "unreachable";
    case ConnectionEventType::kTimedOut:
      return "timed-out";
    case ConnectionEventType::kAcceptFailed:
      return "accept-failed";
    case ConnectionEventType::kDisconnected:
      return "disconnected";
    case ConnectionEventType::kBroken:
      return "broken";
  }
  return "?";
}

Host::Host(transport::loop::LoopNetwork& network, std::uint32_t ipv4, const NicConfig& config, const Injector& injector)
    : carrier_(new transport::loop::LoopCarrier(network, {.ipv4 = ipv4, .port = 0})),
      nic_(make_nic(std::unique_ptr<transport::Carrier>(carrier_),
                    {.name = config.name,
                     .address = {.ipv4 = ipv4},
                     .rnr = config.rnr,
                     .drive = config.drive,
                     .connect_grace = config.connect_grace,
                     .nasty = config.nasty,
                     .profile = config.profile},
                    injector)),
      pd_(expect_ok(nic_->create_pd())) {}

Memory::Memory(Host& host, std::vector<std::byte> content, hca::AccessMask access, hca::ProtectionDomain* pd)
    : content_(std::move(content)),
      region_(expect_ok(host.nic().register_memory(pd ? *pd : host.pd(), address(), content_.size(), access))),
      key_(region_->rkey()) {}

std::vector<std::byte> Memory::part(std::size_t offset, std::size_t length) const {
  const auto from = content_.begin() + static_cast<std::ptrdiff_t>(offset);
  return {from, from + static_cast<std::ptrdiff_t>(length)};
}

std::uint64_t Memory::word(std::size_t offset) const {
  std::uint64_t value = 0;
  std::memcpy(&value, content_.data() + offset, sizeof value);
  return value;
}

std::string Memory::text(std::size_t length) const {
  return {reinterpret_cast<const char*>(content_.data()), length};
}

Endpoint::Endpoint(Host& host, const hca::QueuePairLimits& limits, std::size_t cq_capacity, hca::ProtectionDomain* pd,
                   hca::SharedReceiveQueue* srq)
    : send_cq_(expect_ok(host.nic().create_cq(cq_capacity, send_log_))),
      recv_cq_(expect_ok(host.nic().create_cq(cq_capacity, recv_log_))) {
  hca::QueuePairConfig config;
  config.pd = pd != nullptr ? pd : &host.pd();
  config.send_cq = send_cq_.get();
  config.recv_cq = recv_cq_.get();
  config.limits = limits;
  config.context = reinterpret_cast<std::uintptr_t>(this);
  config.sink = this;
  config.srq = srq;
  qp_ = expect_ok(host.nic().create_qp(config));
}

Endpoint::~Endpoint() {
  qp_.reset();
}

hca::Outcome Endpoint::connect(Host& remote, std::uint64_t service_id, std::string_view data, base::Duration timeout) {
  const auto content = bytes(data);
  return qp_->connect(
      {.remote = remote.address(), .service_id = service_id, .private_data = content, .timeout = timeout});
}

hca::Outcome Endpoint::send(std::uint64_t wr_id, const Segments& local, std::uint32_t flags) {
  hca::SendRequest request;
  request.wr_id = wr_id;
  request.flags = flags;
  request.local = local;
  return qp_->post_send(request);
}

hca::Outcome Endpoint::write(std::uint64_t wr_id, const Segments& local, const Memory& remote, std::size_t offset,
                             std::uint32_t flags) {
  return qp_->post_send({.wr_id = wr_id,
                         .opcode = hca::SendOpcode::kWrite,
                         .flags = flags,
                         .rkey = remote.key(),
                         .remote_address = remote.address(offset),
                         .local = local});
}

hca::Outcome Endpoint::read(std::uint64_t wr_id, const Segments& local, const Memory& remote, std::size_t offset,
                            std::uint32_t flags) {
  return qp_->post_send({.wr_id = wr_id,
                         .opcode = hca::SendOpcode::kRead,
                         .flags = flags,
                         .rkey = remote.key(),
                         .remote_address = remote.address(offset),
                         .local = local});
}

hca::Outcome Endpoint::write_immediate(std::uint64_t wr_id, const Segments& local, const Memory& remote,
                                       std::uint32_t immediate, std::uint32_t flags) {
  return qp_->post_send({.wr_id = wr_id,
                         .opcode = hca::SendOpcode::kWriteWithImmediate,
                         .flags = flags,
                         .rkey = remote.key(),
                         .remote_address = remote.address(),
                         .local = local,
                         .immediate = immediate});
}

hca::Outcome Endpoint::fetch_add(std::uint64_t wr_id, const hca::Segment& local, const Memory& remote,
                                 std::size_t offset, std::uint64_t addend, std::uint32_t flags) {
  return qp_->post_send({.wr_id = wr_id,
                         .opcode = hca::SendOpcode::kFetchAdd,
                         .flags = flags,
                         .rkey = remote.key(),
                         .remote_address = remote.address(offset),
                         .local = {&local, 1},
                         .operand = addend});
}

hca::Outcome Endpoint::compare_swap(std::uint64_t wr_id, const hca::Segment& local, const Memory& remote,
                                    std::size_t offset, std::uint64_t compare, std::uint64_t swap) {
  return qp_->post_send({.wr_id = wr_id,
                         .opcode = hca::SendOpcode::kCompareSwap,
                         .flags = hca::kSignaled,
                         .rkey = remote.key(),
                         .remote_address = remote.address(offset),
                         .local = {&local, 1},
                         .operand = swap,
                         .compare = compare});
}

hca::Outcome Endpoint::recv(std::uint64_t wr_id, const Segments& local, std::uint32_t flags) {
  return qp_->post_recv({.wr_id = wr_id, .flags = flags, .local = local});
}

std::optional<hca::Completion> Endpoint::next(hca::CompletionQueue& cq) {
  hca::Completion completion;
  if (cq.poll({&completion, 1}) == 0) return std::nullopt;
  return completion;
}

std::string Endpoint::drain(hca::CompletionQueue& cq) {
  std::string words;
  while (const auto completion = next(cq)) {
    if (!words.empty()) words += ' ';
    words += std::to_string(completion->wr_id) + ':' + name_of(completion->status);
  }
  return words;
}

std::string Endpoint::events() {
  return std::exchange(events_, {});
}

void Endpoint::on_connection_event(const hca::ConnectionEvent& event) {
  if (!events_.empty()) events_ += ' ';
  events_ += name_of(event.type);
  private_data = event.private_data;
  answered_by = event.service_id;
}

World::World(const transport::loop::LoopOptions& options, RnrPolicy rnr, base::Duration connect_grace,
             const Injector& here, const Injector& there)
    : network_(options),
      here_(std::make_unique<Host>(network_, 0x0a000001, config_of("sim0", rnr, connect_grace), here)),
      there_(std::make_unique<Host>(network_, 0x0a000002, config_of("sim1", rnr, connect_grace), there)) {
  settle();  // tells them the time
}

World::World(std::shared_ptr<const model::Profile> profile)
    : network_(),
      here_(std::make_unique<Host>(network_, 0x0a000001,
                                   NicConfig{.name = "sim0", .drive = Drive::kByHand, .profile = std::move(profile)})),
      there_(std::make_unique<Host>(network_, 0x0a000002, NicConfig{.name = "sim1", .drive = Drive::kByHand})) {
  settle();
}

void World::settle() {
  for (bool moved = true; moved;) {
    moved = here_->nic().turn(now_) + there_->nic().turn(now_) > 0;
    if (moved) continue;
    if (const auto due = network_.next_due()) {
      now_ = *due;
      moved = true;
    }
  }
}

void World::pass(base::Duration time) {
  now_ += time;
  settle();
}

void World::connect(Endpoint& active, Endpoint& passive, Host& remote) {
  ListenerLog log;
  const auto listener = expect_ok(remote.nic().listen(kService, 8, log));
  expect_ok(active.connect(remote));
  settle();
  ASSERT_EQ(log.requests.size(), 1u);
  expect_ok(log.requests[0]->accept(passive.qp(), {}));
  settle();
  ASSERT_EQ(active.events(), "established");
  ASSERT_EQ(passive.events(), "established");
}

void ConnectedTest::use(const transport::loop::LoopOptions& options, RnrPolicy rnr, const hca::QueuePairLimits& limits,
                        std::size_t cq_capacity) {
  tear_down();
  world_ = std::make_unique<World>(options, rnr);
  active_ = std::make_unique<Endpoint>(world_->here(), limits, cq_capacity);
  passive_ = std::make_unique<Endpoint>(world_->there(), limits, cq_capacity);
  world_->connect(*active_, *passive_);
}

void ConnectedTest::reconnect_with_ird(std::uint32_t ird) {
  auto limits = Endpoint::kLimits;
  limits.ird = ird;
  passive_.reset();
  active_.reset();
  active_ = std::make_unique<Endpoint>(here());
  passive_ = std::make_unique<Endpoint>(there(), limits);
  world_->connect(*active_, *passive_);
}

void ConnectedTest::tear_down() {
  active_.reset();
  passive_.reset();
  world_.reset();
}

}  // namespace softdat::simnic::testing
