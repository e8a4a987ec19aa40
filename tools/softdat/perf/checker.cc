// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/checker.h"

#include <dat2/dat_ib_extensions.h>
#include <fmt/format.h>

#include <cstring>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/foreign_memory.h"
#include "tools/softdat/perf/pattern.h"

namespace softdat::tools::perf {

// Kept out of the timed loops, which run without --verify.
[[gnu::noinline]] void Checker::write(std::uint64_t number, std::uint64_t size) {
  fill_pattern(lanes_.places().outgoing(number), size - 1, number);
}

void Checker::write_all_outgoing(std::uint64_t size) {
  if (!verify_) return;
  const std::uint64_t places = lanes_.places().count();
  for (std::uint64_t slot = 0; slot < places; ++slot) {
    fill_pattern(lanes_.places().outgoing_slot(slot), size - 1, slot);
  }
}

[[gnu::noinline]] void Checker::look(std::uint64_t number, std::uint64_t seed, std::uint64_t size) {
  const auto difference = find_difference(lanes_.places().incoming(number), size - 1, seed);
  if (!difference) return;
  throw Failure(fmt::format("message {} (endpoint {}, {} bytes) is wrong from byte {} on", number,
                            lanes_.places().lane_of(number), size, *difference));
}

[[gnu::noinline]] void Checker::look_at_immediate(const DAT_EVENT& event, std::uint64_t number) {
  DAT_IB_EXTENSION_EVENT_DATA data;
  std::memcpy(&data, event.event_extension_data, sizeof data);
  const auto expected = static_cast<DAT_UINT32>(number);
  if (data.type == DAT_IB_RDMA_WRITE_IMMED_DATA && data.val.immed.data == expected) return;
  throw Failure(fmt::format("a write with immediate data {} came with {}", expected, data.val.immed.data));
}

void Checker::look_at_fetched(Operation operation, std::uint64_t number, std::uint64_t size) {
  if (!verify_) return;
  if (!is_atomic(operation)) return look(number, lanes_.places().slot_of(number), size);
  // Atomics count a word up by one, so the n-th must find n.
  const std::uint64_t found = foreign_word(lanes_.places().incoming(number));
  if (found == lanes_.places().turn_of(number)) return;
  throw Failure(fmt::format("{} number {} on endpoint {} found {}", to_text(operation), lanes_.places().turn_of(number),
                            lanes_.places().lane_of(number), found));
}

}  // namespace softdat::tools::perf
