// SPDX-License-Identifier: BSD-2-Clause
// Processes that are connected and have nothing to do, do nothing. What their engine threads did is counted (how often
// the kernel put them on a processor or took them off) while somebody else is busy; how long that takes does not
// matter.
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/remote_peer.h"

namespace softdat::conformance {
namespace {

constexpr int kPairs = 16;
constexpr int kRounds = 20'000;
// Of all engine threads together, of which each looks after its descriptors every two seconds. One that was awake for
// every hundredth of the rounds would be far beyond it, and so would one that is never asleep.
constexpr std::uint64_t kMostSwitches = 10;
constexpr double kLargestShare = 0.05;

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// What the threads that drive a process's adapters have done so far.
struct Activity {
  std::uint64_t switches = 0;
  double seconds = 0;
};

std::uint64_t switches_of(const std::filesystem::path& thread) {
  std::ifstream in(thread / "status");
  std::uint64_t sum = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find("ctxt_switches:") != std::string::npos) sum += std::stoull(line.substr(line.find(':') + 1));
  }
  return sum;
}

void add_engines_of(pid_t process, Activity& activity) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    if (first_line(thread.path() / "comm") != "softdat-engine") continue;
    activity.switches += switches_of(thread.path());
    const std::string seconds = first_line(thread.path() / "schedstat");  // empty where the kernel does not count
    if (!seconds.empty()) activity.seconds += std::stod(seconds) * 1e-9;
  }
}

// A byte goes to and fro between two threads that know nothing of DAT.
class Rally {
 public:
  Rally() {
    if (::pipe(there_.data()) != 0 || ::pipe(back_.data()) != 0) throw SetupFailure("no pipe");
  }
  ~Rally() {
    for (const int fd : {there_[0], there_[1], back_[0], back_[1]}) ::close(fd);
  }
  Rally(const Rally&) = delete;
  Rally& operator=(const Rally&) = delete;

  // Returns the processor time that it took this process, engine threads included.
  double play(int rounds) {
    const double before = processor_seconds();
    std::thread other([&] { pass(rounds, there_[0], back_[1]); });
    for (int i = 0; i < rounds; ++i) {
      put(there_[1]);
      get(back_[0]);
    }
    other.join();
    return processor_seconds() - before;
  }

 private:
  static double processor_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
  static void put(int fd) {
    const char byte = 0;
    if (::write(fd, &byte, 1) != 1) throw SetupFailure("a pipe is gone");
  }
  static void get(int fd) {
    char byte = 0;
    if (::read(fd, &byte, 1) != 1) throw SetupFailure("a pipe is gone");
  }
  static void pass(int rounds, int from, int to) {
    for (int i = 0; i < rounds; ++i) {
      get(from);
      put(to);
    }
  }

  std::array<int, 2> there_{};
  std::array<int, 2> back_{};
};

TEST(Idle, ConnectedProcessesWithoutWorkDoNothing) {
  RemotePeer remote;
  Peer client("sim0");
  remote.connect(client);
  std::vector<std::unique_ptr<ConnectedPair>> pairs;
  for (int i = 0; i < kPairs; ++i) {
    pairs.push_back(std::make_unique<ConnectedPair>());
    expect_conversation(pairs.back()->server, pairs.back()->client);
  }
  const auto look = [&] {
    Activity activity;
    add_engines_of(::getpid(), activity);
    add_engines_of(remote.process().id(), activity);
    return activity;
  };
  ASSERT_GT(look().switches, 0u) << "there is an engine thread";
  Rally rally;
  Activity done;
  double all = 0;
  // What came last, acks for instance, may still be under way.
  EXPECT_TRUE(eventually([&] {
    const Activity before = look();
    all = rally.play(kRounds);
    const Activity after = look();
    done = {after.switches - before.switches, after.seconds - before.seconds};
    return done.switches <= kMostSwitches && done.seconds <= kLargestShare * all;
  })) << done.switches
      << " switches and " << done.seconds << " s of processor time, while others took " << all;
}

}  // namespace
}  // namespace softdat::conformance
