// SPDX-License-Identifier: BSD-2-Clause
// A small HTTP server that answers GET /metrics, over Boost.Asio. It serves a monitoring program of this host, not the
// network: few connections, one request each, a time limit on each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace softdat::tools::observe {

struct ListenAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
};
// "9470", "127.0.0.1:9470", "[::1]:9470". UsageError when it is none of them, or not an address of loopback.
ListenAddress read_listen_address(const std::string& text);

// The sockets that systemd hands over (sd_listen_fds(3): LISTEN_PID, LISTEN_FDS); none otherwise.
std::vector<int> passed_sockets();

// Serves until SIGINT or SIGTERM; `make_text` makes each answer. Failure when a socket cannot be had. Calls `on_ready`
// with the port once it listens; of passed sockets the port is 0.
void serve(const ListenAddress& where, const std::function<std::string()>& make_text,
           const std::function<void(std::uint16_t)>& on_ready);
void serve(const std::vector<int>& sockets, const std::function<std::string()>& make_text,
           const std::function<void(std::uint16_t)>& on_ready);

}  // namespace softdat::tools::observe
