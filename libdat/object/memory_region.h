// SPDX-License-Identifier: BSD-2-Clause
// LMR: a registered range of the consumer's memory.
#pragma once

#include <cstdint>
#include <memory>

#include "hca/device.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/shared_memory_claim.h"
#include "libdat/object/status.h"

namespace softdat::object {

class ProtectionZone;

// Numbered as DAT_MEM_PRIV_FLAGS (kRemoteAtomic: the IB extension of DAT 2.0).
enum Privilege : std::uint32_t {
  kLocalReadPrivilege = 0x01,
  kRemoteReadPrivilege = 0x02,
  kLocalWritePrivilege = 0x10,
  kRemoteWritePrivilege = 0x20,
  kRemoteAtomicPrivilege = 0x40,
  kAllPrivileges = 0x73,
};

// Numbered as DAT_MEM_TYPE. The last is Solaris' own name for the first, of DAT 1.2 alone.
enum class MemoryType : std::uint8_t { kVirtual = 0, kLmr = 1, kSharedVirtual = 2, kStrongVirtual = 3 };

class MemoryRegion;

// The arguments of dat_lmr_create.
struct Registration {
  MemoryType type = MemoryType::kVirtual;
  std::uint64_t address = 0;             // unless kLmr
  std::uint64_t length = 0;              // unless kLmr
  const MemoryRegion* source = nullptr;  // kLmr: the LMR whose memory it is; pinned by the caller
  SharedCookie cookie{};                 // kSharedVirtual
  std::uint32_t privileges = 0;
  bool is_zero_based = false;
};

struct MemoryRegionParameters {
  Handle ia;
  Handle pz;
  MemoryType type;
  Handle source;               // kLmr; may have been freed since
  const SharedCookie* cookie;  // kSharedVirtual; valid until the LMR is freed
  std::uint64_t address;       // as asked, or the source's
  std::uint64_t length;        // as asked, or the source's
  std::uint32_t privileges;
  bool is_zero_based;
  std::uint32_t lmr_context;
  std::uint32_t rmr_context;  // 0 without remote privileges
  std::uint64_t registered_address;
  std::uint64_t registered_size;
};

// Any thread.
class MemoryRegion final : public Object {
 public:
  static constexpr Kind kKind = Kind::kLmr;

  // dat_lmr_create. Writes `lmr` and `out` on success only. LENGTH_ERROR: no bytes. INVALID_PARAMETER: the range wraps,
  // is not mapped, or cannot be read (with write privileges: written), or a privilege is unknown. INVALID_STATE:
  // kSharedVirtual memory that is not shared, or other memory than was registered under the same cookie.
  // INVALID_HANDLE: the source belongs to another adapter.
  static Status create(InterfaceAdapter& ia, ProtectionZone& pz, const Registration& registration, Handle& lmr,
                       MemoryRegionParameters& out);

  // dat_lmr_free. After the return neither the adapter nor a peer accesses the memory through this LMR. INVALID_STATE
  // while an RMR is bound to it or a bind to it is posted.
  static Status free(Pin<MemoryRegion> lmr);

  const MemoryRegionParameters& query() const { return parameters_; }  // dat_lmr_query

  // --- For the other objects of this room ---
  hca::Device& device() const;

  // The remote rights among DAT's privileges.
  static hca::AccessMask remote_access(std::uint32_t privileges);

 private:
  MemoryRegion(InterfaceAdapter& ia, ProtectionZone& pz);
  Status claim_memory(const Registration& registration);
  Status register_memory(const Registration& registration);
  void detach() override;

  // Fixed after create().
  std::shared_ptr<ProtectionZone> pz_;
  std::unique_ptr<SharedMemoryClaim> claim_;  // kSharedVirtual
  std::unique_ptr<hca::MemoryRegion> region_;
  MemoryRegionParameters parameters_{};
};

}  // namespace softdat::object
