// SPDX-License-Identifier: BSD-2-Clause
// FaultyNic: a NIC with a fault plan. Calls that create may fail, queue pairs are FaultyQueuePairs, and the carrier is
// a FaultyCarrier. Without a plan there is a plain Nic, so faults cost nothing.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "simnic/fault/faulty_carrier.h"
#include "simnic/lock_places.h"
#include "simnic/nic.h"

namespace softdat::simnic::fault {

class FaultyNic final : public Nic {
 public:
  // REQUIRES: config.direct_context is null. Direct access would pass the carrier by.
  FaultyNic(std::unique_ptr<transport::Carrier> carrier, const NicConfig& config,
            std::shared_ptr<const Injector> injector);

  hca::Result<std::unique_ptr<hca::ProtectionDomain>> create_pd() override;
  hca::Result<std::unique_ptr<hca::MemoryRegion>> register_memory(hca::ProtectionDomain& pd, std::uint64_t address,
                                                                  std::uint64_t length,
                                                                  hca::AccessMask access) override;
  hca::Result<std::unique_ptr<hca::MemoryWindow>> create_window(hca::ProtectionDomain& pd, hca::WindowScope scope,
                                                                std::uint64_t context) override;
  hca::Result<std::unique_ptr<hca::CompletionQueue>> create_cq(std::size_t capacity,
                                                               hca::CompletionSink& sink) override;
  hca::Result<std::unique_ptr<hca::QueuePair>> create_qp(const hca::QueuePairConfig& config) override;
  hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> create_srq(
      const hca::SharedReceiveQueueConfig& config) override;
  hca::Result<std::unique_ptr<hca::Listener>> listen(std::uint64_t service_id, std::uint32_t backlog,
                                                     hca::ListenerSink& sink) override;
  WaitFate decide_wait(bool has_end) override;

 private:
  std::unique_ptr<QueuePair> make_queue_pair(const NicView& view, const hca::QueuePairConfig& config) override;
  // Why the creation is to fail, if it is.
  std::optional<hca::Error> decide(base::FaultOp op, std::uint64_t size = 0);

  FaultyCarrier* carrier_ = nullptr;  // the engine's; fixed after construction
  const std::shared_ptr<const Injector> injector_;
  base::Mutex<locks::kFaultyNic> mutex_;  // guards the rest
  std::map<base::FaultOp, std::uint64_t> created_;
  Counts counts_{};
  std::uint64_t waits_ = 0;
};

}  // namespace softdat::simnic::fault
