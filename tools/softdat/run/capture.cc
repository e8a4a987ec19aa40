// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/capture.h"

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
#include "tools/softdat/run/capture_merge.h"

namespace softdat::tools::run {
namespace {

namespace fs = std::filesystem;

}  // namespace

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
  if (!file.empty() && environment.value_of("SOFTDAT_BACKEND").starts_with("verbs")) {
    throw UsageError(
        "--capture needs the simulated adapter; what an RDMA device does is captured by its own tools. "
        "Leave --backend away");
  }
}

Capture::Capture(const CaptureOptions& options) : options_(options) {
  if (is_empty()) return;
  require_regular(options_.file);
  const int file = ::open(options_.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    throw Failure(fmt::format("cannot write the capture \"{}\": {}", options_.file, std::strerror(errno)));
  }
  ::close(file);
  directory_ = fs::absolute(options_.file).string() + ".parts-XXXXXX";
  if (::mkdtemp(directory_.data()) == nullptr) {
    const int error = errno;
    throw Failure(
        fmt::format("cannot make a directory beside the capture \"{}\": {}", options_.file, std::strerror(error)));
  }
}

Capture::~Capture() {
  std::error_code ignored;
  if (!directory_.empty() && !is_kept_) fs::remove_all(directory_, ignored);
}

void Capture::put_into(Environment& environment) const {
  if (is_empty()) return;
  environment.put("SOFTDAT_CAPTURE", directory_);
  if (options_.snap_length < CaptureOptions::kWhole) {
    environment.put("SOFTDAT_CAPTURE_SNAP", fmt::format("{}", options_.snap_length));
  }
  environment.put("SOFTDAT_CAPTURE_BUFFER", fmt::format("{}", options_.buffer_kib));
}

std::string Capture::finish() {
  std::vector<std::string> parts;
  for (const auto& entry : fs::directory_iterator(directory_)) parts.push_back(entry.path().string());
  std::sort(parts.begin(), parts.end());
  is_kept_ = true;
  MergedCapture merged;
  try {
    merged = merge_captures(parts, options_.file);
  } catch (const Failure& failure) {
    throw Failure(fmt::format("{}; the captures of the single processes are in \"{}\"", failure.what(), directory_));
  }
  is_kept_ = false;
  if (parts.empty()) return "nothing was captured: no adapter was opened";
  return fmt::format("{} {} captured, {} dropped; tshark -r {} shows them", merged.packets,
                     merged.packets == 1 ? "packet" : "packets", merged.dropped, options_.file);
}

}  // namespace softdat::tools::run
