// SPDX-License-Identifier: BSD-2-Clause
#include "tests/chaos/cable.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace softdat::chaos {
namespace {

base::UniqueFd open_own_network() {
  return base::UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
}

bool run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

pid_t start_holder() {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) ::pause();
}

}  // namespace

Cable::Cable() : own_(open_own_network()) {
  is_there_ = make();
}

Cable::~Cable() {
  if (holder_ > 0) {
    ::kill(holder_, SIGKILL);
    ::waitpid(holder_, nullptr, 0);
  }
  static_cast<void>(::setns(own_.get(), CLONE_NEWNET));
}

bool Cable::make() {
  if (::unshare(CLONE_NEWNET) != 0) return false;
  far_ = open_own_network();
  holder_ = start_holder();
  if (::unshare(CLONE_NEWNET) != 0) return false;
  near_ = open_own_network();
  const std::string near_side = std::string("ip addr add ") + kNearAddress + "/24 dev near && ip link set near up";
  const std::string far_side = std::string("ip addr add ") + kFarAddress + "/24 dev far && ip link set far up";
  return run("ip link set lo up && ip link add near type veth peer name far netns " + std::to_string(holder_)) &&
         run(near_side) && run_far(("ip link set lo up && " + far_side).c_str());
}

bool Cable::run_far(const char* command) const {
  go_far();
  const bool is_done = run(command);
  go_near();
  return is_done;
}

void Cable::go_near() const {
  static_cast<void>(::setns(near_.get(), CLONE_NEWNET));
}

void Cable::go_far() const {
  static_cast<void>(::setns(far_.get(), CLONE_NEWNET));
}

void Cable::pull() const {
  static_cast<void>(run_far("ip link set far down"));
}

void Cable::plug() const {
  static_cast<void>(run_far("ip link set far up"));
}

}  // namespace softdat::chaos
