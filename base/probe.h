// SPDX-License-Identifier: BSD-2-Clause
// Static probes for tracers, such as bpftrace, perf and SystemTap: docs/OBSERVING.md lists them.
//
// A probe is one `nop` instruction and a note in the ELF file (USDT, sys/sdt.h), until a tracer puts a breakpoint
// there. So it costs nothing that can be measured, as long as its arguments are at hand where it stands: nothing is
// computed for a probe.
#pragma once

#define SDT_USE_VARIADIC
#include <sys/sdt.h>

// Arguments are numbers and pointers, at most twelve. They are evaluated whether anybody traces or not.
#define SOFTDAT_PROBE(name, ...) STAP_PROBEV(softdat, name, __VA_ARGS__)
