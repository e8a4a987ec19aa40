// SPDX-License-Identifier: BSD-2-Clause
// The side that says what is done and holds the clock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/control.h"
#include "tools/softdat/perf/json.h"
#include "tools/softdat/perf/lanes.h"
#include "tools/softdat/perf/plan.h"
#include "tools/softdat/perf/result.h"

namespace softdat::tools::perf {

class Client {
 public:
  // Connects to the job's server, with every endpoint.
  explicit Client(const Job& job);

  Result measure(const Case& what);
  // Lets the server go.
  void finish();

 private:
  void resolve(const std::string& host);
  void connect_lanes();
  void connect_thread();

  // Measure as often as the case's duration needs, after warming up.
  Result measure_long_enough(const Case& what);
  Result measure_once(const Case& what);
  void run(const Case& what, Result& result);
  void measure_latency(const Case& what, Result& result);
  void measure_stream(const Case& what, Result& result);
  void measure_registrations(const Case& what, Result& result);
  void measure_connect(const Case& what, Result& result);
  void measure_idle(const Case& what, Result& result);
  void measure_open(const Case& what, Result& result);
  void measure_poll(const Case& what, Result& result);
  void tell_memory(const Case& what, Result& result);
  // Asks the server to take part; and tells it that this is over, which it answers.
  void begin(const Case& what);
  Report end();

  const Job job_;
  Adapter adapter_;
  DAT_SOCK_ADDR6 address_{};  // of the server; large enough for either family
  Control control_;
  std::vector<std::unique_ptr<Lanes>> lanes_;  // of each thread; the first one's is also that of all other measures
  double bytes_per_endpoint_ = 0;
  double files_per_endpoint_ = 0;
};

}  // namespace softdat::tools::perf
