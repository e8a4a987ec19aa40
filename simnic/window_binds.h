// SPDX-License-Identifier: BSD-2-Clause
// WindowBinds: the binds of memory windows among the requests of a queue pair. No message carries them: this side
// carries a bind out when everything before it was sent.
//
// Guarded by the queue pair's lane, and the baton. The entry of a bind holds a reference to its WindowState from its
// posting until finish().
#pragma once

#include <cstdint>

#include "simnic/memory_table.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

class WindowBinds {
 public:
  // `table` outlives it.
  explicit WindowBinds(MemoryTable& table) : table_(table) {}

  // A connection begins. No bind from this request on has been carried out.
  void begin(std::uint64_t first) { end_ = first; }
  // Opens the key that was reserved when the bind was posted, and removes the one that the window had. Does nothing if
  // the bind was carried out before, which the peer's wish for a repetition brings up again. False: the region has
  // gone.
  [[nodiscard]] bool carry_out(const SendEntry& bind, std::uint64_t number);
  // The bind completes or is dropped. Unless `is_success`, it has bound nothing: its key is removed, even if it had
  // been carried out. Returns the window's context.
  std::uint64_t finish(const SendEntry& bind, std::uint64_t number, bool is_success);

 private:
  bool open(const SendEntry& bind);

  MemoryTable& table_;
  std::uint64_t end_ = 0;  // binds before this request have been carried out
};

}  // namespace softdat::simnic
