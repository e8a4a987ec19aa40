// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/timeline/view_command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/timeline/page.h"

namespace softdat::tools::timeline {
namespace {

void write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  const bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (!is_written || !is_closed) {
    throw Failure(fmt::format("cannot write the page \"{}\": {}", path, std::strerror(is_written ? errno : error)));
  }
}

}  // namespace

ViewCommand::ViewCommand(CommandLine& line) : options_(line.add("view", "Make a page of a timeline, for a browser")) {
  options_.add_operand("file", file_, "What softdat run --timeline has written");
  options_.add_text("-o,--output", "FILE", output_,
                    "The page (-: to standard output); FILE.html beside the timeline if this is not given");
}

void ViewCommand::write_page(const std::string& output) const {
  const Trace trace = read_trace(file_, kMostEvents);
  const Activity activity = read_activity(trace);
  const std::string page = make_page(trace, activity, std::filesystem::path(file_).filename().string());
  if (output == "-") return print_out(page);
  write_file(output, page);
  print_out(fmt::format("{}: {} operations of {} lanes\n", output, activity.operations.size(), trace.lanes.size()));
}

int ViewCommand::run() const {
  if (file_.empty()) throw UsageError("softdat view needs a file, as in: softdat view run.perfetto-trace");
  const std::string output = output_.empty() ? file_ + ".html" : output_;
  std::error_code ignored;
  if (output != "-" && std::filesystem::equivalent(file_, output, ignored)) {
    throw UsageError(fmt::format("--output \"{}\" is the timeline itself. Name another file", output));
  }
  // A FIFO without a reader would keep us.
  if (output != "-") require_regular(output);
  try {
    write_page(output);
  } catch (const std::bad_alloc&) {
    throw too_large(file_);
  }
  return 0;
}

}  // namespace softdat::tools::timeline
