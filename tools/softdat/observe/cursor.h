// SPDX-License-Identifier: BSD-2-Clause
// Apart from the screen, because <term.h> makes macros of many common words.
#pragma once

namespace softdat::tools::observe {

// Whether the terminal of TERM can place its cursor, without which no screen can be drawn: "dumb" cannot. REQUIRES:
// newterm().
bool can_place_cursor();

}  // namespace softdat::tools::observe
