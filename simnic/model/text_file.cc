// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/model/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "simnic/model/profile_file.h"

namespace softdat::simnic::model {

base::Result<std::string, std::string> read_text_file(const std::string& path, const char* kind) {
  const auto unreadable = [&](const std::string& why) {
    return base::Failure{"the " + std::string(kind) + " \"" + path + "\" cannot be read: " + why};
  };
  // O_NONBLOCK: opening a FIFO must not wait for a writer; fstat() then refuses it.
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return unreadable(std::strerror(errno));
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return unreadable(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return unreadable("it is no regular file");
  std::string text(kMostProfileBytes + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(std::strerror(errno));
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (length > kMostProfileBytes) {
    return base::Failure{"the " + std::string(kind) + " \"" + path + "\" is longer than " +
                         std::to_string(kMostProfileBytes) + " bytes; it is no " + kind};
  }
  text.resize(length);
  return text;
}

}  // namespace softdat::simnic::model
