// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/live_session.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/capture_control.h"
#include "base/clock.h"
#include "base/hung_up.h"
#include "base/own_threads.h"
#include "simnic/capture/live.h"

namespace softdat::simnic::capture {
namespace {

using base::CaptureAnswer;
using base::CaptureRequest;
using base::CaptureVerdict;

// A tool says what it wants at once; one that does not is sent away.
constexpr base::Duration kPatience = std::chrono::seconds(5);
constexpr std::uint32_t kLeastBufferKib = 128;
constexpr std::uint32_t kMostBufferKib = 1048576;
// Threads that talk to tools.
constexpr int kMostSessions = 4;

constinit std::atomic<int> g_sessions{0};

// The process at the other end, as the kernel knows it. Only messages name it.
std::optional<ucred> peer_of(int socket) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer;
}

// Waits for something to read, or for the end of the stream.
bool await(int socket, base::Time deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - base::Clock::now()).count();
    if (left <= 0) return false;
    const int most = static_cast<int>(std::min<long long>(left, std::numeric_limits<int>::max()));
    pollfd entry{.fd = socket, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&entry, 1, deadline == base::kNever ? -1 : most);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;
  }
}

// Never blocks: a tool that has stopped reading must not keep this thread.
void answer(int socket, const CaptureAnswer& words) {
  static_cast<void>(!::send(socket, &words, sizeof words, MSG_DONTWAIT | MSG_NOSIGNAL));
}

struct Asked {
  CaptureRequest request{};
  base::UniqueFd file{};
};

// A request of one packet with one descriptor. What else comes is closed.
std::optional<Asked> read_request(int socket) {
  Asked asked;
  bool is_one = false;
  iovec part{.iov_base = &asked.request, .iov_len = sizeof asked.request};
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const head = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    // There is room for one, and the padding may hold another, which is closed.
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= head->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + at, sizeof fd);
      const base::UniqueFd other = std::exchange(asked.file, base::UniqueFd(fd));
      is_one = !other;
    }
  }
  if (!is_one || (message.msg_flags & MSG_CTRUNC) != 0) return std::nullopt;
  if (got != static_cast<ssize_t>(sizeof asked.request) || !asked.file) return std::nullopt;
  return asked;
}

bool is_regular(int file) {
  struct stat status = {};
  const int mode = ::fcntl(file, F_GETFL) & O_ACCMODE;
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && mode != O_RDONLY;
}

std::optional<CaptureVerdict> objection_to(const std::optional<Asked>& asked) {
  if (!asked || asked->request.magic != base::kCaptureControlMagic) return CaptureVerdict::kBadRequest;
  if (asked->request.version != base::kCaptureControlVersion) return CaptureVerdict::kOtherVersion;
  if (!is_regular(asked->file.get())) return CaptureVerdict::kBadRequest;
  // SOFTDAT_CAPTURE records everything already.
  if (Recorder::of_process() != nullptr) return CaptureVerdict::kAlwaysOn;
  return std::nullopt;
}

RecorderOptions options_of(const CaptureRequest& request) {
  const std::size_t kib = std::clamp(request.buffer_kib, kLeastBufferKib, kMostBufferKib);
  return {.directory = {}, .snap_length = request.snap_length, .ring_size = kib << 10};
}

base::Time end_of(const CaptureRequest& request) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (request.milliseconds == 0) return base::kNever;
  const std::chrono::milliseconds time(std::min(request.milliseconds, kMost));
  return base::deadline_after(base::Clock::now(), std::chrono::duration_cast<base::Duration>(time));
}

void capture_until_told(int socket, Asked asked, std::uint32_t tool) {
  const base::Time end = end_of(asked.request);
  auto capture = std::make_shared<LiveCapture>(std::move(asked.file), options_of(asked.request));
  CaptureAnswer words;
  words.owner = LiveProcess::instance().begin(capture, tool, words.connections);
  if (words.owner != 0) {
    words.verdict = CaptureVerdict::kBusy;
    return answer(socket, words);
  }
  answer(socket, words);
  // The tool closes its end, or dies, to end the capture; its socket becomes readable then.
  static_cast<void>(await(socket, end));
  LiveProcess::instance().end();
  words.connections = capture->connections.load(std::memory_order_relaxed);
  capture.reset();  // the last owner, but while the process ends: writes what is left
  words.verdict = CaptureVerdict::kFinished;
  answer(socket, words);
}

void talk(int socket, std::uint32_t tool) try {
  if (!await(socket, base::deadline_after(base::Clock::now(), kPatience))) return;
  std::optional<Asked> asked = read_request(socket);
  if (const auto objection = objection_to(asked)) return answer(socket, {.verdict = *objection});
  // A tool gives up where this process is stopped. A capture for it would refuse the next tool.
  if (base::has_hung_up(socket)) return;
  capture_until_told(socket, std::move(*asked), tool);
} catch (const std::exception&) {  // no memory, no thread, no room on the disk
  answer(socket, {.verdict = CaptureVerdict::kNoMemory});
}

}  // namespace

void serve_capture(base::UniqueFd connection) {
  const auto peer = peer_of(connection.get());
  if (!peer) return;
  // Bounds the threads that a tool which connects in a loop can make.
  if (g_sessions.fetch_add(1, std::memory_order_relaxed) >= kMostSessions) {
    g_sessions.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  try {
    // A process number that this namespace does not know is 0.
    const auto tool = std::max(static_cast<std::uint32_t>(peer->pid), 1u);
    base::start_own_thread([fd = std::move(connection), tool]() mutable {
      ::pthread_setname_np(::pthread_self(), "softdat-live");
      talk(fd.get(), tool);
      fd.reset();
      g_sessions.fetch_sub(1, std::memory_order_relaxed);
    }).detach();
  } catch (const std::exception&) {
    g_sessions.fetch_sub(1, std::memory_order_relaxed);
  }
}

void forget_live_sessions_in_child() {
  g_sessions.store(0, std::memory_order_relaxed);
}

}  // namespace softdat::simnic::capture
