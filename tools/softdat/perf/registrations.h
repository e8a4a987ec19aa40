// SPDX-License-Identifier: BSD-2-Clause
// Writes whose memory is registered for each of them and freed behind it, several at a time, as message-passing
// libraries send large messages. Owned by a client; the Adapter and the Lanes must outlive it. One thread calls. Throws
// Failure for a call that is refused, and std::bad_alloc.
#pragma once

#include <dat2/udat.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/event_queue.h"
#include "tools/softdat/perf/lanes.h"

namespace softdat::tools::perf {

class Registrations {
 public:
  // Takes memory and touches it, which is not to be timed. Fresh: each message leaves from memory that was never
  // registered before; so there are no more messages than a quarter of a GiB holds. Else as many places as messages
  // under way are used in turns. Each place begins at a page of its own.
  Registrations(const Adapter& adapter, Lanes& lanes, const Case& what, LivenessCheck check);
  ~Registrations();
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;

  // How many messages run() sends.
  std::uint64_t count() const { return count_; }
  // Sends them all, and returns when the last one has completed and its memory is freed.
  void run();

 private:
  void begin(std::uint64_t number);
  void end_one();

  const Adapter& adapter_;
  Lanes& lanes_;
  const Case what_;
  const LivenessCheck check_;
  const std::uint64_t count_;
  const std::uint64_t places_;
  const std::size_t step_;  // from one place to the next
  std::uint8_t* const memory_;
  std::vector<DAT_LMR_HANDLE> regions_;  // of the messages under way, by number modulo window
};

}  // namespace softdat::tools::perf
