// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/model/command.h"

#include <fmt/format.h>

#include "simnic/model/network.h"
#include "tools/softdat/output.h"

namespace softdat::tools::model {
namespace {

using simnic::model::Network;

Network find(const std::string& name_or_file) {
  auto network = simnic::model::find_network(name_or_file);
  if (!network) throw UsageError(network.reason());
  return std::move(network).value();
}

std::string list() {
  std::string text;
  for (const auto& known : simnic::model::built_in_networks()) {
    text += fmt::format("{:<10} {}\n", known.name, find(std::string(known.name)).title);
  }
  return text;
}

std::string show(const Network& network) {
  std::string text = network.title + '\n';
  for (const auto& info : simnic::model::network_fields()) {
    const auto& value = network.at(info.field);
    text += fmt::format("{:<24} {:g}", info.name, value.typical);
    if (value.low != value.high) text += fmt::format(" ({:g} to {:g})", value.low, value.high);
    text += fmt::format("  {}\n", info.meaning);
    if (!value.source.empty()) text += fmt::format("{:<24} {}\n", "", value.source);
  }
  return text;
}

}  // namespace

Command::Command(CommandLine& line)
    : options_(line.add("model", "Tell on which networks softdat run --model predicts times")) {
  options_.set_footer(
      "ACTION is one of:\n"
      "  list   the built-in networks\n"
      "  show   the times of the network NAME (or @FILE), with their sources");
  options_.add_operand("action", action_, "list or show");
  options_.add_operand("name", name_, "Of show: a built-in network, or @FILE for one of your own");
}

int Command::run() const {
  if (action_ != "list" && action_ != "show") {
    throw UsageError(action_.empty()
                         ? "softdat model needs list or show"
                         : fmt::format("\"{}\" is no action of softdat model; it takes list or show", action_));
  }
  if (action_ == "list" && !name_.empty()) throw UsageError("softdat model list takes no name");
  if (action_ == "show" && name_.empty()) {
    throw UsageError("softdat model show needs a network: " + simnic::model::built_in_network_names() + ", or @FILE");
  }
  print_out(action_ == "list" ? list() : show(find(name_)));
  return 0;
}

}  // namespace softdat::tools::model
