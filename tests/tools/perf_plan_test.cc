// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/json.h"
#include "tools/softdat/perf/plan.h"
#include "tools/softdat/perf/result.h"

namespace softdat::tools::perf {
namespace {

using Asked = Setup;  // gtest has a Setup, too

Asked asked_for(const std::function<void(Asked&)>& change) {
  Asked setup{.endpoints = 8, .active = 8, .depth = 128, .window = 32, .max_size = 4096};
  change(setup);
  return setup;
}

Asked told(const Asked& setup) {
  return decode_hello(encode(Hello{setup, {}})).setup;
}

TEST(PerfHelloTest, WhatACommandLineCanAskForIsTaken) {
  EXPECT_EQ(told(asked_for([](Asked&) {})).max_size, 4096u);
  EXPECT_EQ(told(asked_for([](Asked& setup) { setup.active = 1; })).active, 1u);
  const Asked most =
      asked_for([](Asked& setup) { setup.endpoints = kMostEndpoints, setup.depth = 16384, setup.window = 16384; });
  EXPECT_EQ(told(most).endpoints, kMostEndpoints);
}

// A server makes what its client asks for, so it must not ask for more than a command line can, nor divide by 0.
TEST(PerfHelloTest, AnotherSetupIsRefused) {
  const std::vector<std::function<void(Asked&)>> changes{
      [](Asked& setup) { setup.endpoints = 0; }, [](Asked& setup) { setup.endpoints = kMostEndpoints + 1; },
      [](Asked& setup) { setup.active = 0; }, [](Asked& setup) { setup.active = 9; },
      [](Asked& setup) { setup.depth = 0; }, [](Asked& setup) { setup.depth = kMostDepth + 1; },
      [](Asked& setup) { setup.window = 0; }, [](Asked& setup) { setup.window = 129; },
      [](Asked& setup) { setup.max_size = 0; }, [](Asked& setup) { setup.max_size = kLargestMessage + 1; },
      [](Asked& setup) { setup.pause_us = kMostPause + 1; },
      [](Asked& setup) { setup.polls_first = kMostFirstPolls + 1; },
      [](Asked& setup) { setup.event_queues = kMostEventQueues + 1; }, [](Asked& setup) { setup.threads = 0; },
      [](Asked& setup) { setup.threads = kMostThreads + 1; },
      [](Asked& setup) { setup.endpoints = kMostEndpoints / 2 + 1, setup.threads = 2; },
      // 2^32 completions, which are 0 in 32 bits.
      [](Asked& setup) { setup.endpoints = setup.active = setup.depth = 65'536; }};
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_THROW(told(asked_for(changes[i])), Failure) << i;
}

TEST(PerfCaseTest, OneThatDoesNotFitTheSetupIsRefused) {
  const Asked setup = asked_for([](Asked&) {});
  const auto take = [&](const Case& what) { return decode_case(encode(what), setup); };
  EXPECT_EQ(take({.size = 4096, .window = 32}).size, 4096u);
  EXPECT_THROW(take({.size = 4097, .window = 32}), Failure);
  EXPECT_THROW(take({.size = std::uint64_t{1} << 40, .window = 32}), Failure);
  EXPECT_THROW(take({.size = 0, .window = 32}), Failure);
  EXPECT_THROW(take({.size = 8, .window = 33}), Failure);
  EXPECT_THROW(take({.size = 8, .window = 0}), Failure);
  EXPECT_THROW(take({.size = 8, .window = 32, .signal_every = 0}), Failure);
}

TEST(PerfResultTest, RatesOfPairsAddUpAndOtherFiguresAreAveraged) {
  Result one, other;
  one.figures = {{kConnectionRate, 1000}, {"cpu_percent", 2}};
  one.messages_per_s = 10;
  other.figures = {{kConnectionRate, 3000}, {"cpu_percent", 4}};
  other.messages_per_s = 30;
  const Result whole = merge({one, other});
  EXPECT_DOUBLE_EQ(whole.figures.at(kConnectionRate), 4000);
  EXPECT_DOUBLE_EQ(whole.figures.at("cpu_percent"), 3);
  EXPECT_DOUBLE_EQ(whole.messages_per_s, 40);
}

}  // namespace
}  // namespace softdat::tools::perf
