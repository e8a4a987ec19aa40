// SPDX-License-Identifier: BSD-2-Clause
// One line of dat.conf, the file that maps IA names to provider libraries (docs/REGISTRY.md has the
// grammar). Pure functions of the text: no file, no environment, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace softdat::registry {

// The eight fields of an entry, quotes and escapes removed.
struct ConfEntry {
  std::string ia_name;
  bool is_kernel = false;  // a kDAPL entry ("k1.2"); this registry serves user level only
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  bool is_thread_safe = false;
  bool is_default = false;
  std::string library_path;
  std::string provider_version;
  std::string instance_data;
  std::string platform_data;
};

// A blank line, or one that holds nothing but a comment.
struct ConfNothing {};

// Why a line is no entry. The column counts bytes from 1 and points at the offending character, or
// just past the end of the line when something is missing.
struct ConfMistake {
  std::size_t column = 1;
  std::string reason;
};

using ConfLine = std::variant<ConfNothing, ConfEntry, ConfMistake>;

// Names longer than this do not fit DAT_NAME_MAX_LENGTH with its final NUL.
inline constexpr std::size_t kLongestIaName = 255;

// Total: any bytes give one of the three. `line` excludes its newline.
[[nodiscard]] ConfLine parse_conf_line(std::string_view line);

}  // namespace softdat::registry
