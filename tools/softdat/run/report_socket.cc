// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/report_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "base/unique_fd.h"
#include "tools/softdat/dat_call.h"

namespace softdat::tools::run {
namespace {

constexpr int kBacklog = 4096;
// A sender that tells more is not one of ours.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::string socket_directory() {
  for (const char* const name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* const value = std::getenv(name);
    // Room for the rest of a socket's path, which is short.
    if (value != nullptr && value[0] == '/' && std::strlen(value) < 64 && ::access(value, W_OK | X_OK) == 0)
      return value;
  }
  return "/tmp";
}

// Removes the directories of runs that were killed, where no process listens. A young directory stays: its run may not
// listen yet.
void remove_left(const std::string& parent) {
  namespace fs = std::filesystem;
  constexpr auto kYoung = std::chrono::minutes(1);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    const std::string path = entry.path().string();
    struct stat found = {};
    const bool is_one = entry.path().filename().string().starts_with("softdat-run-") &&
                        ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
    if (!is_one || std::time(nullptr) - found.st_mtime < std::chrono::seconds(kYoung).count()) continue;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string socket = path + "/socket";
    if (socket.size() >= sizeof address.sun_path) continue;
    std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
    const base::UniqueFd caller(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!caller) return;
    const bool is_deaf = ::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
                         (errno == ECONNREFUSED || errno == ENOENT);
    if (is_deaf) fs::remove_all(path, error);
  }
}

// A report is a line: its kind, and then words, with tabs between (base/runner.h).
Report to_report(const std::string& line) {
  Report report;
  std::istringstream words(line);
  std::getline(words, report.kind, '\t');
  for (std::string word; std::getline(words, word, '\t');) report.words.push_back(word);
  return report;
}

}  // namespace

ReportSocket::ReportSocket() : directory_("softdat-run", socket_directory()), path_(directory_.path() + "/socket") {
  remove_left(socket_directory());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool is_listening = listener_ >= 0 &&
                            ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                            ::listen(listener_, kBacklog) == 0;
  if (is_listening) return;
  const int error = errno;
  if (listener_ >= 0) ::close(listener_);
  throw Failure(fmt::format("cannot listen at \"{}\": {}", path_, std::strerror(error)));
}

ReportSocket::~ReportSocket() {
  for (const auto& [sender, text] : senders_) ::close(sender);
  ::close(listener_);
}

void ReportSocket::add_to(std::vector<pollfd>& polled) const {
  polled.push_back({.fd = listener_, .events = POLLIN, .revents = 0});
  for (const auto& [sender, text] : senders_) polled.push_back({.fd = sender, .events = POLLIN, .revents = 0});
}

void ReportSocket::accept_all() {
  for (int sender = 0; (sender = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
    senders_.emplace(sender, "");
  }
}

// Never blocks. A process connects for each report or a few, and closes; what is left of a line waits for the rest.
std::vector<Report> ReportSocket::take() {
  accept_all();
  std::vector<Report> reports;
  for (auto sender = senders_.begin(); sender != senders_.end();) {
    auto& [descriptor, text] = *sender;
    char chunk[4096];
    ssize_t got = 0;
    while ((got = ::read(descriptor, chunk, sizeof chunk)) > 0 && text.size() < kMostBytes) {
      text.append(chunk, static_cast<std::size_t>(got));
    }
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      reports.push_back(to_report(text.substr(begin, end - begin)));
    }
    text.erase(0, begin);
    // A sender that says too much is left with bytes unread, and closed like one that has ended.
    const bool is_open = got < 0 && (errno == EAGAIN || errno == EINTR);
    if (!is_open) ::close(descriptor);
    sender = is_open ? std::next(sender) : senders_.erase(sender);
  }
  return reports;
}

}  // namespace softdat::tools::run
