// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/timeline.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tools/softdat/figures.h"
#include "tools/softdat/timeline/packets.h"

namespace softdat::tools::run {
namespace {

namespace fs = std::filesystem;

}  // namespace

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
  if (is_empty()) return;
  require_regular(options_.file);
  const int file = ::open(options_.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    throw Failure(fmt::format("cannot write the timeline \"{}\": {}", options_.file, std::strerror(errno)));
  }
  ::close(file);
  directory_ = fs::absolute(options_.file).string() + ".parts-XXXXXX";
  if (::mkdtemp(directory_.data()) == nullptr) {
    const int error = errno;
    directory_.clear();
    throw Failure(
        fmt::format("cannot make a directory beside the timeline \"{}\": {}", options_.file, std::strerror(error)));
  }
}

Timeline::~Timeline() {
  std::error_code ignored;
  if (!directory_.empty() && !is_kept_) fs::remove_all(directory_, ignored);
}

void Timeline::put_into(Environment& environment) const {
  if (is_empty()) return;
  environment.put("SOFTDAT_TIMELINE", directory_);
  environment.put("SOFTDAT_TIMELINE_BUFFER", fmt::format("{}", options_.buffer_kib));
}

std::string Timeline::finish() {
  std::vector<std::string> parts;
  for (const auto& entry : fs::directory_iterator(directory_)) parts.push_back(entry.path().string());
  std::sort(parts.begin(), parts.end());
  is_kept_ = true;
  std::uint64_t packets = 0;
  try {
    timeline::PacketFile merged(options_.file);
    for (const std::string& part : parts) {
      packets += timeline::read_packets(part, [&](std::string_view packet) { merged.add(packet); }).packets;
    }
    merged.finish();
  } catch (const Failure& failure) {
    throw Failure(fmt::format("{}; the timelines of the single processes are in \"{}\"", failure.what(), directory_));
  }
  is_kept_ = false;
  if (parts.empty()) return "there is no timeline: no adapter was opened";
  return fmt::format("the timeline has {} packets of {} {}; softdat view {} shows them", packets, parts.size(),
                     parts.size() == 1 ? "process" : "processes", options_.file);
}

}  // namespace softdat::tools::run
