// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/model.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <sstream>

#include "tools/softdat/figures.h"
#include "tools/softdat/model/report.h"

namespace softdat::tools::run {
namespace {

using simnic::model::Network;
using simnic::model::NetworkField;

constexpr std::size_t kMostEvents = 100'000'000;

std::vector<Network> networks_of(const ModelOptions& options) {
  std::vector<Network> networks;
  std::istringstream names(options.names);
  for (std::string name; std::getline(names, name, ',');) {
    auto network = simnic::model::find_network(name);
    if (!network) throw UsageError("--model: " + network.reason());
    networks.push_back(std::move(network).value());
    if (options.rate_gbit == 0) continue;
    auto& rate = networks.back().at(NetworkField::kRate);
    rate = {
        .low = options.rate_gbit, .typical = options.rate_gbit, .high = options.rate_gbit, .source = "--model-rate"};
    networks.back().title += fmt::format(", at {:g} Gbit/s", options.rate_gbit);
  }
  return networks;
}

}  // namespace

void ModelOptions::add_to(Subcommand& options) {
  options.set_group("Timing");
  options.add_text("--model", "NAME", names,
                   "Predict how long this would take on a real network (softdat model list), or several: A,B,@FILE");
  options.add_number("--model-rate", "GBIT", rate_gbit, 0.001, 1e5, "Gbit/s of payload, instead of the network's");
  options.add_number("--model-compute", "FACTOR", compute, 0, 1e6,
                     "Multiply the program's own processor times; 0: communication alone");
  options.add_text("--model-json", "FILE", json, "Write the prediction as JSON");
}

void ModelOptions::check(const Subcommand& options, const Environment& environment) const {
  if (names.empty()) {
    if (options.has("--model")) throw UsageError("--model needs a network: " + simnic::model::built_in_network_names());
    for (const char* const option : {"--model-rate", "--model-compute", "--model-json"}) {
      if (options.has(option)) throw UsageError(fmt::format("{} goes with --model", option));
    }
    return;
  }
  static_cast<void>(networks_of(*this));
  if (environment.value_of("SOFTDAT_BACKEND").starts_with("verbs")) {
    throw UsageError("--model needs the simulated adapter. Leave --backend away");
  }
  require_writable(json);
}

Model::Model(const ModelOptions& options, TimelineOptions& timeline) : options_(options) {
  if (is_empty()) return;
  if (timeline.file.empty()) {
    scratch_ = std::make_unique<ScratchDirectory>("softdat-model");
    timeline.file = scratch_->path() + "/timeline";
  }
  file_ = timeline.file;
}

// Direct access over shared memory has no message that could be timed.
void Model::put_into(Environment& environment) const {
  if (is_empty()) return;
  environment.put("SOFTDAT_TIMELINE_CPU", "on");
  environment.put("SOFTDAT_DIRECT", "off");
}

std::vector<std::string> Model::finish() const try {
  if (std::filesystem::is_empty(file_)) return {"there is nothing to predict: no adapter was opened"};
  const timeline::Trace trace = timeline::read_trace(file_, kMostEvents);
  const model::Program program = model::read_program(trace);
  if (program.operations.empty()) return {"there is nothing to predict: nothing was posted"};
  std::vector<model::Forecast> forecasts;
  std::vector<std::string> lines;
  for (const Network& network : networks_of(options_)) {
    forecasts.push_back(model::forecast(program, network, options_.compute));
    const auto more = model::as_lines(program, forecasts.back());
    lines.insert(lines.end(), more.begin(), more.end());
  }
  if (trace.lost + trace.left_out > 0) {
    lines.push_back(
        fmt::format("{} events are missing, so the times are too low; --timeline-buffer takes a larger "
                    "buffer",
                    trace.lost + trace.left_out));
  }
  if (!options_.json.empty()) write_output(options_.json, model::as_json(program, forecasts));
  return lines;
} catch (const timeline::NothingHappened&) {
  return {"there is nothing to predict: nothing was posted"};
} catch (const std::bad_alloc&) {
  throw timeline::too_large(file_);
}

}  // namespace softdat::tools::run
