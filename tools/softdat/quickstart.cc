// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/quickstart.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "tools/softdat/child.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/measure.h"
#include "tools/softdat/peer.h"

namespace softdat::tools {
namespace {

constexpr const char* kIaName = "sim0";
constexpr const char* kListening = "listening";

std::string size_text(std::size_t bytes) {
  if (bytes >= (std::size_t{1} << 20)) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1024) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

void print_heading() {
  fmt::print("Two processes, one simulated adapter each (IA \"{}\"), over shared memory and over TCP:\n\n", kIaName);
  fmt::print("{:<10} {:<10} {:>8} {:>14} {:>18}\n", "operation", "transport", "size", "latency (us)",
             "bandwidth (MB/s)");
}

// The connector prints one line a measurement; the parent adds what it alone knows, the transport.
void print_row(const std::string& line, const char* transport, bool plain) {
  char operation[16];
  std::size_t size = 0;
  double latency = 0;
  double bandwidth = 0;
  if (std::sscanf(line.c_str(), "%15s %zu %lf %lf", operation, &size, &latency, &bandwidth) != 4) {
    throw Failure("unexpected output of a child process: " + line);
  }
  if (plain) {
    fmt::print("{} {}\n", transport, line);
  } else {
    fmt::print("{:<10} {:<10} {:>8} {:>14.2f} {:>18.0f}\n", operation, transport, size_text(size), latency, bandwidth);
  }
  std::fflush(stdout);
}

bool run_pair(const char* transport, bool plain) {
  const std::string qual = std::to_string(0x50F7'0000'0000u + static_cast<std::uint64_t>(::getpid()));
  const std::vector<std::pair<std::string, std::string>> environment{{"SOFTDAT_TRANSPORT", transport}};
  Child listener({"quickstart", "--listen", qual}, environment);
  if (listener.read_line() != kListening) return false;
  Child connector({"quickstart", "--connect", qual}, environment);
  while (const auto line = connector.read_line()) print_row(*line, transport, plain);
  const int connector_status = connector.wait();
  return connector_status == 0 && listener.wait() == 0;
}

void print_next_step() {
  fmt::print(
      "\nTwo processes of this machine did RDMA through the DAT API; no adapter was needed.\n"
      "Latency is half a round trip (of a read: the whole), both sides polling.\n\n"
      "Next: run a uDAPL program of your own. With the libraries on the loader's path it needs no\n"
      "configuration; open the IA \"sim0\", or let SoftDAT answer to the name it asks for:\n\n"
      "    LD_LIBRARY_PATH=$PWD/build/quickstart/lib SOFTDAT_ANY_IA=1 ./your-program\n\n"
      "README.md has a 20-line program to begin with.\n");
}

}  // namespace

int run_quickstart(bool plain) {
  if (!plain) print_heading();
  for (const char* transport : {"shm", "tcp"}) {
    if (!run_pair(transport, plain)) {
      fmt::print(stderr, "error: the two processes could not finish over {}; what they said stands above\n", transport);
      return 1;
    }
  }
  if (!plain) print_next_step();
  return 0;
}

int run_quickstart_listener(std::uint64_t qual) {
  Peer peer(kIaName, kBufferSize);
  peer.accept(qual, [] {
    fmt::print("{}\n", kListening);
    std::fflush(stdout);
  });
  serve_all(peer);
  peer.await_disconnect();
  return 0;
}

int run_quickstart_connector(std::uint64_t qual) {
  Peer peer(kIaName, kBufferSize);
  peer.connect(qual);
  measure_all(peer, [](const Measurement& m) {
    fmt::print("{} {} {:.3f} {:.1f}\n", to_text(m.operation), m.size, m.latency_us, m.bandwidth_mb_s);
    std::fflush(stdout);
  });
  peer.disconnect();
  return 0;
}

}  // namespace softdat::tools
