// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/metrics_command.h"

#include <fmt/format.h>

#include "tools/softdat/observe/listen.h"
#include "tools/softdat/observe/metrics.h"
#include "tools/softdat/output.h"

namespace softdat::tools::observe {
namespace {

constexpr const char* kMetricsFooter =
    "Without --listen it prints once. With sockets from systemd (LISTEN_FDS) it serves those. Who can connect can "
    "read\n"
    "the counters of this user: a loopback port is open to every user of this host, a Unix socket to those whom its\n"
    "mode lets in.";

}  // namespace

MetricsCommand::MetricsCommand(CommandLine& line)
    : options_(line.add("metrics", "Print or serve the counters of this user's processes for Prometheus")) {
  options_.set_footer(kMetricsFooter);
  options_.add_text("--listen", "[ADDRESS:]PORT", listen_, "Serve http://ADDRESS:PORT/metrics, on loopback");
  options_.add_flag("--no-endpoints", has_no_endpoints_, "Sums of processes only, no series of endpoints and queues");
}

int MetricsCommand::run() const {
  Scanner scanner;
  const auto make_text = [&] { return to_metrics(scanner.scan(), !has_no_endpoints_); };
  const std::vector<int> passed = passed_sockets();
  if (!listen_.empty()) {
    const ListenAddress where = read_listen_address(listen_);
    serve(where, make_text, [&](std::uint16_t port) {
      const bool is_ipv6 = where.address.find(':') != std::string::npos;
      print_out(
          fmt::format("serving http://{}:{}/metrics\n", is_ipv6 ? '[' + where.address + ']' : where.address, port));
    });
  } else if (!passed.empty()) {
    serve(passed, make_text, [](std::uint16_t) {});
  } else {
    print_out(make_text());
  }
  return 0;
}

}  // namespace softdat::tools::observe
