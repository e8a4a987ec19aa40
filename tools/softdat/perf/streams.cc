// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/streams.h"

#include <fmt/format.h>

#include <future>
#include <system_error>

#include "tools/softdat/dat_call.h"

namespace softdat::tools::perf {

// The other threads learn of a peer that has died by its broken connections.
Streams::Streams(const std::vector<std::unique_ptr<Lanes>>& lanes, const Case& what, Directions directions,
                 const LivenessCheck& check) {
  for (const auto& each : lanes) {
    streams_.emplace_back(*each, what, directions.sends, directions.receives,
                          streams_.empty() ? check : LivenessCheck([] {}));
  }
}

void Streams::prepare() {
  for (Stream& stream : streams_) stream.prepare();
}

void Streams::run() {
  std::vector<std::future<void>> others;
  try {
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      others.push_back(std::async(std::launch::async, [&stream = streams_[i]] { stream.run(); }));
    }
  } catch (const std::system_error& error) {
    throw Failure(fmt::format("starting thread {}: {}; lower --threads", others.size() + 2, error.code().message()));
  }
  streams_.front().run();
  for (std::future<void>& other : others) other.get();
}

void Streams::look_at_last() {
  for (Stream& stream : streams_) stream.look_at_last();
}

}  // namespace softdat::tools::perf
