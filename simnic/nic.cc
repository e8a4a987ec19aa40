// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nic.h"

#include <limits>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/fault_guard.h"
#include "base/log.h"
#include "base/timeline.h"
#include "base/unique_bytes.h"
#include "hca/request_rules.h"
#include "simnic/completion_queue.h"
#include "simnic/datagram_queue_pair.h"
#include "simnic/listener.h"
#include "simnic/memory_region.h"
#include "simnic/memory_window.h"
#include "simnic/shared_receive_queue.h"

namespace softdat::simnic {
namespace {

// One slice a segment, and a few to spare for carriers that split at their own borders.
constexpr std::uint32_t kMaxSegments = 30;
static_assert(kMaxSegments <= transport::SliceList::kCapacity);
static_assert(kMaxSegments <= std::numeric_limits<decltype(SendEntry::segment_count)>::max());

hca::DeviceAttributes own_attributes(const NicConfig& config) {
  return {.name = config.name,
          .vendor = "SoftDAT simulated HCA",
          .address = config.address,
          .max_qp = 1u << 18,
          .max_wr = 1u << 16,
          .max_sge = kMaxSegments,
          .max_cq = 1u << 18,
          .max_cqe = 1u << 20,
          .max_mr = MemoryTable::kMaxRegions - 1,
          .max_pd = 1u << 18,
          .max_mr_size = std::uint64_t{1} << 47,
          .max_message_size = 1u << 31,
          .max_ird = kMostReads,
          .max_ord = kMostReads,
          .max_private_data = transport::kMaxPrivateData,
          .max_srq = kMostSharedQueues,
          .max_srq_wr = 1u << 16,
          .max_srq_sge = kMaxSegments,
          .max_mw = MemoryTable::kMaxRegions - 1,
          .max_read_sge = kMaxSegments,
          .has_atomics = true,
          .has_immediate = true,
          .has_zero_based = true,
          .has_datagrams = true,
          .direct = config.direct_context == nullptr ? hca::DirectAccess::kNone : config.direct,
          .nasty = config.nasty};
}

hca::DeviceAttributes make_attributes(const NicConfig& config) {
  hca::DeviceAttributes attributes = own_attributes(config);
  if (config.profile != nullptr) model::apply(*config.profile, attributes);
  return attributes;
}

model::DeviceRules make_rules(const NicConfig& config) {
  return config.profile == nullptr ? model::DeviceRules{} : model::rules_of(*config.profile);
}

// Numbers come again when many queue pairs have been made; they tell, and nothing is looked up by them.
std::uint16_t to_port(std::uint32_t count) {
  return static_cast<std::uint16_t>(1 + count % 0xffff);
}

std::uint8_t pick_salt() {
  std::uint8_t salt = 0;
  base::fill_with_unique_bytes({&salt, 1});
  return salt;
}

bool is_within(const hca::QueuePairLimits& asked, const hca::DeviceAttributes& most) {
  return asked.send_wr <= most.max_wr && asked.recv_wr <= most.max_wr && asked.send_sge <= most.max_sge &&
         asked.recv_sge <= most.max_sge && asked.ird <= most.max_ird && asked.ord <= most.max_ord;
}

// Memory that grants peers nothing is not put where they could reach it.
constexpr hca::AccessMask kRemoteAccess = hca::kRemoteRead | hca::kRemoteWrite | hca::kRemoteAtomic;

// Before memory is registered, since a program may have replaced the handlers since the last time.
void guard_memory() {
  if (!base::install_fault_guard()) {
    base::log(base::LogLevel::kTrace,
              "no handlers for SIGSEGV and SIGBUS: memory that is unmapped while it is in use "
              "ends the process");
  }
}

// A service id that needs a privilege this user lacks is a bad address.
hca::Error error_of(transport::ListenError error) {
  switch (error) {
    case transport::ListenError::kAddressInUse:
      return hca::Error::kAddressInUse;
    case transport::ListenError::kNoResources:
      return hca::Error::kNoMemory;
    case transport::ListenError::kNotPermitted:
      return hca::Error::kBadAddress;
  }
  return hca::Error::kNoMemory;
}

}  // namespace

Nic::Nic(std::unique_ptr<transport::Carrier> carrier, const NicConfig& config)
    : attributes_(make_attributes(config)),
      has_profile_(config.profile != nullptr),
      rules_(make_rules(config)),
      rnr_(config.rnr),
      connect_grace_(config.connect_grace),
      port_base_(config.port_base),
      direct_context_(config.direct_context),
      memory_(pick_salt()),
      datagrams_(config.port_base),
      engine_(std::move(carrier), config.drive) {}

Nic::~Nic() {
  // No live capture may begin any more; the door itself belongs to the carrier, hence the baton.
  live_.reset();
  if (!live_door_) return;
  const Engine::Hold hold(engine_);
  live_door_.reset();
}

void Nic::allow_captures(transport::Carrier& carrier) try {
  live_ = std::make_unique<capture::LiveNic>(engine_, carrier, direct_context_.get(), attributes_.name,
                                             attributes_.address);
  const Engine::Hold hold(engine_);
  live_door_ = capture::LiveDoor::open(carrier);
} catch (const std::bad_alloc&) {
  // The process cannot be captured while it runs.
}

hca::Result<std::unique_ptr<hca::ProtectionDomain>> Nic::create_pd() {
  auto share = domains_.take();
  if (!share) return hca::fail(hca::Error::kLimitReached);
  auto domain = std::make_unique<ProtectionDomain>(last_pd_.fetch_add(1) + 1);
  domain->set_share(std::move(*share));
  return std::unique_ptr<hca::ProtectionDomain>(std::move(domain));
}

hca::Result<std::unique_ptr<hca::MemoryRegion>> Nic::register_memory(hca::ProtectionDomain& pd, std::uint64_t address,
                                                                     std::uint64_t length, hca::AccessMask access) {
  const bool wraps = length > 0 && address + (length - 1) < address;
  if (wraps || length > attributes_.max_mr_size || (access & ~hca::kRegionAccess) != 0) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if ((access & hca::kZeroBased) != 0 && !attributes_.has_zero_based) return hca::fail(hca::Error::kUnsupported);
  auto share = regions_.take();
  if (!share) return hca::fail(hca::Error::kLimitReached);
  const std::uint64_t start = (access & hca::kZeroBased) != 0 ? 0 : address;
  const MemoryGrant grant{.address = start,
                          .length = length,
                          .access = access & ~hca::AccessMask{hca::kZeroBased},
                          .domain = static_cast<ProtectionDomain&>(pd).id(),
                          .shift = address - start};
  guard_memory();
  // Open from here on. Nobody knows the key yet, and the cleanup below removes it if the region cannot be made.
  const auto key = memory_.insert(grant);
  if (!key) return hca::fail(hca::Error::kLimitReached);
  std::unique_ptr<MemoryRegion> region;
  try {
    region.reset(new MemoryRegion(engine_, memory_, direct_context_.get(), *key));
    region->set_share(std::move(*share));
  } catch (const std::bad_alloc&) {
    const Engine::Hold hold(engine_);
    memory_.remove(*key);
    return hca::fail(hca::Error::kNoMemory);
  }
  if (direct_context_ != nullptr && (grant.access & kRemoteAccess) != 0) {
    // A key that is not published (out of pages, or memory that cannot be moved) is reached by messages.
    direct_context_->publish(*key, {.address = start, .length = length, .access = grant.access, .domain = grant.domain},
                             address);
  }
  return std::unique_ptr<hca::MemoryRegion>(std::move(region));
}

hca::Result<std::unique_ptr<hca::MemoryWindow>> Nic::create_window(hca::ProtectionDomain& pd, hca::WindowScope scope,
                                                                   std::uint64_t context) {
  if (attributes_.max_mw == 0) return hca::fail(hca::Error::kUnsupported);
  auto share = windows_.take();
  if (!share) return hca::fail(hca::Error::kLimitReached);
  try {
    const std::uint32_t domain = static_cast<ProtectionDomain&>(pd).id();
    auto window = std::make_unique<MemoryWindow>(engine_, memory_, domain, scope, context);
    window->set_share(std::move(*share));
    return std::unique_ptr<hca::MemoryWindow>(std::move(window));
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

hca::Outcome Nic::check_memory(std::uint32_t lkey, std::uint64_t address, std::uint64_t length) const {
  const AccessError fault = memory_.check_range(lkey, address, length);
  if (fault != AccessError::kNone) return hca::fail(error_of(fault));
  return hca::Done{};
}

// A share counts against the limit of the device from here until the object is destroyed, or this fails.
hca::Result<std::unique_ptr<hca::CompletionQueue>> Nic::create_cq(std::size_t capacity, hca::CompletionSink& sink) {
  if (capacity > attributes_.max_cqe) return hca::fail(hca::Error::kLimitReached);
  auto share = completion_queues_.take();
  if (!share) return hca::fail(hca::Error::kLimitReached);
  try {
    auto queue = std::make_unique<CompletionQueue>(engine_, accounts_, capacity, sink);
    queue->set_share(std::move(*share), rules_.has_cq_resize);
    return std::unique_ptr<hca::CompletionQueue>(std::move(queue));
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

hca::Result<std::unique_ptr<hca::QueuePair>> Nic::create_qp(const hca::QueuePairConfig& config) {
  if (config.pd == nullptr || config.send_cq == nullptr || config.recv_cq == nullptr) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if (!is_within(config.limits, attributes_)) return hca::fail(hca::Error::kLimitReached);
  auto share = queue_pairs_.take();
  if (!share) return hca::fail(hca::Error::kLimitReached);
  try {
    const std::uint32_t number = last_qp_.fetch_add(1) + 1;
    const NicView view{.engine = engine_,
                       .memory = memory_,
                       .direct_context = direct_context_.get(),
                       // A window of narrow scope belongs to this stream, any other key to a protection domain; the bit
                       // keeps the two apart.
                       .stream = number | kStreamBit,
                       .address = attributes_.address.with_port(to_port(number + port_base_)),
                       .rnr = rnr_,
                       .connect_grace = connect_grace_};
    std::unique_ptr<QueuePair> queue_pair = make_queue_pair(view, config);
    queue_pair->set_share(std::move(*share));
    if (base::Timeline* const timeline = base::Timeline::active())
      timeline->endpoints().bind(config.context, view.address);
    return std::unique_ptr<hca::QueuePair>(std::move(queue_pair));
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

std::unique_ptr<QueuePair> Nic::make_queue_pair(const NicView& view, const hca::QueuePairConfig& config) {
  // Without a profile posts do not pay for its rules.
  if (has_profile_) return std::make_unique<RuledQueuePair>(view, config, post_rules());
  return std::unique_ptr<QueuePair>(new QueuePair(view, config));
}

hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> Nic::create_srq(const hca::SharedReceiveQueueConfig& config) {
  if (config.pd == nullptr || config.sink == nullptr || config.capacity == 0) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if (attributes_.max_srq == 0) return hca::fail(hca::Error::kUnsupported);
  if (config.capacity > attributes_.max_srq_wr || config.max_sge > attributes_.max_srq_sge) {
    return hca::fail(hca::Error::kLimitReached);
  }
  auto share = shared_queues_.take();
  if (!share) return hca::fail(hca::Error::kLimitReached);
  const auto account = accounts_.open();
  if (!account) return hca::fail(hca::Error::kLimitReached);
  try {
    auto queue =
        std::make_unique<SharedReceiveQueue>(engine_, memory_, attributes_.max_srq_wr, accounts_, *account, config);
    queue->set_share(std::move(*share), rules_.has_srq_resize);
    return std::unique_ptr<hca::SharedReceiveQueue>(std::move(queue));
  } catch (const std::bad_alloc&) {
    accounts_.close(*account);
    return hca::fail(hca::Error::kNoMemory);
  }
}

hca::Result<std::unique_ptr<hca::DatagramQueuePair>> Nic::create_datagram_qp(const hca::QueuePairConfig& config,
                                                                             hca::DatagramSink& sink) {
  if (config.pd == nullptr || config.send_cq == nullptr || config.recv_cq == nullptr) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if (!attributes_.has_datagrams) return hca::fail(hca::Error::kUnsupported);
  if (!is_within(config.limits, attributes_)) return hca::fail(hca::Error::kLimitReached);
  auto share = queue_pairs_.take();
  if (!share) return hca::fail(hca::Error::kLimitReached);
  try {
    const DatagramNicView view{.engine = engine_,
                               .memory = memory_,
                               .datagrams = datagrams_,
                               .address = attributes_.address,
                               .connect_grace = connect_grace_};
    auto queue_pair = std::make_unique<DatagramQueuePair>(view, config, sink);
    queue_pair->set_share(std::move(*share));
    if (base::Timeline* const timeline = base::Timeline::active()) timeline->endpoints().bind(config.context);
    return std::unique_ptr<hca::DatagramQueuePair>(std::move(queue_pair));
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

hca::Result<std::unique_ptr<hca::Listener>> Nic::listen(std::uint64_t service_id, std::uint32_t backlog,
                                                        hca::ListenerSink& sink) {
  try {
    auto listener = std::make_unique<Listener>(engine_, listeners_, service_id, sink);
    const auto failure = [&] {
      const Engine::Hold hold(engine_);
      return listener->open_with_baton(backlog);
    }();
    if (failure) return hca::fail(error_of(*failure));
    return std::unique_ptr<hca::Listener>(std::move(listener));
  } catch (const std::bad_alloc&) {
    return hca::fail(hca::Error::kNoMemory);
  }
}

// Not inlined into poll(), because most polls find nothing.
[[gnu::noinline]] hca::Device::Found Nic::take_waiting(CompletionQueue& queue, hca::Completion& out) {
  [[maybe_unused]] const bool is_taken = queue.take(out);
  SOFTDAT_DEBUG_CHECK(is_taken, "nobody else takes what the poller of a queue has seen in it");
  engine_.note_found();
  return Found::kAtOnce;
}

void Nic::watch(hca::DeviceSink& sink) {
  const Engine::Hold hold(engine_);
  engine_.failure_watch().add(sink);
}

void Nic::forget(hca::DeviceSink& sink) {
  {
    const Engine::Hold hold(engine_);
    engine_.failure_watch().remove(sink);
  }
  engine_.upcalls().forget(&sink);
}

}  // namespace softdat::simnic
