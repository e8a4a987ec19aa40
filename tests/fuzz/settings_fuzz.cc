// SPDX-License-Identifier: BSD-2-Clause
// The environment and dat.conf's instance data: any text gives options within their limits, or a refusal. The input is
// lines NAME=VALUE for the environment, then a blank line, then the instance data.
#include <cstdlib>
#include <string>

#include "base/environment.h"
#include "base/ip_address.h"
#include "libdat/backends/device_settings.h"
#include "tests/fuzz/fuzz.h"

namespace {

constexpr const char* kVariables[] = {"SOFTDAT_BACKEND", "SOFTDAT_TRANSPORT", "SOFTDAT_ADDRESS",
                                      "SOFTDAT_CRC",     "SOFTDAT_MPA",       "SOFTDAT_RNR",
                                      "SOFTDAT_DIRECT",  "SOFTDAT_ANY_IA",    "SOFTDAT_TCP_TIMEOUT"};

// The first byte of a line chooses the variable, the rest is its value.
void set_variables(std::string_view lines) {
  for (const char* name : kVariables) ::unsetenv(name);
  while (!lines.empty()) {
    const std::string line(lines.substr(0, lines.find('\n')));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.empty()) continue;
    ::setenv(kVariables[static_cast<unsigned char>(line[0]) % std::size(kVariables)], line.c_str() + 1, 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ::setenv("SOFTDAT_LOG", "error", 1);
  // What is wrong with the input is said on standard error, which nobody reads. libFuzzer reports there, and closes it
  // for the target alone (-close_fd_mask).
#ifndef SOFTDAT_LIBFUZZER
  if (std::freopen("/dev/null", "w", stderr) == nullptr) return 1;
#endif
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using softdat::fuzz::expect;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t blank = std::min(text.find("\n\n"), text.size());
  set_variables(text.substr(0, blank));
  const std::string instance(text.substr(std::min(blank + 2, text.size())));
  const auto options = softdat::backends::settle_options({"sim0", instance});
  if (options) {
    expect(options->tcp_timeout >= std::chrono::seconds(2) && options->tcp_timeout <= std::chrono::seconds(600),
           "the timeout is within its limits");
    expect(softdat::base::is_single_host(options->address), "the address is one of a host");
  }
  if (const auto address = softdat::base::read_ip_address(instance)) {
    const auto again = softdat::base::read_ip_address(softdat::base::text_of(*address));
    expect(again && again->ipv4 == address->ipv4 && again->ipv6 == address->ipv6, "an address survives being printed");
  }
  return 0;
}
