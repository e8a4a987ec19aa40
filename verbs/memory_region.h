// SPDX-License-Identifier: BSD-2-Clause
// ProtectionDomain and MemoryRegion: an ibv_pd and an ibv_mr. Addresses and lengths are bytes of this process.
//
// Ownership: the caller of Device::create_pd() or register_memory() owns them. A domain must outlive its regions, the
// device both. Destructors deregister, which waits for the device. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "hca/device.h"
#include "verbs/event_thread.h"
#include "verbs/lock_places.h"
#include "verbs/memory_table.h"

namespace softdat::verbs {

// The number tells domains apart where requests are checked (MemoryTable).
class ProtectionDomain final : public hca::ProtectionDomain {
 public:
  ProtectionDomain(Adapter& adapter, ibv_pd* pd, std::uint32_t id) : adapter_(adapter), pd_(pd), id_(id) {}
  ~ProtectionDomain() override;
  ibv_pd* pd() const { return pd_; }
  std::uint32_t id() const { return id_; }
  // A region of no use, or null when there is no memory for it; made by the first who asks. Any thread.
  ibv_mr* nothing();

 private:
  Adapter& adapter_;
  ibv_pd* const pd_;
  const std::uint32_t id_;
  base::Mutex<locks::kProtectionDomain> mutex_;
  ibv_mr* nothing_ = nullptr;  // guarded by mutex_
  alignas(64) std::byte bytes_[64] = {};
};

// Registered with the device, and in the table for as long: a poster finds in it what a key opens.
class MemoryRegion final : public hca::MemoryRegion {
 public:
  // kUnsupported: addresses from 0 that peers shall use, of a device that cannot count so.
  static hca::Result<std::unique_ptr<hca::MemoryRegion>> create(Adapter& adapter, MemoryTable& table,
                                                                const ProtectionDomain& domain, std::uint64_t address,
                                                                std::uint64_t length, hca::AccessMask access,
                                                                int device_access);
  ~MemoryRegion() override;

  std::uint32_t lkey() const override { return mr_->lkey; }
  std::uint32_t rkey() const override { return mr_->rkey; }
  // Takes the region out of the table, so that posters refuse the key; kInvalidState: a window is bound to it, or a
  // bind is posted. The device keeps it until the destructor.
  hca::Outcome revoke() override;

 private:
  MemoryRegion(Adapter& adapter, MemoryTable& table) : adapter_(adapter), table_(table) {}

  Adapter& adapter_;
  MemoryTable& table_;
  // Where nothing is registered, the device is shown this instead; its key opens nothing.
  alignas(64) std::byte nothing_[64] = {};
  ibv_mr* mr_ = nullptr;
};

}  // namespace softdat::verbs
