// SPDX-License-Identifier: BSD-2-Clause
// Where the processes that softdat runs tell what they do (base/runner.h).
#pragma once

#include <poll.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/softdat/scratch_directory.h"

namespace softdat::tools::run {

// One line: its kind and the words after it.
struct Report {
  std::string kind;
  std::vector<std::string> words;  // the first is the process id
};

class ReportSocket {
 public:
  // A socket file in a directory of its own, which only this user may enter. Failure when it cannot be made.
  ReportSocket();
  // Removes both.
  ~ReportSocket();
  ReportSocket(const ReportSocket&) = delete;
  ReportSocket& operator=(const ReportSocket&) = delete;

  const std::string& path() const { return path_; }

  // Adds what is to be polled for input.
  void add_to(std::vector<pollfd>& polled) const;
  // The reports that are complete. Never blocks.
  std::vector<Report> take();

 private:
  void accept_all();

  ScratchDirectory directory_;
  const std::string path_;
  int listener_ = -1;
  std::map<int, std::string> senders_;  // descriptor, and the text read from it
};

}  // namespace softdat::tools::run
