// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/capture.h"

#include <fmt/format.h>

#include <vector>

#include "tools/softdat/run/capture_merge.h"

namespace softdat::tools::run {

void CaptureOptions::add_to(Subcommand& options) {
  options.set_group("Capture");
  options.add_text("--capture", "FILE", file, "Write all that the adapters do into a pcapng file, for Wireshark");
  options.add_number("--snaplen", "BYTES", snap_length, 0, kWhole, "Capture so much of the payload of each packet");
  options.add_number("--capture-buffer", "KIB", buffer_kib, 128, 1048576,
                     "Buffer of each process; packets that find no room are dropped and counted");
}

void CaptureOptions::check(const Subcommand& options, const Environment& environment) const {
  for (const char* const option : {"--snaplen", "--capture-buffer"}) {
    if (file.empty() && options.has(option)) throw UsageError(fmt::format("{} goes with --capture", option));
  }
  // The simulator itself writes the capture; a program on a device would leave an empty one.
  if (!file.empty() && environment.value_of("SOFTDAT_BACKEND").starts_with("verbs")) {
    throw UsageError(
        "--capture needs the simulated adapter; what an RDMA device does is captured by its own tools. "
        "Leave --backend away");
  }
}

Capture::Capture(const CaptureOptions& options) : options_(options) {
  if (!is_empty()) parts_.emplace("capture", options_.file);
}

void Capture::put_into(Environment& environment) const {
  if (is_empty()) return;
  environment.put("SOFTDAT_CAPTURE", parts_->path());
  if (options_.snap_length < CaptureOptions::kWhole) {
    environment.put("SOFTDAT_CAPTURE_SNAP", fmt::format("{}", options_.snap_length));
  }
  environment.put("SOFTDAT_CAPTURE_BUFFER", fmt::format("{}", options_.buffer_kib));
}

std::string Capture::finish() {
  MergedCapture merged;
  // Each process wrote a part of its own; the merge leaves out a packet's second record.
  const std::size_t processes =
      parts_->merge([&](const auto& parts) { merged = merge_captures(parts, options_.file); });
  if (processes == 0) return "nothing was captured: no adapter was opened";
  return fmt::format("{} {} captured, {} dropped; tshark -r {} shows them", merged.packets,
                     merged.packets == 1 ? "packet" : "packets", merged.dropped, options_.file);
}

}  // namespace softdat::tools::run
