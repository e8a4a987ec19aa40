// SPDX-License-Identifier: BSD-2-Clause
// What `softdat run` is told of this process (base/runner.h): adapters opened, service points that listen, and at the
// end what was transferred and which objects the consumer left open. Nothing is done when no runner started the
// process. Any thread.
#pragma once

#include <cstdint>

#include "hca/counters.h"

namespace softdat::object {

class InterfaceAdapter;
class Object;

// The IA is open: its name and address.
void report_opened(const InterfaceAdapter& ia);

// A service point accepts requests at that qualifier.
void report_listening(const InterfaceAdapter& ia, std::uint64_t conn_qual);

// Keeps in the object's cell which call of the consumer's makes it, if there is a runner or words are wanted. Called by
// the thread of that call.
void note_maker(const Object& object);

// A connection was established, carried by "shm", "tcp", "loop" or "verbs".
void count_connection(const char* carrier);

// A connection could not be made, or broke.
void count_broken_connection();

// Adds to the totals what queue pairs have transferred. Once for each queue pair.
void count_transfers(const hca::TransferCounts& counts);

}  // namespace softdat::object
