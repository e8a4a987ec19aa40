// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/sweep/results_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "tools/softdat/command_line.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/sweep/report.h"

namespace softdat::tools::sweep {

ResultsFile::ResultsFile(const std::string& path, const std::string& command, bool resumes)
    // Not O_TRUNC: another sweep may be writing it, which lock() finds out first.
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
  if (!file_) throw Failure(fmt::format("cannot write \"{}\": {}", path_, std::strerror(errno)));
  lock();
  struct stat found = {};
  const bool has_lines = ::fstat(file_.get(), &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
  if (resumes && has_lines) {
    read(command);
    return;
  }
  if (has_lines && ::ftruncate(file_.get(), 0) != 0) {
    throw Failure(fmt::format("cannot write \"{}\": {}", path_, std::strerror(errno)));
  }
  write(encode_header(command) + '\n');
}

void ResultsFile::lock() {
  struct stat found = {};
  if (::fstat(file_.get(), &found) != 0 || !S_ISREG(found.st_mode)) return;  // anybody may write to /dev/null
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw UsageError(fmt::format("another sweep writes \"{}\" now; --results FILE names another file", path_));
}

void ResultsFile::read(const std::string& command) {
  std::ifstream lines(path_);
  std::string line;
  std::getline(lines, line);
  const auto swept = decode_header(line);
  if (!swept) {
    throw UsageError(fmt::format("\"{}\" is no file of results; without --resume it is begun anew", path_));
  }
  if (*swept != command) {
    throw UsageError(
        fmt::format("\"{}\" has the results of another sweep: {}; without --resume it is begun anew", path_, *swept));
  }
  bool is_whole = true;
  while (std::getline(lines, line)) {
    // eof() after a line that was read: the line has no end.
    is_whole = !lines.eof();
    if (auto trial = decode(line)) trials_.push_back(std::move(*trial));
  }
  // A sweep that was killed may have left half a line.
  if (!is_whole) write("\n");
}

void ResultsFile::add(const Trial& trial) {
  write(encode(trial) + '\n');
}

void ResultsFile::write(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file_.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Failure(fmt::format("cannot write \"{}\": {}", path_, std::strerror(errno)));
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace softdat::tools::sweep
