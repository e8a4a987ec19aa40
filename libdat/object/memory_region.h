// SPDX-License-Identifier: BSD-2-Clause
// LMR: a range of the consumer's memory that the device may use.
#pragma once

#include <cstdint>
#include <memory>

#include "hca/device.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
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

struct MemoryRegionParameters {
  Handle ia;
  Handle pz;
  std::uint64_t address;  // as asked
  std::uint64_t length;   // as asked
  std::uint32_t privileges;
  std::uint32_t lmr_context;
  std::uint32_t rmr_context;  // 0 without remote privileges
  std::uint64_t registered_address;
  std::uint64_t registered_size;
};

// Any thread.
class MemoryRegion final : public Object {
 public:
  static constexpr Kind kKind = Kind::kLmr;

  // dat_lmr_create of DAT_MEM_TYPE_VIRTUAL. LENGTH_ERROR for no bytes; INVALID_PARAMETER for a range
  // that wraps, is not mapped, or cannot be read (written, with write privileges); for unknown
  // privileges. `out` is written on success.
  static Status create(InterfaceAdapter& ia, std::uint64_t address, std::uint64_t length, ProtectionZone& pz,
                       std::uint32_t privileges, Handle& lmr, MemoryRegionParameters& out);

  // dat_lmr_free. When it has returned, nobody touches the memory through this LMR.
  static Status free(Pin<MemoryRegion> lmr);

  const MemoryRegionParameters& query() const { return parameters_; }  // dat_lmr_query

 private:
  MemoryRegion(InterfaceAdapter& ia, ProtectionZone& pz);
  void detach() override;

  // Fixed after create().
  std::shared_ptr<ProtectionZone> pz_;
  std::unique_ptr<hca::MemoryRegion> region_;
  MemoryRegionParameters parameters_{};
};

}  // namespace softdat::object
