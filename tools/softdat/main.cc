// SPDX-License-Identifier: BSD-2-Clause
// softdat: the command that a user runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/softdat/floor/command.h"
#include "tools/softdat/info.h"
#include "tools/softdat/mesh/command.h"
#include "tools/softdat/mesh/worker.h"
#include "tools/softdat/perf/command.h"
#include "tools/softdat/perf/worker.h"
#include "tools/softdat/quickstart.h"

int main(int argc, char** argv) {
  CLI::App app("SoftDAT: uDAPL without the HCA");
  app.require_subcommand(1);
  CLI::App* quickstart =
      app.add_subcommand("quickstart", "Let two processes of this machine do RDMA and show how fast it is");
  bool plain = false;
  quickstart->add_flag("--plain", plain, "Only lines of: transport operation bytes microseconds MB/s");
  const softdat::tools::perf::Command perf(app);
  const softdat::tools::floor::Command floor(app);
  const softdat::tools::mesh::Command mesh(app);
  const CLI::App* info = app.add_subcommand("info", "List every adapter that can be opened, and why others cannot");
  // What perf, quickstart and mesh start.
  CLI::App* worker = app.add_subcommand("perf-worker", "")->group("");
  CLI::App* mesh_worker = app.add_subcommand("mesh-worker", "")->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    if (*worker) return softdat::tools::perf::run_worker();
    if (*mesh_worker) return softdat::tools::mesh::run_worker();
    if (*info) return softdat::tools::run_info();
    if (perf.is_chosen()) return perf.run();
    if (floor.is_chosen()) return floor.run();
    if (mesh.is_chosen()) return mesh.run();
    return softdat::tools::run_quickstart(plain);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "softdat: {}\n", failure.what());
    return 1;
  }
}
