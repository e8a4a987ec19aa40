// SPDX-License-Identifier: BSD-2-Clause
// The streams of one side: one for each of its threads, all at the same time. The calling thread runs the first.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "tools/softdat/perf/stream.h"

namespace softdat::tools::perf {

class Streams {
 public:
  // Whether messages go from, and to, this side.
  struct Directions {
    bool sends;
    bool receives;
  };
  // `lanes`: of each thread; they outlive it. `check` is called by the calling thread alone.
  Streams(const std::vector<std::unique_ptr<Lanes>>& lanes, const Case& what, Directions directions,
          const LivenessCheck& check);

  // As those of Stream. run() returns, or throws, when all threads have ended.
  void prepare();
  void run();
  void look_at_last();

 private:
  std::deque<Stream> streams_;
};

}  // namespace softdat::tools::perf
