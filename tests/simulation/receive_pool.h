// SPDX-License-Identifier: BSD-2-Clause
// What a simulation posts, and the shared receive queue of a host beside a model of it: each receive
// is taken once, in the order posted, and owed until its completion has been polled.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/simnic/world.h"

namespace softdat::simnic::simulation {

using testing::Host;
using testing::Memory;
using Random = std::mt19937_64;

// Up to `most`, 0 included.
inline std::size_t pick(Random& random, std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(0, most)(random);
}
inline bool chance(Random& random, std::size_t one_in) {
  return pick(random, one_in - 1) == 0;
}

enum class Kind { kSend, kWrite, kRead, kRecv, kWriteImmediate, kAtomic, kBind };

struct Work {
  std::uint64_t wr_id;
  Kind kind;
  bool is_signaled = true;
  bool is_forbidden = false;  // must not succeed
  bool is_revoked = false;    // may fail by want of its memory
  std::vector<std::byte> expected;
  std::uint64_t operand = 0;  // of an atomic, and what a write's immediate data is
  std::unique_ptr<Memory> local;
  std::unique_ptr<Memory> remote;
  std::unique_ptr<hca::MemoryWindow> window;  // of a bind; or the way into `remote`
  std::uint32_t key = 0;                      // of the window
};

class ReceivePool final : public hca::SharedReceiveQueueSink {
 public:
  ReceivePool(Host& host, Random& random);

  hca::SharedReceiveQueue& queue() { return *srq_; }
  void post(Work work, const testing::Segments& segments);
  // Posts nothing: resizes, or sets a limit.
  void meddle(Random& random);
  void revoke_something(Random& random);

  // The receive that has completed; nothing for a number that was not posted, or completed before.
  std::unique_ptr<Work> take(std::uint64_t wr_id);
  // When every queue pair's completions have been polled: the first deviation, or nothing.
  std::string check() const;

 private:
  void on_low() override { ++told_; }

  std::unique_ptr<hca::SharedReceiveQueue> srq_;
  std::uint64_t next_wr_ = 1;
  std::map<std::uint64_t, Work> owed_;
  int armed_ = 0;
  int told_ = 0;
};

}  // namespace softdat::simnic::simulation
