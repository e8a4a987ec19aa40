// SPDX-License-Identifier: BSD-2-Clause
// A peer is stopped in the middle of writing into our memory. What we take away from it is ours at once, and stays what
// it is when the peer goes on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "simnic/direct/layout.h"
#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/remote_peer.h"
#include "tests/expect_soon.h"
#include "tests/moved_memory.h"

namespace softdat::conformance {
namespace {

using simnic::direct::is_claimed;
using simnic::direct::KeyDirectoryLayout;
using simnic::direct::kPinSlots;

constexpr std::size_t kLength = 256 * 1024;

// A view of our own of the pins of the one peer that this process has.
class PeersPins {
 public:
  PeersPins() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      // The beginning of a peer's key directory. Of what lies behind it only parts may be touched.
      if (line.find(" r--s 00000000 ") == std::string::npos || line.find("softdat-key-directory") == std::string::npos)
        continue;
      const std::uint64_t begin = std::stoull(line, nullptr, 16);
      const std::uint64_t end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
      if (end - begin < kBytes) continue;
      // A second mapping of the same pages, which stays when the first one goes.
      view_ = ::mremap(reinterpret_cast<void*>(begin), 0, kBytes, MREMAP_MAYMOVE);
      return;
    }
  }
  ~PeersPins() {
    if (is_there()) ::munmap(view_, kBytes);
  }
  PeersPins(const PeersPins&) = delete;
  PeersPins& operator=(const PeersPins&) = delete;

  bool is_there() const { return view_ != MAP_FAILED; }
  std::uint64_t standing() const {
    for (const auto& pin : static_cast<const KeyDirectoryLayout*>(view_)->pins) {
      const std::uint64_t word = pin.word.load(std::memory_order_seq_cst);
      if (is_claimed(word)) return word;
    }
    return 0;
  }

 private:
  static constexpr std::size_t kBytes = sizeof(KeyDirectoryLayout::pins) + 4096;
  void* view_ = MAP_FAILED;
};

// What direct access needs of the system.
bool can_move_memory() {
  const auto fd = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{}));
}

// Hangs up all sockets of another process, as the process would that closes them. False, with errno: the system does
// not let us.
bool hang_up_sockets_of(pid_t process) {
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (pidfd < 0) return false;
  bool is_done = true;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
    if (!std::filesystem::read_symlink(entry).string().starts_with("socket:")) continue;
    const auto copy = static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd, std::stoi(entry.path().filename()), 0));
    is_done = is_done && copy >= 0;
    if (copy < 0) continue;
    ::shutdown(copy, SHUT_RDWR);
    ::close(copy);
  }
  ::close(pidfd);
  return is_done;
}

class StoppedPeer : public testing::Test {
 protected:
  void SetUp() override {
    descriptors_ = open_descriptors();
    remote_ = std::make_unique<RemotePeer>();
    remote_->connect(*survivor_);
    pins_ = std::make_unique<PeersPins>();
    if (!pins_->is_there() && !can_move_memory()) GTEST_SKIP() << "no direct access here";
    ASSERT_TRUE(pins_->is_there()) << "the peer's key directory is not found";
    // A thread that begins may keep memory from being moved; peers do not reach it directly then.
    ASSERT_TRUE(eventually([&] {
      target_ = std::make_unique<Memory>(survivor_->adapter.handle(), survivor_->pz, kLength);
      return is_moved(reinterpret_cast<std::uintptr_t>(target_->data()));
    }));
    unsigned char* const last = target_->data() + kLength - sizeof(std::uint64_t);
    set_foreign_word(last, 0);
    remote_->tell("bombard " + std::to_string(reinterpret_cast<std::uintptr_t>(target_->data())) + ' ' +
                  std::to_string(kLength) + ' ' + std::to_string(target_->rmr_context()));
    ASSERT_TRUE(eventually([&] { return foreign_word(last) != 0; }));
  }
  // Until it is caught in the middle of a copy.
  void stop() {
    for (;;) {
      remote_->process().stop();
      word_ = pins_->standing();
      if (word_ != 0) return;
      remote_->process().resume();
    }
  }
  // The same by another way of stopping, which is also how a process stands that writes its core.
  void stop_by_debugger() {
    const pid_t id = remote_->process().id();
    for (;;) {
      ASSERT_EQ(::ptrace(PTRACE_ATTACH, id, nullptr, nullptr), 0);
      int status = 0;
      ASSERT_EQ(::waitpid(id, &status, __WALL), id);
      word_ = pins_->standing();
      if (word_ != 0) return;
      ASSERT_EQ(::ptrace(PTRACE_DETACH, id, nullptr, nullptr), 0);
    }
  }
  // It goes on, and has ended what it was in the middle of.
  void expect_nothing_comes() {
    target_->fill(0, kLength, 2);
    remote_->process().resume();
    EXPECT_TRUE(eventually([&] { return pins_->standing() != word_; }));
    EXPECT_TRUE(target_->holds(0, kLength, 2));
  }
  void expect_one_end() {
    const DAT_EVENT event = next_event(survivor_->connect_evd);
    EXPECT_TRUE(event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED)
        << event.event_number;
  }

