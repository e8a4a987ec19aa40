// SPDX-License-Identifier: BSD-2-Clause
// The side that does what a client tells it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/control.h"
#include "tools/softdat/perf/json.h"
#include "tools/softdat/perf/lanes.h"
#include "tools/softdat/perf/plan.h"

namespace softdat::tools::perf {

class Server {
 public:
  explicit Server(const Job& job);

  // Serves one client until it goes. Calls `on_listening` with our IP address as soon as it may come.
  void serve(const std::function<void(const std::string& address)>& on_listening);

 private:
  void accept();
  void accept_lanes();
  void accept_thread(const Hello& hello);
  Report serve_case(const Case& what);
  void serve_latency(const Case& what);
  void serve_stream(const Case& what, Report& report);
  void serve_connect(const Case& what);
  void serve_idle(Report& report);
  void say_ready();
  // Until the client says that the case has ended.
  void be_target();

  Adapter adapter_;
  Control control_;
  EventQueue requests_;  // connection requests, and what becomes of the connections of Churn
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
  std::vector<std::unique_ptr<Lanes>> lanes_;  // of each thread; the first one's is also that of all other measures
  Setup setup_;
  Report memory_;
};

}  // namespace softdat::tools::perf
