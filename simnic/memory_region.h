// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "hca/device.h"

namespace softdat::simnic {

class Engine;
class MemoryTable;

class ProtectionDomain final : public hca::ProtectionDomain {
 public:
  explicit ProtectionDomain(std::uint32_t id) : id_(id) {}
  std::uint32_t id() const { return id_; }

 private:
  const std::uint32_t id_;
};

// Owns one key of the table. Its destructor takes the baton: carriers keep no pointers across
// calls, so when it returns nobody can be within the memory or come back to it.
class MemoryRegion final : public hca::MemoryRegion {
 public:
  MemoryRegion(Engine& engine, MemoryTable& table, std::uint32_t key) : engine_(engine), table_(table), key_(key) {}
  ~MemoryRegion() override;

  std::uint32_t lkey() const override { return key_; }
  std::uint32_t rkey() const override { return key_; }
  hca::Outcome revoke() override;

 private:
  Engine& engine_;
  MemoryTable& table_;
  const std::uint32_t key_;
  bool is_revoked_ = false;  // owned by the baton
};

}  // namespace softdat::simnic
