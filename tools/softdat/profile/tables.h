// SPDX-License-Identifier: BSD-2-Clause
// Profiles as text, JSON and Markdown.
#pragma once

#include <string>
#include <vector>

#include "simnic/model/profile.h"

namespace softdat::tools::profile {

// One line each: name, transport, title.
std::string as_list(const std::vector<simnic::model::Profile>& profiles);
std::string as_json(const std::vector<simnic::model::Profile>& profiles);
// Every value with its source.
std::string as_text(const simnic::model::Profile& profile);
std::string as_json(const simnic::model::Profile& profile);
// A column for each profile, a row for each value.
std::string as_markdown(const std::vector<simnic::model::Profile>& profiles);

}  // namespace softdat::tools::profile
