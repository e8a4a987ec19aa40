// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/live_door.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/capture_control.h"
#include "base/process_start.h"
#include "base/uncancelled.h"
#include "simnic/capture/live_session.h"

namespace softdat::simnic::capture {
namespace {

constexpr int kBacklog = 8;

// The first name that is free.
base::Listening listen_at_free_name() {
  struct stat space = {};
  if (::stat("/proc/self/ns/pid", &space) != 0) return {};
  const auto start = base::read_process_start("/proc/self/stat");
  if (!start) return {};
  // PID, its namespace and the start time together name one process on this host for good.
  const base::CaptureTarget self{
      .pid_namespace = space.st_ino, .pid = static_cast<std::uint32_t>(::getpid()), .start = *start};
  for (unsigned number = 0; number < base::kCaptureSockets; ++number) {
    auto listening = base::socket_directory::listen(base::capture_socket_name(self, number));
    if (listening.socket || listening.error != EADDRINUSE) return listening;
  }
  return {};
}

}  // namespace

// With the baton. Null: no descriptor or no directory; the process then cannot be captured while it runs.
std::unique_ptr<LiveDoor> LiveDoor::open(transport::Carrier& carrier) {
  const base::Uncancelled guard;
  base::Listening listening = listen_at_free_name();
  if (!listening.socket) return nullptr;
  std::unique_ptr<LiveDoor> door(new LiveDoor(std::move(listening)));
  door->watch_ = carrier.watch(door->listening_.socket.get(), *door);
  if (!door->watch_) return nullptr;
  door->watch_->want(transport::kReadable);
  return door;
}

// A program may have closed all descriptors, and its own socket may have the number by now.
void LiveDoor::on_ready(std::uint32_t) {
  const base::Uncancelled guard;
  if (!listening_.socket.is_intact()) return;
  for (int i = 0; i < kBacklog; ++i) {
    base::UniqueFd connection(::accept4(listening_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) break;
    // A thread of its own, because the tool may be slow and this one holds the baton.
    serve_capture(std::move(connection));
  }
  watch_->want(transport::kReadable);
}

}  // namespace softdat::simnic::capture