  std::unique_ptr<Peer> survivor_ = std::make_unique<Peer>(kClientName);
  std::size_t descriptors_ = 0;
  std::unique_ptr<RemotePeer> remote_;
  std::unique_ptr<PeersPins> pins_;
  std::unique_ptr<Memory> target_;
  std::uint64_t word_ = 0;
};

TEST_F(StoppedPeer, DoesNotHoldARegion) {
  stop();
  expect_soon("dat_lmr_free", [&] { target_->deregister(); });
  expect_nothing_comes();
  expect_one_end();
}

TEST_F(StoppedPeer, DoesNotHoldARegionWhenADebuggerHasStoppedIt) {
  stop_by_debugger();
  expect_soon("dat_lmr_free", [&] { target_->deregister(); });
  target_->fill(0, kLength, 2);
  ASSERT_EQ(::ptrace(PTRACE_DETACH, remote_->process().id(), nullptr, nullptr), 0);
  EXPECT_TRUE(eventually([&] { return pins_->standing() != word_; }));
  EXPECT_TRUE(target_->holds(0, kLength, 2));
  expect_one_end();
}

TEST_F(StoppedPeer, DoesNotHoldADisconnect) {
  stop();
  expect_soon("dat_ep_disconnect", [&] { require(dat_ep_disconnect(survivor_->ep, DAT_CLOSE_ABRUPT_FLAG), "abrupt"); });
  expect_soon("DISCONNECTED", [&] { expect_one_end(); });
  expect_nothing_comes();
}

TEST_F(StoppedPeer, DoesNotHoldAnEndpoint) {
  stop();
  expect_soon("dat_ep_free", [&] { require(dat_ep_free(survivor_->ep), "dat_ep_free"); });
  expect_nothing_comes();
}

TEST_F(StoppedPeer, DoesNotHoldAnAdapter) {
  stop();
  expect_soon("dat_ia_close",
              [&] { require(dat_ia_close(survivor_->adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close"); });
  survivor_->adapter.release();
  expect_nothing_comes();
}

// The peer of somebody else: it writes into another process's memory, where it has been stopped.
TEST_F(StoppedPeer, OfAnotherDoesNotHoldUs) {
  Peer other(kServerName);
  Memory memory(other.adapter.handle(), other.pz, kLength);
  stop();
  expect_soon("dat_lmr_free", [&] { memory.deregister(); });
  expect_soon("the other's dat_lmr_free", [&] { target_->deregister(); });
}

// Its files go with it, though our endpoint stays.
TEST_F(StoppedPeer, LeavesNothingWhenItDies) {
  stop();
  target_->deregister();
  remote_->process().kill();
  remote_.reset();
  expect_one_end();
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= descriptors_; }))
      << open_descriptors() << " descriptors, once " << descriptors_;
  pins_.reset();
  EXPECT_TRUE(eventually([] { return !PeersPins().is_there(); }));
}

// Between the end of its sockets and that of its process, its threads may still be at our memory. A process that dies
// on a busy machine stays there for milliseconds; this one until it is killed.
TEST_F(StoppedPeer, LeavesNothingWhenItDiesLongAfterItsSockets) {
  stop();
  target_->deregister();
  if (!hang_up_sockets_of(remote_->process().id()))
    GTEST_SKIP() << "its sockets cannot be had: " << std::strerror(errno);
  expect_one_end();
  pins_.reset();
  EXPECT_TRUE(PeersPins().is_there());
  remote_->process().kill();
  remote_.reset();
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= descriptors_; }))
      << open_descriptors() << " descriptors, once " << descriptors_;
  EXPECT_TRUE(eventually([] { return !PeersPins().is_there(); }));
}

}  // namespace
}  // namespace softdat::conformance
