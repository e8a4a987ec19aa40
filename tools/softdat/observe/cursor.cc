// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/cursor.h"

#include <curses.h>
#include <term.h>

#include <cstdint>

namespace softdat::tools::observe {

bool can_place_cursor() {
  const char* const sequence = ::tigetstr("cup");
  // -1: no string capability, by tigetstr(3).
  return sequence != nullptr && reinterpret_cast<std::intptr_t>(sequence) != -1;
}

}  // namespace softdat::tools::observe
