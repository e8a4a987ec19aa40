// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/journal.h"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

#include "base/environment.h"
#include "base/log.h"
#include "base/made_once.h"
#include "base/quiet_write.h"
#include "base/uncancelled.h"

namespace softdat::simnic::fault {
namespace {

// O_APPEND: processes of one run share the file, and each line is one write.
int open_log(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

// As it was meant when the first adapter opened: the program may go to another directory, and so may a child of fork().
const std::string& path_of_process() {
  static constinit std::atomic<const std::string*> known{nullptr};
  return base::made_once(known, [] {
    const std::string said(base::environment(base::Variable::kFaultsLog));
    std::error_code unknown;
    const auto absolute = said.empty() ? std::filesystem::path() : std::filesystem::absolute(said, unknown);
    return std::make_unique<const std::string>(unknown ? said : absolute.string());
  });
}

}  // namespace

Journal::Journal() : Journal(path_of_process()) {}

Journal::Journal(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  const auto file = file_.lock();
  file->reset(open_log(path_));
  if (*file) return;
  is_usable_ = false;
  base::log(base::LogLevel::kError, "SOFTDAT_FAULTS_LOG=%s cannot be opened: %s", path.c_str(), std::strerror(errno));
}

void Journal::add(std::string line) {
  if (!is_open()) return;
  line += '\n';
  const base::Uncancelled guard;
  const auto file = file_.lock();
  if (!*file || !file->is_intact()) file->reset(open_log(path_));
  // A disk that is full, and a file that can no longer be opened, lose lines; the program goes on.
  if (*file) static_cast<void>(!base::quiet_write(file->get(), std::as_bytes(std::span(line))));
}

}  // namespace softdat::simnic::fault
