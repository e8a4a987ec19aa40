// SPDX-License-Identifier: BSD-2-Clause
// softdat: the command that a user runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "tools/softdat/quickstart.h"

int main(int argc, char** argv) {
  CLI::App app("SoftDAT: uDAPL without the HCA");
  app.require_subcommand(1);
  CLI::App* quickstart =
      app.add_subcommand("quickstart", "Let two processes of this machine do RDMA and show how fast it is");
  std::uint64_t listen_qual = 0;
  std::uint64_t connect_qual = 0;
  // What quickstart gives to the two processes it starts.
  auto* listen = quickstart->add_option("--listen", listen_qual)->group("");
  auto* connect = quickstart->add_option("--connect", connect_qual)->group("");
  bool plain = false;
  quickstart->add_flag("--plain", plain, "Only lines of: transport operation bytes microseconds MB/s");
  CLI11_PARSE(app, argc, argv);
  try {
    if (*listen) return softdat::tools::run_quickstart_listener(listen_qual);
    if (*connect) return softdat::tools::run_quickstart_connector(connect_qual);
    return softdat::tools::run_quickstart(plain);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "softdat: {}\n", failure.what());
    return 1;
  }
}
