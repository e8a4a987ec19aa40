// SPDX-License-Identifier: BSD-2-Clause
// Floors of memory and of waking: what no benchmark over shared memory can beat.
#pragma once

#include <cstddef>

#include "tools/softdat/floor/two_processes.h"

namespace softdat::tools::floor {

// One way of a word that goes to and fro between two processors, in microseconds.
double cache_line_us(const Processors& processors, double seconds);

// One memcpy of `size` bytes between two buffers of malloc over and over, in 10^6 bytes a second.
double memcpy_mb_s(const Processors& processors, std::size_t size, double seconds);

// One way of waking a process that sleeps on a futex, in microseconds. Each side waits `pause_us` before it wakes the
// other, outside the figure, because one that is woken at once has not gone to sleep.
double futex_us(const Processors& processors, unsigned pause_us, double seconds);

}  // namespace softdat::tools::floor
