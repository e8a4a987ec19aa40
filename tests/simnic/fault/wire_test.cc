// SPDX-License-Identifier: BSD-2-Clause
// Damage on the TCP wire, behind the checksum.
#include <bit>

#include "simnic/open.h"
#include "tests/own_address.h"
#include "tests/simnic/fault/fault_world.h"
#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

constexpr hca::QueuePairLimits kLimits{.send_wr = 16, .recv_wr = 16, .send_sge = 1, .recv_sge = 1};

// Two live NICs over a real carrier. Those of `here` have the plan.
class Wire {
 public:
  Wire(const std::string& plan, transport::CarrierKind kind, bool crc)
      : here_(open(plan, kind, crc, own_loopback_address(1))), there_(open("", kind, crc, own_loopback_address(2))) {}

  // One connection on which one message of `length` bytes is sent. Returns the bytes that arrived, or nothing if the
  // connection broke on both sides.
  std::optional<std::vector<std::byte>> send_one(const std::vector<std::byte>& content) {
    LivePair pair(here_.side(), there_.side(), acceptor_, kService, kLimits);
    std::vector<std::byte> from = content, to(content.size());
    const auto source = here_.add(from), target = there_.add(to);
    const hca::Segment in{address(to), static_cast<std::uint32_t>(to.size()), target->lkey()};
    const hca::Segment out{address(from), static_cast<std::uint32_t>(from.size()), source->lkey()};
    expect_ok(pair.passive().post_recv({.wr_id = 1, .local = {&in, 1}}));
    expect_ok(pair.active().post_send({.wr_id = 2, .flags = hca::kSignaled, .local = {&out, 1}}));
    hca::Completion received{}, sent{};
    EXPECT_TRUE(await([&] { return there_.cq->poll({&received, 1}) == 1; }));
    EXPECT_TRUE(await([&] { return here_.cq->poll({&sent, 1}) == 1; }));
    if (received.status == CompletionStatus::kSuccess) return to;
    EXPECT_NE(sent.status, CompletionStatus::kSuccess);
    EXPECT_TRUE(await([&] {
      return pair.active_sink().count(ConnectionEventType::kBroken) == 1 &&
             pair.passive_sink().count(ConnectionEventType::kBroken) == 1;
    }));
    return std::nullopt;
  }

 private:
  struct Station {
    explicit Station(std::unique_ptr<hca::Device> opened)
        : device(std::move(opened)), pd(expect_ok(device->create_pd())), cq(expect_ok(device->create_cq(64, sink))) {}
    LiveSide side() { return {*device, *pd, *cq}; }
    std::unique_ptr<hca::MemoryRegion> add(std::vector<std::byte>& bytes) {
      return expect_ok(device->register_memory(*pd, address(bytes), bytes.size(), kEverything));
    }
    LiveCompletionSink sink;
    std::unique_ptr<hca::Device> device;
    std::unique_ptr<hca::ProtectionDomain> pd;
    std::unique_ptr<hca::CompletionQueue> cq;
  };

  static std::uint64_t address(std::vector<std::byte>& bytes) { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
  static std::unique_ptr<hca::Device> open(const std::string& plan, transport::CarrierKind kind, bool crc,
                                           std::uint32_t ipv4) {
    return open_nic({.name = "sim0",
                     .address = {.ipv4 = ipv4},
                     .carrier = kind,
                     .crc = crc,
                     .faults = base::read_fault_plan(plan).value()});
  }

  Station here_;
  Station there_;
  LiveAcceptor acceptor_;
  std::unique_ptr<hca::Listener> listener_ = expect_ok(there_.device->listen(kService, 1000, acceptor_));
};

int rounds() {
  const char* const asked = std::getenv("SOFTDAT_TEST_ROUNDS");
  if (asked != nullptr) return std::atoi(asked);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 300;
#else
  return 10000;
#endif
}

std::size_t differing_bits(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  std::size_t bits = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    bits += static_cast<std::size_t>(std::popcount(std::to_integer<unsigned>(a[i] ^ b[i])));
  }
  return bits;
}

TEST(WireFaultTest, ACrcCatchesEveryDamagedPayload) {
  Wire wire("seed=1; corrupt-payload", transport::CarrierKind::kTcp, true);
  for (int i = 0; i < rounds(); ++i) {
    const auto content = pattern(1 + static_cast<std::size_t>(i) * 37 % 9000, static_cast<std::uint64_t>(i));
    ASSERT_EQ(wire.send_one(content), std::nullopt) << "round " << i;
  }
}

TEST(WireFaultTest, ACrcCatchesEveryDamagedHeader) {
  Wire wire("seed=2; corrupt-header", transport::CarrierKind::kTcp, true);
  for (int i = 0; i < rounds(); ++i) {
    const auto content = pattern(1 + static_cast<std::size_t>(i) * 37 % 9000, static_cast<std::uint64_t>(i));
    ASSERT_EQ(wire.send_one(content), std::nullopt) << "round " << i;
  }
}

TEST(WireFaultTest, WithoutACrcTheDamageArrives) {
  for (const auto kind : {transport::CarrierKind::kTcp, transport::CarrierKind::kShm}) {
    Wire wire("seed=3; corrupt-payload", kind, false);
    for (int i = 0; i < 20; ++i) {
      const auto content = pattern(1 + static_cast<std::size_t>(i) * 3733, static_cast<std::uint64_t>(i));
      const auto arrived = wire.send_one(content);
      ASSERT_TRUE(arrived.has_value());
      EXPECT_EQ(differing_bits(content, *arrived), 1u) << "round " << i;
    }
  }
}

TEST(WireFaultTest, AConnectionIsDroppedWithinAMessage) {
  Wire wire("drop-connection when=within", transport::CarrierKind::kTcp, false);
  for (const std::size_t length : {1, 100, 5000, 100000}) EXPECT_EQ(wire.send_one(pattern(length, 1)), std::nullopt);
}

}  // namespace
}  // namespace softdat::simnic::testing
