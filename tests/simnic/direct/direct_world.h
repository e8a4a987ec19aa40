// SPDX-License-Identifier: BSD-2-Clause
// Two NICs of this process over real shared memory, both driven by hand: what happens while a NIC is not turned happens
// without it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "simnic/direct/direct_context.h"
#include "tests/moved_memory.h"
#include "tests/own_address.h"
#include "tests/simnic/live.h"
#include "transport/open_carrier.h"

namespace softdat::simnic::testing {
using simnic::direct::DirectContext;

// Shared memory reaches other processes that run this, so each has a service of its own.
inline std::uint64_t own_service() {
  return kService + static_cast<std::uint64_t>(::getpid());
}

struct EngineNic final : Nic {
  using Nic::engine;
  using Nic::Nic;
};

struct HandStation {
  explicit HandStation(std::uint32_t ipv4)
      : direct_context(DirectContext::create()),
        nic(transport::open_carrier(
                {.kind = transport::CarrierKind::kShm, .address = {.ipv4 = ipv4}, .resources = direct_context}),
            {.name = "sim", .address = {.ipv4 = ipv4}, .drive = Drive::kByHand, .direct_context = direct_context}),
        pd(expect_ok(nic.create_pd())),
        cq(expect_ok(nic.create_cq(1024, sink))) {}
  void turn() { nic.turn(base::Clock::now()); }
  std::unique_ptr<hca::QueuePair> make_qp(hca::QueuePairSink& to) {
    hca::QueuePairConfig config;
    config.pd = pd.get();
    config.send_cq = config.recv_cq = cq.get();
    config.limits = Endpoint::kLimits;
    config.sink = &to;
    return expect_ok(nic.create_qp(config));
  }
  // The completion that is there now: "wr_id:status", or "none".
  std::string next() {
    hca::Completion completion{};
    if (cq->poll({&completion, 1}) == 0) return "none";
    return std::to_string(completion.wr_id) + ":" + name_of(completion.status);
  }

  std::shared_ptr<DirectContext> direct_context;
  LiveCompletionSink sink;
  EngineNic nic;
  std::unique_ptr<hca::ProtectionDomain> pd;
  std::unique_ptr<hca::CompletionQueue> cq;
};

// Registered pages.
class Block {
 public:
  Block(HandStation& at, std::size_t length, hca::AccessMask access = kEverything)
      : length_(length),
        data_(static_cast<std::byte*>(
            ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        region_(expect_ok(at.nic.register_memory(*at.pd, address(), length, access))) {}
  ~Block() {
    region_.reset();
    ::munmap(data_, length_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::byte* data() { return data_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }
  std::uint32_t key() const { return region_->rkey(); }
  hca::Segment segment(std::size_t offset, std::size_t length) const {
    return {address() + offset, static_cast<std::uint32_t>(length), key()};
  }
  void fill(int value) { std::memset(data_, value, length_); }
  bool is_all(int value) const {
    for (std::size_t i = 0; i < length_; ++i) {
      if (data_[i] != static_cast<std::byte>(value)) return false;
    }
    return true;
  }
  void deregister() { region_.reset(); }

 private:
  const std::size_t length_;
  std::byte* const data_;
  std::unique_ptr<hca::MemoryRegion> region_;
};

class DirectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (here_.direct_context == nullptr) GTEST_SKIP() << "no direct access here";
    listener_ = expect_ok(there_.nic.listen(own_service(), 8, acceptor_));
    connect();
  }
  void connect() {
    active_ = here_.make_qp(active_sink_);
    passive_ = there_.make_qp(passive_sink_);
    acceptor_.expect(*passive_);
    const int before = passive_sink_.count(ConnectionEventType::kEstablished);
    expect_ok(
        active_->connect({.remote = there_.nic.attributes().address, .service_id = own_service(), .private_data = {}}));
    EXPECT_TRUE(await([&] {
      here_.turn();
      there_.turn();
      return passive_sink_.count(ConnectionEventType::kEstablished) > before;
    }));
  }
  hca::Outcome post(hca::SendOpcode opcode, std::uint64_t wr_id, const Segments& local, const Block& remote,
                    std::size_t offset = 0, std::uint32_t flags = hca::kSignaled) {
    return active_->post_send({.wr_id = wr_id,
                               .opcode = opcode,
                               .flags = flags,
                               .rkey = remote.key(),
                               .remote_address = remote.address() + offset,
                               .local = local});
  }
  // The key of a window that lets peers write into the first bytes of `block`.
  std::uint32_t bind_passively(hca::MemoryWindow& window, const Block& block, std::uint64_t length,
                               hca::AccessMask access = hca::kRemoteWrite) {
    const std::uint32_t key = expect_ok(passive_->post_bind({.wr_id = 9,
                                                             .flags = hca::kSignaled,
                                                             .window = &window,
                                                             .lkey = block.key(),
                                                             .address = block.address(),
                                                             .length = length,
                                                             .access = access,
                                                             .note = 0}));
    EXPECT_EQ(await_completion(there_), "9:ok");
    return key;
  }
  std::string await_completion(HandStation& at) {
    std::string result = "none";
    await([&] {
      here_.turn();
      there_.turn();
      result = at.next();
      return result != "none";
    });
    return result;
  }

  HandStation here_{own_loopback_address(1)};
  HandStation there_{own_loopback_address(2)};
  LiveAcceptor acceptor_;
  LiveSink active_sink_;
  LiveSink passive_sink_;
  std::unique_ptr<hca::Listener> listener_;
  std::unique_ptr<hca::QueuePair> active_;
  std::unique_ptr<hca::QueuePair> passive_;
};

}  // namespace softdat::simnic::testing
