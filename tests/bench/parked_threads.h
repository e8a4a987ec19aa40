// SPDX-License-Identifier: BSD-2-Clause
// Holds the library's own thread where it rests while the consumer polls, so that every call is carried out by its
// caller alone. Callgrind runs one thread at a time and stops it anywhere: an engine thread that it stops with the
// baton in hand makes all calls seem cheap, by what then nobody does.
//
// Works by standing between the library and the C library's syscall(); the program exports its symbols for that.
#pragma once

namespace softdat::bench {

// From the main thread. The next short rest of any other thread lasts until release_threads(). Calls `poll` until one
// rests.
void park_threads(void (*poll)(void*), void* argument);
void release_threads();

}  // namespace softdat::bench
