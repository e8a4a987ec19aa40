// SPDX-License-Identifier: BSD-2-Clause
// Nic: the simulated HCA, an hca::Device in user space.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "hca/datagram.h"
#include "hca/receive_accounts.h"
#include "simnic/capture/live.h"
#include "simnic/capture/live_door.h"
#include "simnic/completion_queue.h"
#include "simnic/datagram_switch.h"
#include "simnic/direct/direct_context.h"
#include "simnic/engine.h"
#include "simnic/listener_table.h"
#include "simnic/memory_table.h"
#include "simnic/model/device_rules.h"
#include "simnic/queue_pair.h"
#include "simnic/quota.h"
#include "simnic/rnr_policy.h"
#include "simnic/ruled_queue_pair.h"
#include "transport/carrier.h"

namespace softdat::simnic {

// At a time, those included whose completions have not been polled.
inline constexpr hca::ReceiveAccounts::Number kMostSharedQueues = 4095;

struct NicConfig {
  std::string name = "sim0";
  base::IpAddress address{.ipv4 = 0x7f000001};  // what peers know us by
  RnrPolicy rnr = RnrPolicy::kWait;
  Drive drive = Drive::kThread;
  base::Duration connect_grace = base::Duration::zero();            // as NicOptions
  std::shared_ptr<direct::DirectContext> direct_context = nullptr;  // as the carrier's; null: no direct access
  hca::DirectAccess direct = hca::DirectAccess::kNone;              // what direct_context does, as the consumer is told
  std::uint64_t nasty = 0;                                          // as NicOptions, for the attributes
  std::uint32_t port_base =
      0;  // added to the ports of queue pairs, which begin at 2, and to the numbers of those for datagrams
  std::shared_ptr<const model::Profile> profile = nullptr;  // the device that is simulated; null: none in particular
};

class Nic : public hca::Device, public hca::DatagramDevice {
 public:
  Nic(std::unique_ptr<transport::Carrier> carrier, const NicConfig& config);
  ~Nic() override;

  const hca::DeviceAttributes& attributes() const override { return attributes_; }
  hca::Result<std::unique_ptr<hca::ProtectionDomain>> create_pd() override;
  // kInvalidArgument when the range wraps or a right is unknown. Whether it is mapped is not looked
  // at.
  hca::Result<std::unique_ptr<hca::MemoryRegion>> register_memory(hca::ProtectionDomain& pd, std::uint64_t address,
                                                                  std::uint64_t length,
                                                                  hca::AccessMask access) override;
  hca::Result<std::unique_ptr<hca::MemoryWindow>> create_window(hca::ProtectionDomain& pd, hca::WindowScope scope,
                                                                std::uint64_t context) override;
  hca::Outcome check_memory(std::uint32_t lkey, std::uint64_t address, std::uint64_t length) const override;
  hca::Result<std::unique_ptr<hca::CompletionQueue>> create_cq(std::size_t capacity,
                                                               hca::CompletionSink& sink) override;
  hca::Result<std::unique_ptr<hca::QueuePair>> create_qp(const hca::QueuePairConfig& config) override;
  hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> create_srq(
      const hca::SharedReceiveQueueConfig& config) override;
  hca::Result<std::unique_ptr<hca::DatagramQueuePair>> create_datagram_qp(const hca::QueuePairConfig& config,
                                                                          hca::DatagramSink& sink) override;
  std::uint32_t max_datagram() const override { return kMaxDatagram; }
  hca::Result<std::unique_ptr<hca::Listener>> listen(std::uint64_t service_id, std::uint32_t backlog,
                                                     hca::ListenerSink& sink) override;
  void watch(hca::DeviceSink& sink) override;
  void forget(hca::DeviceSink& sink) override;
  // From now on `softdat capture` may ask for a capture. `carrier` is the one that moves the bytes: the NIC's, or
  // behind it. Called once, before the consumer has the NIC. Does nothing where that is not possible.
  void allow_captures(transport::Carrier& carrier);
  bool progress() final { return engine_.progress(); }
  bool progress_for(const void* queue) final { return engine_.progress(queue); }
  Found poll(hca::CompletionQueue& queue, hca::Completion& out) final {
    auto& own = static_cast<CompletionQueue&>(queue);
    if (!own.ring().looks_empty()) return take_waiting(own, out);
    if (engine_.is_empty_poll()) return Found::kNothing;
    return engine_.take_by_progress(own, out);
  }
  base::WakeReason sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) final {
    return engine_.sleep(count, ticket, deadline);
  }

  // For Drive::kByHand: lets time pass to `now` and does what is due. Returns how many things.
  std::size_t turn(base::Time now, Haste haste = Haste::kEager) { return engine_.turn(now, haste); }

 protected:
  Engine& engine() { return engine_; }
  // What posts may ask for.
  PostRules post_rules() const { return post_rules_of(rules_, attributes_); }

 private:
  Found take_waiting(CompletionQueue& queue, hca::Completion& out);
  // Throws std::bad_alloc.
  virtual std::unique_ptr<QueuePair> make_queue_pair(const NicView& view, const hca::QueuePairConfig& config);

  // Fixed after construction.
  const hca::DeviceAttributes attributes_;
  const bool has_profile_;
  const model::DeviceRules rules_;
  const RnrPolicy rnr_;
  const base::Duration connect_grace_;
  const std::uint32_t port_base_;
  const std::shared_ptr<direct::DirectContext> direct_context_;
  std::atomic<std::uint32_t> last_pd_{0};
  std::atomic<std::uint32_t> last_qp_{0};
  // Each counts the live objects of its kind.
  Quota queue_pairs_{attributes_.max_qp};  // those for datagrams too
  Quota completion_queues_{attributes_.max_cq};
  Quota regions_{attributes_.max_mr};
  Quota windows_{attributes_.max_mw};
  Quota domains_{attributes_.max_pd};
  Quota shared_queues_{attributes_.max_srq};
  MemoryTable memory_;
  hca::ReceiveAccounts accounts_{kMostSharedQueues};
  // Owned by the baton.
  ListenerTable listeners_;
  DatagramSwitch datagrams_;
  std::unique_ptr<capture::LiveDoor> live_door_;
  std::unique_ptr<capture::LiveNic> live_;  // set by allow_captures()
  Engine engine_;                           // last: its thread uses the rest
};

}  // namespace softdat::simnic
