// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/figures.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "tools/softdat/dat_call.h"

namespace softdat::tools {

std::string to_json(const Figures& figures) {
  std::string json;
  for (const auto& [name, value] : figures) {
    json += fmt::format("{}\n  \"{}\": {}", json.empty() ? "{" : ",", name, value);
  }
  return json + "\n}\n";
}

void write_file(const std::string& name, const std::string& text) {
  std::ofstream file(name);
  file << text;
  file.close();
  if (!file) throw Failure(fmt::format("cannot write the file \"{}\"", name));
}

void write_output(const std::string& name, const std::string& text) {
  if (name == "-") {
    std::cout << text;
  } else if (!name.empty()) {
    write_file(name, text);
  }
}

}  // namespace softdat::tools
