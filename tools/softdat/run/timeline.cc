// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/timeline.h"

#include <fmt/format.h>

#include <vector>

#include "tools/softdat/timeline/packets.h"

namespace softdat::tools::run {

void TimelineOptions::add_to(Subcommand& options) {
  options.set_group("Timeline");
  options.add_text("--timeline", "FILE", file, "Write when what happened, for ui.perfetto.dev and softdat view");
  options.add_number("--timeline-buffer", "KIB", buffer_kib, 128, 1048576,
                     "Buffer of each process; events that find no room are lost and counted");
}

void TimelineOptions::check(const Subcommand& options, const Environment& environment) const {
  if (file.empty() && options.has("--timeline-buffer") && !options.has("--model")) {
    throw UsageError("--timeline-buffer goes with --timeline or --model");
  }
  if (!file.empty() && environment.value_of("SOFTDAT_BACKEND").starts_with("verbs")) {
    throw UsageError("--timeline needs the simulated adapter. Leave --backend away");
  }
}

Timeline::Timeline(const TimelineOptions& options) : options_(options) {
  if (!is_empty()) parts_.emplace("timeline", options_.file);
}

void Timeline::put_into(Environment& environment) const {
  if (is_empty()) return;
  environment.put("SOFTDAT_TIMELINE", parts_->path());
  environment.put("SOFTDAT_TIMELINE_BUFFER", fmt::format("{}", options_.buffer_kib));
}

std::string Timeline::finish() {
  std::uint64_t packets = 0;
  const std::size_t processes = parts_->merge([&](const std::vector<std::string>& parts) {
    timeline::PacketFile merged(options_.file);
    for (const std::string& part : parts) {
      packets += timeline::read_packets(part, [&](std::string_view packet) { merged.add(packet); }).packets;
    }
    merged.finish();
  });
  if (processes == 0) return "there is no timeline: no adapter was opened";
  return fmt::format("the timeline has {} packets of {} {}; softdat view {} shows them", packets, processes,
                     processes == 1 ? "process" : "processes", options_.file);
}

}  // namespace softdat::tools::run
