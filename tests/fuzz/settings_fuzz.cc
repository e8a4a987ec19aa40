// SPDX-License-Identifier: BSD-2-Clause
// The environment and dat.conf's instance data: any text gives options within their limits, or a refusal that says why.
// The input is lines for the environment, then a blank line, then the instance data. The first byte of a line chooses
// the variable, the rest is its value.
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/ip_address.h"
#include "base/log.h"
#include "libdat/backends/device_settings.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_host.h"

namespace softdat::fuzz {
namespace {

constexpr const char* kVariables[] = {
    "SOFTDAT_BACKEND", "SOFTDAT_TRANSPORT", "SOFTDAT_ADDRESS", "SOFTDAT_CRC",         "SOFTDAT_MPA",
    "SOFTDAT_RNR",     "SOFTDAT_DIRECT",    "SOFTDAT_ANY_IA",  "SOFTDAT_TCP_TIMEOUT", "SOFTDAT_CONNECT_GRACE"};

void set_variables(MemoryHost& host, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.empty()) continue;
    host.set_variable(kVariables[static_cast<unsigned char>(line[0]) % std::size(kVariables)],
                      std::string(line.substr(1)));
  }
}

void check_options(const simnic::NicOptions& options) {
  expect(options.tcp_timeout >= std::chrono::seconds(2) && options.tcp_timeout <= std::chrono::seconds(600),
         "the timeout is within its limits");
  expect(options.connect_grace >= std::chrono::seconds(0) && options.connect_grace <= std::chrono::seconds(60),
         "the grace is within its limits");
  expect(base::is_single_host(options.address), "the address is one of a host");
}

void check_address(const std::string& text) {
  const auto address = base::read_ip_address(text);
  if (!address) return;
  const auto again = base::read_ip_address(base::text_of(*address));
  expect(again && again->ipv4 == address->ipv4 && again->ipv6 == address->ipv6, "an address survives being printed");
}

}  // namespace

// The level of the log is read once, from the real environment.
void prepare() {
  static_cast<void>(base::is_logged(base::LogLevel::kError));
}

void run_input(Input input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const std::size_t blank = std::min(text.find("\n\n"), text.size());
  MemoryHost host;
  set_variables(host, text.substr(0, blank));
  const std::string instance(text.substr(std::min(blank + 2, text.size())));
  const auto options = backends::settle_options({"sim0", instance});
  if (options) check_options(*options);
  if (!options) expect(host.lines_said() == 1, "a refusal says why, once");
  check_address(instance);
}

}  // namespace softdat::fuzz
