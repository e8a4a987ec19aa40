// SPDX-License-Identifier: BSD-2-Clause
// Profiles as TOML. toml++'s headers take seconds to compile, so that one file of the room alone includes them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simnic/model/profile.h"

namespace softdat::simnic::model {

// "my.toml:7: "max_wr" is 0; it takes a whole number from 1 to 2147483647".
using Mistake = std::string;

// No profile is longer, so that a device or a wrong file is not read without end.
inline constexpr std::size_t kMostProfileBytes = std::size_t{1} << 20;

// The profile that the text of a TOML file says; `path` is for the words of a mistake.
base::Result<Profile, Mistake> read_profile(const std::string& path, std::string_view text);
// The profile of a file.
base::Result<Profile, Mistake> read_profile_file(const std::string& path);
// NAME of a built-in profile, or @FILE.
base::Result<Profile, Mistake> find_profile(const std::string& name_or_file);

// The text of a file that read_profile() takes, with what is not known as comments.
std::string write_profile(const Profile& profile);

struct BuiltIn {
  std::string_view name;
  std::string_view text;  // TOML
};
// In the order of their names.
std::span<const BuiltIn> built_in_profiles();
// "chelsio-t6, connectx-3, ...".
std::string built_in_names();

}  // namespace softdat::simnic::model
