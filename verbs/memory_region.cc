// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/memory_region.h"

#include <cerrno>

#include "base/uncancelled.h"
#include "verbs/status.h"

namespace softdat::verbs {

ProtectionDomain::~ProtectionDomain() {
  const base::Uncancelled guard;
  if (nothing_ != nullptr) adapter_.library().objects.dereg_mr(nothing_);
  adapter_.library().objects.dealloc_pd(pd_);
}

ibv_mr* ProtectionDomain::nothing() {
  const std::lock_guard lock(mutex_);
  if (nothing_ == nullptr) {
    nothing_ = adapter_.library().objects.reg_mr_iova(pd_, bytes_, sizeof bytes_,
                                                      reinterpret_cast<std::uintptr_t>(bytes_), IBV_ACCESS_MW_BIND);
  }
  return nothing_;
}

// A device knows no region without bytes.
hca::Result<std::unique_ptr<hca::MemoryRegion>> MemoryRegion::create(Adapter& adapter, MemoryTable& table,
                                                                     const ProtectionDomain& domain,
                                                                     std::uint64_t address, std::uint64_t length,
                                                                     hca::AccessMask access, int device_access) {
  std::unique_ptr<MemoryRegion> self(new MemoryRegion(adapter, table));
  const bool is_empty = length == 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses cross the port as numbers.
  void* const bytes = is_empty ? self->nothing_ : reinterpret_cast<void*>(address);
  const std::uint64_t first = is_empty ? reinterpret_cast<std::uintptr_t>(bytes) : address;
  self->mr_ = adapter.library().objects.reg_mr_iova(domain.pd(), bytes, is_empty ? sizeof nothing_ : length, first,
                                                    is_empty ? 0 : device_access);
  if (self->mr_ == nullptr) return hca::fail(error_of(errno));
  table.insert({.address = address,
                .length = length,
                .access = access,
                .domain = domain.id(),
                .lkey = self->mr_->lkey,
                .rkey = self->mr_->rkey,
                .mr = self->mr_});
  return std::unique_ptr<hca::MemoryRegion>(std::move(self));
}

MemoryRegion::~MemoryRegion() {
  if (mr_ == nullptr) return;
  const base::Uncancelled guard;
  // Before the device forgets the key, because it may give the key to a new region at once.
  table_.remove(mr_->lkey);
  adapter_.library().objects.dereg_mr(mr_);
}

hca::Outcome MemoryRegion::revoke() {
  return table_.revoke(mr_->lkey) ? hca::Outcome(hca::Done{}) : hca::fail(hca::Error::kInvalidState);
}

}  // namespace softdat::verbs
