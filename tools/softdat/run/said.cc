// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/said.h"

#include <nlohmann/json.hpp>

#include "tools/softdat/figures.h"

namespace softdat::tools::run {

void Said::add(const Report& report) {
  if (report.kind == "said" && report.words.size() >= 2) sentences_.push_back({report.words[0], report.words[1]});
}

void Said::write_json(const std::string& path) const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Sentence& sentence : sentences_) {
    all.push_back({{"process", sentence.process}, {"sentence", sentence.text}});
  }
  // Paths of the program may have bytes that are no UTF-8.
  write_output(path, all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
}

}  // namespace softdat::tools::run
