// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/journal.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/environment.h"
#include "base/log.h"
#include "base/quiet_write.h"

namespace softdat::simnic::fault {

Journal::Journal() : Journal(std::string(base::environment(base::Variable::kFaultsLog))) {}

Journal::Journal(const std::string& path) {
  if (path.empty()) return;
  // O_APPEND: processes of one run share the file, and each line is one write.
  file_ = base::UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (file_) return;
  is_usable_ = false;
  base::log(base::LogLevel::kError, "SOFTDAT_FAULTS_LOG=%s cannot be opened: %s", path.c_str(), std::strerror(errno));
}

void Journal::add(std::string line) {
  if (!file_) return;
  line += '\n';
  // A disk that is full loses lines; the program goes on.
  static_cast<void>(!base::quiet_write(file_.get(), std::as_bytes(std::span(line))));
}

}  // namespace softdat::simnic::fault
