// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/figures.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/output.h"

namespace softdat::tools {

namespace fs = std::filesystem;

std::string to_json(const Figures& figures) {
  std::string json;
  for (const auto& [name, value] : figures) {
    json += fmt::format("{}\n  \"{}\": {}", json.empty() ? "{" : ",", name, value);
  }
  return json + "\n}\n";
}

std::string json_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    if (static_cast<unsigned char>(letter) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      quoted += letter;
    }
  }
  return quoted + '"';
}

void require_writable(const std::string& name) {
  if (name.empty() || name == "-") return;
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) throw Failure(fmt::format("cannot write \"{}\": it is a directory", name));
  const fs::path parent = fs::path(name).has_parent_path() ? fs::path(name).parent_path() : ".";
  const bool exists = fs::exists(name, ignored);
  const char* const target = exists ? name.c_str() : parent.c_str();
  if (::access(target, exists ? W_OK : W_OK | X_OK) == 0) return;
  throw Failure(fmt::format("cannot write \"{}\": {}", name, std::strerror(errno)));
}

void require_regular(const std::string& name) {
  std::error_code ignored;
  const fs::file_status status = fs::status(name, ignored);
  if (!fs::exists(status) || fs::is_regular_file(status)) return;
  throw Failure(fmt::format("cannot write \"{}\": it is no regular file", name));
}

void write_file(const std::string& name, const std::string& text) {
  errno = 0;
  std::ofstream file(name);
  file << text;
  file.close();
  if (!file) throw Failure(fmt::format("cannot write \"{}\": {}", name, std::strerror(errno)));
}

void write_output(const std::string& name, const std::string& text) {
  if (name == "-") {
    print_out(text);
  } else if (!name.empty()) {
    write_file(name, text);
  }
}

}  // namespace softdat::tools
