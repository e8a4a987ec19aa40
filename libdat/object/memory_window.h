// SPDX-License-Identifier: BSD-2-Clause
// RMR: a window that can be created, queried and freed; binding it is not offered yet.
#pragma once

#include <memory>

#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class ProtectionZone;

struct MemoryWindowParameters {
  Handle ia;
  Handle pz;
};

// Any thread.
class MemoryWindow final : public Object {
 public:
  static constexpr Kind kKind = Kind::kRmr;

  static Status create(ProtectionZone& pz, Handle& rmr);  // dat_rmr_create
  static Status free(Pin<MemoryWindow> rmr);              // dat_rmr_free
  MemoryWindowParameters query() const;                   // dat_rmr_query, unbound

 private:
  MemoryWindow(InterfaceAdapter& ia, ProtectionZone& pz);
  void detach() override;

  // Fixed after construction.
  std::shared_ptr<ProtectionZone> pz_;
};

}  // namespace softdat::object
