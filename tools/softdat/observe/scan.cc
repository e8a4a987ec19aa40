// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "base/process_start.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/process_directory.h"

namespace softdat::tools::observe {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Failure if errno says that this process lacks what it takes to look: else processes would seem to be gone.
void require_resources() {
  if (errno != EMFILE && errno != ENFILE && errno != ENOMEM) return;
  throw Failure(fmt::format("cannot look for counters: {}", std::strerror(errno)));
}

// A directory that cannot be opened has no names.
template <typename Visit>
void for_each_name(const std::string& path, Visit visit) {
  const Directory directory(::opendir(path.c_str()));
  if (directory == nullptr) return require_resources();
  while (const dirent* const entry = ::readdir(directory.get())) {
    if (!visit(std::string(entry->d_name))) return;
  }
}

template <typename Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// An owner has one file, and may have copies of others. A process with more of them would keep the reader busy.
constexpr int kMostFiles = 16;

struct Status {
  Owner owner;
  std::uint64_t pinned_bytes = 0;
};

// Reads lines of /proc/PID/status, such as "NSpid:\t4711\t12", "VmPin:\t  128 kB".
std::optional<Status> read_status(const ProcessDirectory& process) {
  const auto start = base::read_process_start(process.path("stat").c_str());
  if (!start) require_resources();
  std::ifstream file(process.path("status"));
  Status status;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "NSpid:") {
      // The last is the number in the process's own namespace, which its header has.
      for (std::uint32_t number = 0; words >> number;) status.owner.pid = number;
    } else if (name == "VmPin:" || name == "VmLck:") {
      std::uint64_t kib = 0;
      words >> kib;
      status.pinned_bytes += kib * 1024;
    }
  }
  if (status.owner.pid == 0 || !start) return std::nullopt;
  status.owner.start = *start;
  return status;
}

std::string read_program(const ProcessDirectory& process) {
  std::ifstream file(process.path("comm"));
  std::string name;
  std::getline(file, name);
  return printable(name);
}

bool read_at(int file, std::uint64_t offset, void* to, std::size_t bytes) {
  return ::pread(file, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::optional<std::uint64_t> read_generation(int file, const Owner& owner) {
  base::CounterFileHeader header;
  if (!read_at(file, 0, &header, sizeof header)) return std::nullopt;
  if (header.magic != base::kCounterFileMagic || header.version != base::kCounterFileVersion) return std::nullopt;
  // A copy of another process's file, inherited by fork() or passed on, tells nothing of this process.
  if (header.pid != owner.pid || header.start != owner.start) return std::nullopt;
  if (header.half_bytes != base::kHalfBytes || header.generation == 0) return std::nullopt;
  return header.generation;
}

double age_of(const Snapshot& snapshot) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return seconds(snapshot.head.published_ns, static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()));
}

}  // namespace

// The owner publishes a few times a second, and a copy takes microseconds, so that a second try is rare.
std::optional<Snapshot> read_counters(int file, const Owner& owner) {
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    const auto generation = read_generation(file, owner);
    if (!generation) return std::nullopt;
    const std::uint64_t at = base::kHalvesAt + *generation % 2 * base::kHalfBytes;
    base::SnapshotHead head;
    // How much to copy. The owner may go on meanwhile; then the generation has changed below.
    if (!read_at(file, at, &head, sizeof head)) return std::nullopt;
    std::vector<std::byte> bytes(std::clamp<std::uint64_t>(head.bytes, sizeof head, base::kHalfBytes));
    if (!read_at(file, at, bytes.data(), bytes.size())) return std::nullopt;
    if (read_generation(file, owner) != generation) continue;
    // Another process's numbers: decode() checks every length before it is believed.
    auto snapshot = decode(bytes);
    return snapshot && snapshot->head.generation == *generation ? std::move(snapshot) : std::nullopt;
  }
  return std::nullopt;
}

// A memfd of our own tells which file system memfds are on.
Scanner::Scanner() {
  const base::UniqueFd own(::memfd_create("softdat-scan", MFD_CLOEXEC));
  struct stat status = {};
  if (!own || ::fstat(own.get(), &status) != 0) throw Failure(fmt::format("memfd_create: {}", std::strerror(errno)));
  if (::access("/proc/self/fd", R_OK) != 0) throw Failure("/proc is not mounted; counters are found there");
  memfd_device_ = status.st_dev;
}

// Another process chooses what its descriptors name. Opening a FIFO or a file of a file system that another process
// serves could block, so the file is looked at before it is opened: O_PATH opens nothing, and statx() without
// synchronisation asks no server.
base::UniqueFd Scanner::open_counters(const std::string& path) const {
  char target[sizeof base::kCounterFileLink + 1];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length < 0 || std::string_view(target, static_cast<std::size_t>(length)) != base::kCounterFileLink) return {};
  const base::UniqueFd found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!found) require_resources();
  struct statx status = {};
  if (!found || ::statx(found.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) != 0) return {};
  if (!S_ISREG(status.stx_mode) || ::makedev(status.stx_dev_major, status.stx_dev_minor) != memfd_device_) return {};
  const std::string own = fmt::format("/proc/self/fd/{}", found.get());
  base::UniqueFd opened(::open(own.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) require_resources();
  return opened;
}

std::optional<Process> Scanner::look_at(pid_t pid) const {
  const ProcessDirectory process(pid);
  if (!process.is_open()) require_resources();
  if (!process.is_open()) return std::nullopt;
  const std::string directory = process.path("fd/");
  std::optional<Process> found;
  int files = 0;
  for_each_name(directory, [&](const std::string& name) {
    const base::UniqueFd file = open_counters(directory + name);
    if (!file) return true;
    const auto status = read_status(process);
    auto snapshot = status ? read_counters(file.get(), status->owner) : std::nullopt;
    if (!snapshot) return ++files < kMostFiles;
    found = Process{.pid = pid,
                    .start = status->owner.start,
                    .program = read_program(process),
                    .pinned_bytes = status->pinned_bytes,
                    .age_s = age_of(*snapshot),
                    .snapshot = std::move(*snapshot)};
    return false;
  });
  return found;
}

std::vector<Process> Scanner::scan(pid_t only) {
  std::vector<pid_t> pids;
  if (only != 0) {
    pids.push_back(only);
  } else {
    for_each_name("/proc", [&](const std::string& name) {
      if (const auto pid = read_number<pid_t>(name)) pids.push_back(*pid);
      return true;
    });
    std::sort(pids.begin(), pids.end());
  }
  std::vector<Process> result;
  for (const pid_t pid : pids) {
    if (auto process = look_at(pid)) result.push_back(std::move(*process));
  }
  return result;
}

}  // namespace softdat::tools::observe
