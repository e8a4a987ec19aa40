// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/foreign_memory.h"

namespace softdat::tools::perf {

std::string foreign_text(const std::uint8_t* bytes, std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(foreign_byte(bytes + i));
  return text;
}

void set_foreign_text(std::uint8_t* bytes, const std::string& text) {
  for (const char letter : text) set_foreign_byte(bytes++, static_cast<std::uint8_t>(letter));
}

}  // namespace softdat::tools::perf
