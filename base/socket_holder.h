// SPDX-License-Identifier: BSD-2-Clause
// Which process has a listening socket, as far as /proc shows it to this user: for people whose port is taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace softdat::base {

// "process 4711 (dtest)", or "this process"; empty where that cannot be found out. Slow: reads the descriptors of all
// processes of the user. Any thread. Throws std::bad_alloc.
std::string holder_of_tcp_port(std::uint16_t port);
// The same for a Unix socket whose path ends with `name`.
std::string holder_of_unix_socket(std::string_view name);

// Says why the call that the thread is in is refused: "process 4711 (dtest) listens there already". Nothing where
// nobody reads it, nothing is found out, or there is no memory.
void blame_holder_of_tcp_port(std::uint16_t port);
void blame_holder_of_unix_socket(std::string_view name);

}  // namespace softdat::base
