// SPDX-License-Identifier: BSD-2-Clause
// A whole dat.conf: reading it and telling what is wrong with it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libdat/registry/conf_line.h"

namespace softdat::registry {

struct ConfFile {
  std::vector<ConfEntry> entries;  // in file order
};

// Takes one complete message, without a newline: "file:line:column: reason".
using ConfComplaint = std::function<void(const std::string& message)>;

// Parses the text of the file called `name`. A malformed line goes to `complain` and is left out;
// every other line counts. Never fails.
[[nodiscard]] ConfFile parse_conf_text(std::string_view text, const std::string& name, const ConfComplaint& complain);

enum class ConfRead {
  kRead,        // `file` holds what the file says
  kAbsent,      // there is no such file; nothing was said
  kUnreadable,  // it exists but cannot be read; `complain` heard why
};

// Reads and parses `path`. `file` changes only when the answer is kRead. Files over 16 MiB are
// unreadable: such a thing is no dat.conf.
[[nodiscard]] ConfRead read_conf_file(const std::string& path, ConfFile& file, const ConfComplaint& complain);

struct ConfSearch {
  std::string override_path;       // $DAT_OVERRIDE; empty when unset
  std::vector<std::string> paths;  // the places to look otherwise, best first
};

// Reads the override if one is set (an override that cannot be read is a complaint and yields no
// entries: falling back would open hardware the user meant to exclude), otherwise the first path
// that can be read.
[[nodiscard]] ConfFile find_conf_file(const ConfSearch& search, const ConfComplaint& complain);

}  // namespace softdat::registry
