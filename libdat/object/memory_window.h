// SPDX-License-Identifier: BSD-2-Clause
// RMR: a memory window, which gives peers access to a part of an LMR.
#pragma once

#include <cstdint>
#include <memory>

#include "hca/device.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class ProtectionZone;

// Numbered as DAT_RMR_SCOPE.
enum class WindowScope : std::uint8_t { kEndpoint = 0, kZone = 1 };

struct MemoryWindowParameters {
  Handle ia;
  Handle pz;
  WindowScope scope;
  // All zero if the RMR is not bound.
  std::uint32_t lmr_context;
  std::uint64_t address;
  std::uint64_t length;
  std::uint32_t privileges;
  std::uint32_t rmr_context;
  bool is_zero_based;
};

// The arguments of dat_rmr_bind.
struct WindowBind {
  std::uint32_t lmr_context;
  std::uint64_t address;
  std::uint64_t length;  // 0: unbind
  std::uint32_t privileges;
  bool is_zero_based;
};

// Any thread.
class MemoryWindow final : public Object {
 public:
  static constexpr Kind kKind = Kind::kRmr;

  static Status create(ProtectionZone& pz, WindowScope scope, Handle& rmr);  // dat_rmr_create, _create_for_ep
  // dat_rmr_free, bound or not. After the return no peer has access through it.
  static Status free(Pin<MemoryWindow> rmr);
  // dat_rmr_query. The binding of the last bind that was carried out, until a peer's send invalidates its context or
  // the flush of the connection takes the bind back.
  MemoryWindowParameters query() const;

  // --- For the other objects of this room ---
  hca::Device& device() const;
  hca::MemoryWindow& window() const { return *window_; }

 private:
  MemoryWindow(InterfaceAdapter& ia, ProtectionZone& pz, WindowScope scope);
  void detach() override;

  // Fixed after create().
  std::shared_ptr<ProtectionZone> pz_;
  const WindowScope scope_;
  std::unique_ptr<hca::MemoryWindow> window_;
};

}  // namespace softdat::object
