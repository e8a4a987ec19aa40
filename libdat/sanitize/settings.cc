// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/settings.h"

#include "base/environment.h"

namespace softdat::sanitize {

Mode read_mode() {
  const std::string_view word = base::environment(base::Variable::kSanitize);
  if (word == "completions") return Mode::kCompletions;
  return word == "full" ? Mode::kFull : word == "on" ? Mode::kOn : Mode::kOff;
}

}  // namespace softdat::sanitize
