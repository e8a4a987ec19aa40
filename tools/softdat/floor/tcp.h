// SPDX-License-Identifier: BSD-2-Clause
// Floors of bare TCP sockets on the loopback address.
#pragma once

#include <cstddef>

#include "tools/softdat/floor/two_processes.h"

namespace softdat::tools::floor {

// One way of `size` bytes that go to and fro, in microseconds; polling: both sides ask a socket over and over instead
// of sleeping in it.
double tcp_ping_pong_us(const Processors& processors, std::size_t size, bool polling, double seconds);

// One way, written and read in pieces of `size` bytes, in 10^6 bytes a second.
double tcp_stream_mb_s(const Processors& processors, std::size_t size, double seconds);

// connect and accept, then close by the acceptor, seen by the connector, which closes too; one after the other, a
// second.
double tcp_connects_per_s(const Processors& processors, double seconds);

}  // namespace softdat::tools::floor
