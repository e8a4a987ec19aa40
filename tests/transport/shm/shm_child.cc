// SPDX-License-Identifier: BSD-2-Clause
// The other process of the tests between processes.
//   shm_child serve SERVICE          accepts everybody and sends back each message, until the end of
//                                    its standard input
//   shm_child flood SERVICE COUNT    connects COUNT channels and sends without end, sleeping now and
//                                    then
//   shm_child churn SERVICE COUNT    connects and closes channels without end
//   shm_child fork SERVICE           connects, and leaves a child of its own that holds copies of
//                                    all its descriptors until the end of the standard input
//   shm_child sleep SERVICE COUNT    serves, sleeping in wait() whenever there is nothing to do;
//                                    polls after COUNT messages, until the end of its standard input
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/transport/conformance/peer.h"
#include "tests/transport/shm/test_addresses.h"
#include "transport/reactor.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::transport::shm {
namespace {

using conformance::make_pattern;
using conformance::Peer;
using conformance::PeerPort;

bool is_input_over(int timeout_ms = 0) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, timeout_ms) > 0;
}

class Child {
 public:
  explicit Child(std::uint64_t service) : service_(service) {}

  int serve(std::size_t most_messages, bool sleeps) {
    PeerPort port(carrier_, service_, 1024);
    if (!port.port) return 2;
    port.handler = [this](std::unique_ptr<InboundRequest> request) { answer(*request); };
    std::puts("ready");
    std::fflush(stdout);
    while (echoed_ < most_messages && (sleeps || !is_input_over())) {
      const bool was_busy = turn();
      if (!was_busy && sleeps) carrier_.wait(base::kNever);
    }
    // The last answers go out before the process does.
    while (turn() || !is_input_over()) continue;
    return 0;
  }

  int flood(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) connect();
    std::puts("ready");
    std::fflush(stdout);
    while (!is_input_over()) {
      for (const auto& peer : peers_) refill(*peer);
      turn();
      if (random_() % 64 == 0) {
        carrier_.wait(base::Clock::now() + std::chrono::microseconds(random_() % 100));
      }
    }
    return 0;
  }

  int fork_and_stay() {
    connect();
    while (!peers_[0]->is_established) turn();
    if (::fork() == 0) {
      is_input_over(-1);
      ::_exit(0);
    }
    std::puts("ready");
    std::fflush(stdout);
    while (!is_input_over()) turn();
    return 0;
  }

  int churn(std::size_t count) {
    std::puts("ready");
    std::fflush(stdout);
    while (!is_input_over()) {
      if (peers_.size() < count) connect();
      turn();
      if (random_() % 4 == 0 && !peers_.empty()) peers_.erase(peers_.begin());
    }
    return 0;
  }

 private:
  bool turn() { return carrier_.turn(base::Clock::now()) > 0; }

  void answer(InboundRequest& request) {
    peers_.push_back(std::make_unique<Peer>());
    Peer* peer = peers_.back().get();
    peer->after_message = [this, peer] {
      const Message message = peer->messages.back().message;
      peer->queue(message, std::move(peer->messages.back().bytes));
      peer->messages.clear();
      ++echoed_;
    };
    peer->accept(request);
  }

  void connect() {
    peers_.push_back(std::make_unique<Peer>());
    Peer* peer = peers_.back().get();
    peer->after_message = [peer] { peer->messages.clear(); };
    peer->connect(carrier_, {.ipv4 = kParentAddress}, service_);
  }

  void refill(Peer& peer) {
    if (!peer.is_established || !peer.is_drained()) return;
    const std::size_t length = random_() % 8 == 0 ? random_() % 200000 : random_() % 300;
    peer.queue({.opcode = Opcode::kSend, .length = static_cast<std::uint32_t>(length)}, make_pattern(length, length));
  }

  const std::uint64_t service_;
  std::unique_ptr<Reactor> reactor_ = Reactor::create();
  ShmCarrier carrier_{*reactor_, {.address = {.ipv4 = kChildAddress}}};
  std::vector<std::unique_ptr<Peer>> peers_;
  std::size_t echoed_ = 0;
  std::mt19937 random_{static_cast<std::uint32_t>(::getpid())};
};

int run(const std::vector<std::string>& words) {
  if (words.size() < 3) return 64;
  Child child(std::strtoull(words[2].c_str(), nullptr, 0));
  const std::size_t count = words.size() > 3 ? std::strtoul(words[3].c_str(), nullptr, 0) : 0;
  if (words[1] == "serve") return child.serve(SIZE_MAX, false);
  if (words[1] == "sleep") return child.serve(count, true);
  if (words[1] == "flood") return child.flood(count);
  if (words[1] == "fork") return child.fork_and_stay();
  if (words[1] == "churn") return child.churn(count);
  return 64;
}

}  // namespace
}  // namespace softdat::transport::shm

int main(int argc, char** argv) {
  return softdat::transport::shm::run(std::vector<std::string>(argv, argv + argc));
}
