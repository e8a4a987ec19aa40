// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "hca/device.h"
#include "simnic/direct/direct_context.h"
#include "simnic/quota.h"

namespace softdat::simnic {

class Engine;
class MemoryTable;

class ProtectionDomain final : public hca::ProtectionDomain {
 public:
  explicit ProtectionDomain(std::uint32_t id) : id_(id) {}
  std::uint32_t id() const { return id_; }
  void set_share(Share share) { share_ = std::move(share); }

 private:
  const std::uint32_t id_;
  Share share_;  // set by the maker
};

// Owns one key of the table. Its destructor takes the baton, removes the key, and takes each lane that posters may hold
// (LaneList::await_posters). Carriers keep no pointers from one call to the next, so no message uses the memory after
// that. Then it waits, without the baton, for peers and own threads that access the memory directly.
class MemoryRegion final : public hca::MemoryRegion {
 public:
  // `direct_context` may be null.
  MemoryRegion(Engine& engine, MemoryTable& table, direct::DirectContext* direct_context, std::uint32_t key)
      : engine_(engine), table_(table), direct_context_(direct_context), key_(key) {}
  ~MemoryRegion() override;

  std::uint32_t lkey() const override { return key_; }
  std::uint32_t rkey() const override { return key_; }
  hca::Outcome revoke() override;
  void set_share(Share share) { share_ = std::move(share); }

 private:
  void withdraw_with_baton();
  void await_peers();

  Engine& engine_;
  MemoryTable& table_;
  direct::DirectContext* const direct_context_;
  const std::uint32_t key_;
  bool is_revoked_ = false;  // owned by the baton
  // Written with the baton, read by the thread that wrote it.
  std::optional<direct::Withdrawn> withdrawn_;
  Share share_;  // set by the maker
};

}  // namespace softdat::simnic
