// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/site.h"

#include <string_view>

#include "base/place.h"

namespace softdat::sanitize {

std::string call_name(const Site& site) {
  const std::string_view signature(site.call == nullptr ? "" : site.call);
  return std::string(signature.substr(0, signature.find(' ')));
}

std::string text_of(const Site& site) {
  const std::string place = base::place_text(site.place);
  if (site.call == kAccess) return place.empty() ? "the program" : place;
  return call_name(site) + (place.empty() ? "" : ", called by " + place);
}

}  // namespace softdat::sanitize
